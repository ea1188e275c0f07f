"""A pipeline of global tensors, each stage in a process of its own, beside one process."""

from __future__ import annotations

import json

import numpy as np
import pytest

import proa.distributed as dist
from tests.distributed.support.processes import run_processes
from tests.distributed.workers.pipeline_worker import STEPS, alone, data, model_and_optimizer


@pytest.mark.timeout(300)
def test_stages_in_two_processes_train_as_one_process_does(tmp_path) -> None:
    arguments = ["-m", "tests.distributed.workers.pipeline_worker", str(tmp_path)]
    reports = [json.loads(output.strip().splitlines()[-1]) for output in run_processes(2, arguments)]
    single = alone()
    for report in reports:
        assert report["alone"] == pytest.approx(single, rel=1e-6)
        assert report["losses"] == pytest.approx(single, rel=1e-5)
        assert report["micro"] == pytest.approx(single, rel=1e-5)
    assert reports[0]["evaluated"] == reports[1]["evaluated"]
    assert reports[0]["predicted"] == reports[1]["predicted"]
    assert (
        "lies on devices of other processes alone; received one on the devices of process(es) [1]"
        in (reports[0]["refusal"])
    )
    assert not reports[1]["refusal"], "the process that has the loss reads it"
    # The checkpoint holds the parameters of both stages, as trained.
    model, _ = model_and_optimizer()
    dist.load_state_dict(model.state_dict(), str(tmp_path))
    trained = np.abs(model(data(STEPS - 1)[0]).numpy()).sum()
    assert not np.isclose(trained, np.abs(model_and_optimizer()[0](data(STEPS - 1)[0]).numpy()).sum(), rtol=1e-4)
