"""The profiler: schedules, events, files for Perfetto, tables; nothing left behind, nothing paid for when off."""

from __future__ import annotations

import json
import threading
import time

import pytest

import proa as paddle
from proa.ir.observing import RUNTIME
from proa.profiler import (
    Profiler,
    ProfilerState,
    ProfilerTarget,
    RecordEvent,
    SortedKeys,
    SummaryView,
    export_chrome_tracing,
    export_protobuf,
    load_profiler_result,
    make_scheduler,
)
from proa.profiler.export import chrome_events, merge_device_events
from proa.profiler.utils import in_profiler_mode

nn = paddle.nn
ON_CPU = [ProfilerTarget.CPU]


def nothing(profiler):
    """For on_trace_ready."""


def names(schedule, steps):
    return [schedule(step).name for step in range(steps)]


# ---- schedules: what Paddle 3.3.1 was seen to give -----------------------------------------------


def test_schedules_are_paddles():
    c, r, n, e = "CLOSED", "READY", "RECORD", "RECORD_AND_RETURN"
    assert names(make_scheduler(closed=1, ready=1, record=2, repeat=2, skip_first=1), 12) == [
        c, c, r, n, e, c, r, n, e, c, c, c,
    ]  # fmt: skip
    assert names(make_scheduler(closed=0, ready=0, record=1, repeat=1), 4) == [e, c, c, c]
    assert names(make_scheduler(closed=1, ready=0, record=1), 5) == [c, e, c, e, c]
    assert names(Profiler(scheduler=(2, 4)).scheduler, 6) == [c, r, n, e, c, c]
    assert names(Profiler(scheduler=(0, 1)).scheduler, 3) == [e, c, c]
    assert names(Profiler().scheduler, 3) == [n, n, n]


@pytest.mark.parametrize(("scheduler", "error"), [((3, 1), ValueError), ((-1, 2), ValueError), (5, TypeError)])
def test_bad_schedules(scheduler, error):
    with pytest.raises(error, match="scheduler"):
        Profiler(scheduler=scheduler)
    with pytest.raises(ValueError, match="record"):
        make_scheduler(closed=0, ready=0, record=0)


# ---- recordings ----------------------------------------------------------------------------------


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x)) * 2


@pytest.fixture(scope="module")
def recorded():
    """Six steps, of which those from the second to the last are recorded: cold ones and compiled ones."""
    net = Net()
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    ready = []
    profiler = Profiler(
        targets=ON_CPU, scheduler=(1, 6), on_trace_ready=ready.append, record_shapes=True, profile_memory=True,
        with_flops=True,
    )  # fmt: skip
    with profiler:
        for _ in range(7):
            with RecordEvent("step of mine"):
                net(paddle.ones([3, 4])).sum().backward()
                optimizer.step()
                optimizer.clear_grad()
            profiler.step(num_samples=3)
    assert ready == [profiler]
    return profiler


def test_all_kinds_of_events_are_there(recorded):
    counts: dict[str, int] = {}
    for event in recorded.recording.events:
        counts[event.kind.name] = counts.get(event.kind.name, 0) + 1
    assert counts["ProfileStep"] == 5
    assert counts["PythonUserDefined"] == 5
    assert counts["Backward"] == counts["Optimization"] == 5
    assert counts["Forward"] == 5 * 5
    assert counts["Compilation"] == 1
    assert counts["CompiledProgram"] >= 2
    assert counts["Operator"] > 5
    paths = {e.name for e in recorded.recording.events if e.kind.name == "Forward"}
    assert paths == {"Net", "Net.body", "Net.body.0", "Net.body.1", "Net.head"}
    steps = [e.name for e in recorded.recording.events if e.kind.name == "ProfileStep"]
    assert steps == [f"ProfileStep#{i}" for i in range(1, 6)]
    shapes = [e.args for e in recorded.recording.events if e.name == "relu"]
    assert shapes[0]["outputs"] == ["float32[3, 8]"]
    assert any(e.args.get("flops", 0) > 100 for e in recorded.recording.events if e.kind.name == "CompiledProgram")
    assert len(recorded.recording.memory) >= 6
    assert all(sample.resident > 1e6 for sample in recorded.recording.memory)


def test_the_trace_is_one_that_perfetto_opens(recorded, tmp_path):
    path = tmp_path / "trace.json"
    recorded.export(str(path), "json")
    events = json.loads(path.read_text())["traceEvents"]
    assert {e["ph"] for e in events} == {"M", "X", "C"}
    timed = [e for e in events if e["ph"] == "X"]
    for event in timed:
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert event["dur"] >= 0
    now = time.time() * 1e6
    assert all(now - 600e6 < e["ts"] <= now for e in timed)
    # Events of a thread lie within each other or apart: anything else Perfetto drops.
    open_until: list[float] = []
    for event in sorted(timed, key=lambda e: (e["ts"], -e["dur"])):
        begin, end = event["ts"], event["ts"] + event["dur"]
        while open_until and open_until[-1] <= begin + 0.5:
            open_until.pop()
        assert not open_until or end <= open_until[-1] + 0.5
        open_until.append(end)
    (memory, *_) = [e for e in events if e["ph"] == "C"]
    assert set(memory["args"]) == {"resident bytes", "device bytes"}


def test_tables(recorded, capsys):
    recorded.summary()
    text = capsys.readouterr().out
    for words in (
        "Overview Summary",
        "Layer Summary",
        "Operator Summary",
        "Memory Summary",
        "step of mine",
        "Net.body.0",
    ):
        assert words in text
    row = next(line for line in text.splitlines() if line.startswith("Net.head"))
    assert row.split()[1:3] == ["Linear", "5"]
    recorded.summary(views=SummaryView.UDFView, time_unit="us", sorted_by=SortedKeys.CPUMax, thread_sep=True)
    text = capsys.readouterr().out
    assert "UserDefined Summary (us)" in text
    assert "Operator" not in text
    with pytest.raises(ValueError, match="time_unit"):
        recorded.summary(time_unit="h")


def test_times_of_layers_where_operations_run_one_by_one():
    with paddle.jit.eager_mode("immediate"):
        net, profiler = Net(), Profiler(targets=ON_CPU, on_trace_ready=nothing)
        with profiler:
            net(paddle.ones([3, 4]))
    recording = profiler.recording
    assert recording.layer_operations["Net.body.0"] >= 1
    assert recording.layer_nanoseconds["Net.body.0"] > 0


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("export", "suffix"), [(export_chrome_tracing, ".json"), (export_protobuf, ".pb")])
def test_exporters(tmp_path, export, suffix):
    profiler = Profiler(targets=ON_CPU, on_trace_ready=export(str(tmp_path / "log"), "worker"))
    with paddle.jit.eager_mode("immediate"), profiler, RecordEvent("here"):
        paddle.ones([2]).numpy()
    (file,) = (tmp_path / "log").iterdir()
    assert file.name.startswith("worker_time_")
    assert file.name.endswith(f".paddle_trace{suffix}")
    result = load_profiler_result(str(file))
    found = [event["name"] for events in result.get_data().values() for event in events]
    assert "here" in found
    assert "ones" in found
    assert "process" in result.get_extra_info()


def test_files_that_are_no_recordings(tmp_path):
    for content in (b"", b"nonsense", b"[1]", b'{"a": 1}', b"\x1f\x8b broken"):
        (tmp_path / "f").write_bytes(content)
        with pytest.raises(ValueError, match="not a recording"):
            load_profiler_result(str(tmp_path / "f"))


def test_events_of_a_device_are_merged():
    profiler = Profiler(targets=ON_CPU, on_trace_ready=nothing)
    with profiler:
        paddle.ones([1]).numpy()
    trace = [
        {"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/device:GPU:0"}},
        {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "/host:CPU"}},
        {"ph": "X", "pid": 3, "tid": 1, "name": "gemm", "ts": 10.0, "dur": 5.0},
        {"ph": "X", "pid": 7, "tid": 1, "name": "python", "ts": 0.0, "dur": 50.0},
        {},
    ]
    merge_device_events(profiler.recording, trace)
    kernels = [e for e in chrome_events(profiler.recording) if e.get("cat") == "Kernel"]
    assert [e["name"] for e in kernels] == ["gemm"]
    begin = (profiler.recording.begin + profiler.recording.epoch) / 1000
    assert kernels[0]["ts"] == pytest.approx(begin + 10, abs=1)


# ---- the rest ------------------------------------------------------------------------------------


def test_step_info():
    profiler = Profiler(timer_only=True)
    assert profiler.step_info() == ""
    with profiler:
        for _ in range(3):
            time.sleep(0.002)
            profiler.step()
        text = profiler.step_info()
        assert text.startswith(" batch_cost: 0.0")
        assert text.endswith("steps/s")
        assert profiler.step_info() == ""
        profiler.step(num_samples=4)
        assert profiler.step_info("imgs").endswith("imgs/s")
        assert profiler.current_state is ProfilerState.CLOSED
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        profiler.summary()


def test_record_event_in_all_its_forms():
    @RecordEvent("decorated")
    def work():
        return 5

    outside = RecordEvent("outside")
    with outside:
        pass
    profiler = Profiler(targets=ON_CPU, on_trace_ready=nothing)
    with profiler:
        assert in_profiler_mode()
        assert work() == 5
        event = RecordEvent("begun")
        event.begin()
        event.end()
        event.end()
        thread = threading.Thread(target=work, name="another")
        thread.start()
        thread.join()
    found = [(e.name, profiler.recording.threads[e.thread]) for e in profiler.recording.events]
    assert sorted(pair for pair in found if not pair[0].startswith("Profile")) == [
        ("begun", "MainThread"), ("decorated", "MainThread"), ("decorated", "another"),
    ]  # fmt: skip
    assert not in_profiler_mode()
    with pytest.raises(TypeError, match="name"):
        RecordEvent(5)


def test_the_runtime_is_observed_only_while_somebody_records():
    from proa.ir.recording import running
    from proa.ir.tiers import executables, lowering

    places = [(nn.Layer, "__call__"), (running, "run_on_numpy"), (executables, "compile_program")]
    places.append((lowering.CompiledProgram, "__call__"))
    before = [vars(place)[name] for place, name in places]
    assert RUNTIME.observed is None
    profiler = Profiler(targets=ON_CPU, scheduler=(1, 2), on_trace_ready=nothing)
    with profiler:
        assert [vars(place)[name] for place, name in places] == before
        profiler.step()
        assert RUNTIME.observed is not None
        assert [vars(place)[name] for place, name in places] == before  # watching exchanges no function
        profiler.step()
        assert [vars(place)[name] for place, name in places] == before
    assert RUNTIME.observed is None


def test_an_error_inside_ends_the_recording():
    with pytest.raises(ZeroDivisionError), Profiler(targets=ON_CPU, on_trace_ready=nothing):
        raise ZeroDivisionError
    assert RUNTIME.observed is None
    assert not in_profiler_mode()


def test_several_recordings():
    sizes = []
    schedule = make_scheduler(closed=1, ready=0, record=1, repeat=2)
    with Profiler(targets=ON_CPU, scheduler=schedule, on_trace_ready=lambda p: sizes.append(p.step_num)) as profiler:
        for _ in range(6):
            paddle.ones([1]).numpy()
            profiler.step()
    assert sizes == [2, 4]
    with pytest.raises(ValueError, match="format"):
        profiler.export("x", "xml")
