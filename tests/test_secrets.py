"""No password gets into a log, a report or onto the terminal: where one would, it is refused."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai import score as score_again
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from tests.engines.servers import Server, serving
from tests.scripted import OWL, saying, small_population

from genie_inspect.cli import main
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.scorers.creativity_index import creativity_index

LOGIN = "Basic " + b64encode(b"me:PaSsWoRd").decode()
SECRETS = ("PaSsWoRd", LOGIN.removeprefix("Basic "))


@pytest.fixture
def host() -> Iterator[str]:
    """An infini-gram service that asks for a password."""

    def answer(request: object) -> tuple[int, bytes]:
        allowed = server.logins[-1] == LOGIN
        return (200, b'{"count": 3, "approx": false}') if allowed else (401, b'{"error": "who are you?"}')

    server = Server(answer)
    with serving(server):
        yield server.host


def run(corpus: str, folder: Path) -> EvalLog:
    population = small_population(folder / "population").folder
    task = Task([Sample(input=OWL)], scorer=creativity_index(str(population), corpus=corpus))
    (log,) = evaluate(task, model=saying("An owl sat on a barn.").model(), log_dir=str(folder / "logs"), display="none")
    return log


def unpacked(folder: Path) -> str:
    """Everything in a folder's logs as one text, and the bytes of its files."""
    logs = [read_eval_log(str(path)).model_dump_json() for path in folder.rglob("*.eval")]
    raw = [path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file()]
    return "\n".join([*logs, *raw])


def test_with_a_password_from_netrc_a_run_is_scored_and_its_whole_log_holds_none(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "netrc").write_text("machine 127.0.0.1 login me password PaSsWoRd\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "home" / "netrc"))
    log = run(f"infini-gram:http://{host}/#v4", tmp_path)
    assert log.status == "success", log.error
    assert log.samples
    assert log.samples[0].scores
    found = unpacked(tmp_path / "logs")
    assert f"infini-gram:http://{host}/#v4" in found, "the options are in the log"
    assert not [secret for secret in SECRETS if secret in found]
    for command in (["summary"], ["show", log.location, "1"], ["report", "-o", str(tmp_path / "page.html")]):
        arguments = command if command[0] == "show" else [*command, str(tmp_path / "logs")]
        shown = CliRunner().invoke(main, arguments)
        assert shown.exit_code == 0, shown.output
        assert not [secret for secret in SECRETS if secret in shown.output]
    assert not [secret for secret in SECRETS if secret in (tmp_path / "page.html").read_text()]


def test_without_the_password_a_run_is_refused_before_anything_is_generated(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "nowhere"))
    with pytest.raises(PrerequisiteError, match=r"look-up failed: HTTP status 401: .*who are you"):
        run(f"infini-gram:http://{host}/#v4", tmp_path)
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    "url",
    ["http://me:PaSsWoRd@{0}/#v4", "http://{0}/?key=PaSsWoRd#v4", "//me:PaSsWoRd@{0}/#v4", "me:PaSsWoRd@{0}/#v4"],
)
def test_a_password_in_the_address_is_refused_and_nothing_of_it_is_written(
    url: str, host: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(PrerequisiteError) as caught:
        run("infini-gram:" + url.format(host), tmp_path)
    assert "PaSsWoRd" not in str(caught.value)
    assert not (tmp_path / "logs").exists()
    assert "PaSsWoRd" not in "".join(capfd.readouterr())


def test_an_old_log_is_not_scored_with_a_password_in_the_address(host: str, tmp_path: Path) -> None:
    log = run("population", tmp_path)
    with pytest.raises(PrerequisiteError, match=r"belong in ~/.netrc"):
        score_again(log, creativity_index(corpus=f"infini-gram:http://me:PaSsWoRd@{host}/#v4"))
    assert "PaSsWoRd" not in unpacked(tmp_path / "logs")
