"""Table servers as actors of Ray: a job of two servers and two workers, of which each is killed once."""

from __future__ import annotations

import importlib.util

import pytest

pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("ray", "lmdb")),
    reason="table servers need Ray and LMDB (pip install proa[ps])",
)


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_nothing_acknowledged_is_lost_when_every_process_is_killed_once() -> None:
    from tests.distributed.killed_servers import run

    output = run(features=20_000, batch=500, seconds=400)
    assert "20000 features: every acknowledged update is there" in output


def test_the_token_of_a_job_is_readable_by_its_user_alone(tmp_path, monkeypatch) -> None:
    from proa.distributed.ps import cluster

    monkeypatch.setattr(cluster.tempfile, "gettempdir", lambda: str(tmp_path))
    path = cluster._token_file()
    with open(path) as file:
        token = file.read()
    assert len(token) == 64
    assert cluster._token_file() == path
    with open(path) as file:
        assert file.read() == token, "processes of one user share it"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.rsplit("/", 1)[1]]
    (tmp_path / path.rsplit("/", 1)[1]).chmod(0o644)
    with pytest.raises(PermissionError, match="only this user can read"):
        cluster._token_file()
