"""A job on a real cluster of one machine: what the stand-in stands for."""

import os
import signal
from pathlib import Path

import pytest
from tests.batch.test_importing import judging
from tests.cli.called import as_json
from tests.served import BROKEN, BUSY, OK, Served, serving

from genie_inspect.batch.ray import ask
from genie_inspect.batch.ray_server import Server
from genie_inspect.batch.shards import ScaleError
from genie_inspect.building.interviewing import no_progress

pytest.importorskip("ray.data.llm", reason="needs the extra `ray`")
pytestmark = pytest.mark.filterwarnings("default")  # Ray has warnings of its own


def test_a_real_job_asks_each_request_once_tries_again_and_goes_on(tmp_path: Path) -> None:
    first = judging(tmp_path, tuple(f"rain {number}" for number in range(150)), shard=40)
    tried: set[str] = set()

    def fault(number: int, request: str) -> str:
        is_first = request not in tried
        tried.add(request)
        if '"rain 7"' in request:
            return BROKEN
        return BUSY if is_first and number % 20 == 0 else OK

    with serving(Served(lambda request: "1:1 2:2 3:3", fault)) as served:
        job = Server(served.url, connections=16, retries=2, pause=0.05)
        outcome = ask([str(tmp_path)], str(tmp_path / "out"), job, no_progress, "parquet")
        assert (outcome.requests, outcome.asked, outcome.answered) == (150, 150, 149)
        assert outcome.faults == {"error: 'server_error'": 1}
        before = len(served.bodies)
        served.fault = lambda number, request: OK
        again = ask([str(tmp_path)], str(tmp_path / "out"), job, no_progress)
        assert (again.on_path, again.asked, again.answered, len(served.bodies)) == (149, 1, 1, before + 1)
    result = as_json("cache", "import", tmp_path / "out", "--requests", first)
    assert (result["used"], result["missing"], result["kept"]) == (150, 0, {"ratings": 450})


@pytest.mark.parametrize(("process", "goes_on"), [("ray::MapWorker", True), ("raylet/raylet", False)])
def test_a_real_job_outlives_its_workers_and_says_in_one_line_that_its_node_died(
    tmp_path: Path, process: str, goes_on: bool
) -> None:
    first = judging(tmp_path, tuple(f"rain {number}" for number in range(150)), shard=40)
    killed: list[int] = []

    def fault(number: int, request: str) -> str:
        if number == 40 and not killed:
            killed.extend(_pids(process))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return OK

    with serving(Served(lambda request: "1:1 2:2 3:3", fault)) as served:
        job = Server(served.url, connections=8, retries=2, pause=0.05)
        if goes_on:
            assert ask([str(tmp_path)], str(tmp_path / "out"), job, no_progress).answered == 150
        else:
            with pytest.raises(ScaleError) as said:
                ask([str(tmp_path)], str(tmp_path / "out"), job, no_progress)
            assert str(said.value).startswith("the job on Ray has failed: ")
            assert "\n" not in str(said.value)
        assert killed
        again = ask([str(tmp_path)], str(tmp_path / "out"), job, no_progress)
        assert again.on_path + again.answered == again.requests == 150
    result = as_json("cache", "import", tmp_path / "out", "--requests", first)
    assert (result["used"], result["missing"], result["kept"]) == (150, 0, {"ratings": 450})


def _pids(name: str) -> list[int]:
    """Processes of this session's user whose command line names `name`."""
    lines = {path.parent.name: path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()}
    return [int(pid) for pid, line in lines.items() if name.encode() in line]
