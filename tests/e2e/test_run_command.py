"""`seatrial run` in a sample repository: exit codes, what is printed, what is left, and going on after a stop."""

import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests import bike_shop

from seatrial import store
from seatrial.documents import Arm, Case

AGENTS = Path(__file__).parents[1] / "agents"


def test_run_prints_a_line_per_case_and_the_folder_that_holds_it_all(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), bike_shop.case("b", trials=3), _rents(), _idle())

    done = _seatrial(tmp_path, "run", "--suite", "all", "--arm", "rents", "--arm", "idle")

    folder = next((tmp_path / ".seatrial" / "runs").iterdir())
    assert done.returncode == 0
    assert done.stdout == (
        "a  idle   0/2 passed\n"
        "a  rents  2/2 passed\n"
        "b  idle   0/3 passed\n"
        "b  rents  3/3 passed\n"
        f"Run: {folder}\n"
    )
    assert done.stderr.splitlines()[-2:] == [
        "  10/10 trials: 5 passed, 5 failed",
        f"  → what went wrong: seatrial gate {folder.name}, seatrial report {folder.name}",
    ]
    assert {p.name for p in folder.iterdir()} == {
        "run.json", "documents.json", "journal.jsonl", "traces.jsonl", "seal.json", "lock",
    }  # fmt: skip
    manifest = store.Run.open(folder).manifest
    assert manifest.run == folder.name
    assert manifest.arms == ("rents", "idle")
    assert [(c.case, c.trials, c.reasons) for c in manifest.plan] == [
        ("a", 2, ("no base given",)),
        ("b", 3, ("no base given",)),
    ]
    assert set(manifest.fingerprints) == {"a@rents", "a@idle", "b@rents", "b@idle"}
    assert "source:adapter" in manifest.fingerprints["a@rents"]


def test_agents_that_are_programs_reach_their_tools_and_nobody_obeys_what_they_print(
    tmp_path: Path,
):
    _repository(tmp_path, bike_shop.case("a"), _program())

    done = _seatrial(tmp_path, "run", "--suite", "all", "--arm", "program", "--out", "out/x")

    assert done.stdout == "a  program  2/2 passed\nRun: out/x\n"
    assert "obeyed" not in done.stdout + done.stderr
    run = store.Run.open(tmp_path / "out" / "x")
    notes = [e.text for r in run.records() for e in run.trace(r).events if e.event == "noted"]
    assert sum("I am not to be obeyed" in note for note in notes) == 4


def test_agent_that_cannot_be_started_is_undecided_and_says_what_to_do(tmp_path: Path):
    broken = bike_shop.arm("x", {"type": "command", "command": ["./agent"]})
    _repository(tmp_path, bike_shop.case("a"), broken)

    done = _seatrial(tmp_path, "run", "--suite", "all", "--arm", "x", "--at-once", "1")

    assert done.returncode == 3
    assert done.stdout.splitlines()[:2] == [
        "a  x  0/0 passed, 2 invalid (agent_unreachable)",
        "2 × agent_unreachable: the agent cannot be started: './agent': No such file or directory. The "
        "command is run from the repository's root; `{python}` stands for the running interpreter",
    ]
    assert done.stderr.count("invalid: trial ") == 1
    assert "invalid: trial 1 of a by x (agent_unreachable): the agent cannot be" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run", "Error: which suite?\n  → seatrial run --suite ID --arm ID\n"),
        ("run --suite al", "Error: there is no suite 'al'\n  → did you mean all?\n"),
        ("run --suite all --arm rent", "Error: there is no arm 'rent'\n  → did you mean rents?\n"),
        (
            "run --suite all --case aa",
            "Error: suite all has no case 'aa'\n  → did you mean a?\n",
        ),
        ("run --resume r1", "Error: no run 'r1': there are no runs in "),
        (
            "run --resume r1 --suite all --trials 2",
            "Error: a run goes on as it was planned: --suite, --trials cannot be given anew\n",
        ),
        ("run --suite all --base HEAD~1", "is not in a git repository"),
    ],
)
def test_wrong_usage_ends_with_2_and_the_next_thing_to_type(tmp_path: Path, words: str, says: str):
    _repository(tmp_path, bike_shop.case("a"), _rents())

    done = _seatrial(tmp_path, *words.split())

    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / ".seatrial").exists()


def test_what_nobody_can_answer_or_no_suite_lists_is_told(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), bike_shop.case("b", agent="clark"), _rents())
    case = (tmp_path / "cases" / "a.yaml").read_text(encoding="utf-8")
    (tmp_path / "cases" / "c.yaml").write_text(case.replace("id: a\n", "id: c\n"), encoding="utf-8")

    done = _seatrial(tmp_path, "run", "--suite", "all", "--trials", "1")
    unlisted = _seatrial(tmp_path, "run", "--suite", "all", "--case", "c")

    assert done.stdout.splitlines()[0] == "a  rents  1/1 passed"
    assert "Left out: b, because no arm is of its agent clark; did you mean clerk?" in done.stderr
    assert "the case is there; put it under `cases:` of suite all" in unlisted.stderr


def test_one_case_can_be_asked_for(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), bike_shop.case("b"), _rents())

    done = _seatrial(tmp_path, "run", "--suite", "all", "--case", "b", "--trials", "3")

    assert done.stdout.splitlines()[0] == "b  rents  3/3 passed"
    plan = store.Run.open(store.find(tmp_path, "latest")).manifest.plan
    assert [(c.case, c.selected, c.reasons[0]) for c in plan] == [
        ("a", False, "others were asked for by --case"),
        ("b", True, "asked for by --case"),
    ]


def test_nothing_selected_is_said_with_the_reason_for_each_case(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), bike_shop.case("b"), _rents())
    _commit(tmp_path)
    baseline = _released(tmp_path)

    done = _seatrial(tmp_path, "run", "--suite", "all", "--base", "HEAD", *baseline)

    assert done.returncode == 0
    assert done.stdout.startswith(
        "No case is selected, so nothing is run.\n  a  carried, not run: nothing it leans on"
    )
    assert list(store.Run.open(store.find(tmp_path, "latest")).records()) == []


def test_only_what_changed_since_the_base_is_run(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), bike_shop.case("b"), _rents())
    _commit(tmp_path)
    baseline = _released(tmp_path)
    bike_shop.write_tree(
        tmp_path, bike_shop.catalog(bike_shop.case("b", title="Another title"), _rents())
    )
    (tmp_path / "suites" / "all.yaml").write_text(
        "kind: suite\nid: all\ncases: [a, b]\ntrials: 2\n", encoding="utf-8"
    )

    done = _seatrial(tmp_path, "run", "--suite", "all", "--base", "HEAD", *baseline)

    assert done.stdout.splitlines()[0] == "b  rents  2/2 passed"
    manifest = store.Run.open(store.find(tmp_path, "latest")).manifest
    assert manifest.dirty
    assert manifest.base == manifest.revision
    assert manifest.revision


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_run_that_is_stopped_ends_its_agents_and_goes_on_where_it_was(
    tmp_path: Path, sign: signal.Signals
):
    _repository(tmp_path, bike_shop.case("a"), _program(seconds=0.3))
    run = _start(
        tmp_path, "run", "--suite", "all", "--trials", "12", "--at-once", "3", "--out", "r"
    )
    _wait_for_records(tmp_path / "r", 2)

    run.send_signal(sign)
    stdout, stderr = run.communicate(timeout=60)

    assert run.returncode == 130
    stored = _keys(tmp_path / "r")
    assert re.search(
        r"Stopped: \d+ of 12 trials are stored\.\n  → seatrial run --resume r\n", stderr
    )
    assert stdout == "Run: r\n"
    assert 2 <= len(stored) < 12
    assert _agents_of(tmp_path / "r") == []

    done = _seatrial(tmp_path, "run", "--resume", "r")

    assert done.returncode == 0
    assert done.stdout == "a  program  12/12 passed\nRun: r\n"
    assert done.stderr.splitlines()[-1] == "  12/12 trials: 12 passed"
    assert _keys(tmp_path / "r")[: len(stored)] == stored


def test_run_that_is_killed_at_any_instant_loses_nothing_and_runs_nothing_twice(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), bike_shop.case("b"), _program(), _rents())
    words = ["run", "--suite", "all", "--trials", "40", "--at-once", "4", "--out", "r"]
    chance = random.Random(20260401)
    before: bytes = b""

    for _ in range(5):
        run = _start(tmp_path, *words)
        words = ["run", "--resume", "r"]
        _wait_for_records(tmp_path / "r", before.count(b"\n") + 1)
        time.sleep(chance.uniform(0, 0.3))  # the instant itself is the point
        run.kill()
        run.communicate(timeout=60)
        after = (tmp_path / "r" / "journal.jsonl").read_bytes()
        assert after.startswith(before)
        before = after[: after.rfind(b"\n") + 1]

    done = _seatrial(tmp_path, *words)

    assert done.returncode == 0, done.stderr
    run_after = store.Run.open(tmp_path / "r")
    keys = Counter((r.case, r.arm, r.number) for r in run_after.records())
    assert keys == Counter(
        (case, arm, n) for case in "ab" for arm in ("program", "rents") for n in range(1, 41)
    )
    assert (tmp_path / "r" / "journal.jsonl").read_bytes().startswith(before)
    assert list(Path(tempfile.gettempdir()).glob(f"seatrial-{run_after.manifest.run}-*")) == []
    for record in run_after.records():
        assert run_after.trace(record).number == record.number
    assert _agents_of(tmp_path / "r") == []


def test_second_runner_on_a_run_is_refused(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), _program(seconds=0.5))
    run = _start(
        tmp_path, "run", "--suite", "all", "--trials", "20", "--at-once", "1", "--out", "r"
    )
    _wait_for_records(tmp_path / "r", 1)

    done = _seatrial(tmp_path, "run", "--resume", "r")

    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert done.returncode == 2
    assert f"r is being written by another runner (process {run.pid})" in done.stderr


def test_run_does_not_go_on_with_other_documents_or_other_files_of_an_arm(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), bike_shop.case("b"), _rents())
    _seatrial(tmp_path, "run", "--suite", "all", "--out", "r")
    bike_shop.write_tree(
        tmp_path,
        bike_shop.catalog(
            bike_shop.case("a", title="A title is no matter"),
            bike_shop.case("b", task="I am {{run}}. Something else."),
            _rents(),
            bike_shop.suite([bike_shop.case("a"), bike_shop.case("b")]),
        ),
    )
    (tmp_path / "shop_agents.py").write_text("# better\n", encoding="utf-8")

    done = _seatrial(tmp_path, "run", "--resume", "r")

    assert done.returncode == 2
    assert (
        "cannot go on: since it was started, these have changed: source adapter of arm rents, case b\n"
        in done.stderr
    )


def test_full_disk_ends_with_4_and_what_is_stored_is_gone_on_from(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), _rents())
    run = _start(
        tmp_path, "run", "--suite", "all", "--trials", "200", "--out", "r",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)),
    )  # fmt: skip
    _, stderr = run.communicate(timeout=60)

    assert run.returncode == 4
    stored = len(_keys(tmp_path / "r"))
    assert (
        f"Error: r cannot be written: File too large. {stored} trials are stored and intact\n"
        "  → free some space, then: seatrial run --resume r\n"
    ) in stderr
    assert 0 < stored < 200

    done = _seatrial(tmp_path, "run", "--resume", "r")

    assert done.stdout == "a  rents  200/200 passed\nRun: r\n"


def test_what_a_function_prints_does_not_reach_the_terminal(tmp_path: Path):
    prints = bike_shop.arm("x", {"type": "python", "target": "functions:prints"})
    shutil.copy(AGENTS / "functions.py", tmp_path)
    _repository(tmp_path, bike_shop.case("a"), prints)

    done = _seatrial(tmp_path, "run", "--suite", "all", "--arm", "x", "--at-once", "1")

    assert "thinking about" not in done.stdout + done.stderr
    assert done.stdout.startswith("a  x  0/2 passed\n")


def test_terminal_shows_a_bar_and_keeps_only_what_matters(tmp_path: Path):
    _repository(tmp_path, bike_shop.case("a"), _rents())
    shown = _on_a_terminal(tmp_path, "run", "--suite", "all", "--trials", "5", "--out", "r")

    assert "━" in shown
    assert "a  rents  5/5 passed" in shown
    assert "trials:" not in shown


def test_forbidden_actions_are_counted_beside_the_verdicts(tmp_path: Path):
    scraps = bike_shop.arm("scraps", {"type": "python", "target": "shop_agents:scraps"})
    _repository(tmp_path, bike_shop.case("a"), scraps)

    done = _seatrial(tmp_path, "run", "--suite", "all", "--arm", "scraps", "--out", "r")

    assert done.stdout == "a  scraps  0/2 passed, 2 with a forbidden action\nRun: r\n"


def _rents() -> Arm:
    return bike_shop.arm("rents", {"type": "python", "target": "shop_agents:rents"})


def _idle() -> Arm:
    return bike_shop.arm("idle", {"type": "python", "target": "shop_agents:does_nothing"})


def _program(seconds: float = 0.0) -> Arm:
    adapter = {"type": "command", "command": ["{python}", "clerk.py"]}
    return bike_shop.arm("program", adapter, settings={"seconds": seconds})


def _repository(root: Path, *documents: Case | Arm) -> None:
    bike_shop.write_tree(root, bike_shop.catalog(*documents))
    for agent in ("clerk.py", "shop_agents.py"):
        shutil.copy(AGENTS / agent, root)


def _commit(root: Path) -> None:
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-qm", "First"],
    ):
        subprocess.run(["git", *words], cwd=root, check=True, env=_environment(), timeout=60)


def _released(root: Path) -> tuple[str, str]:
    """Run and release everything; how to name the baseline."""
    folder = ".seatrial/baselines"
    for words in (
        ["run", "--suite", "all", "--out", ".seatrial/first"],
        ["release", ".seatrial/first", "--approved-by", "Rita <rita@example.org>", "--to", folder],
    ):
        done = _seatrial(root, *words)
        assert done.returncode == 0, done.stderr
    return "--baseline", folder


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "SEATRIAL_", "CI"))}
    return {**kept, "PYTHONPATH": str(Path(store.__file__).parents[2])}


def _seatrial(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "seatrial", *words],
        cwd=root, env=_environment(), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def _start(root: Path, *words: str, **more: Any) -> subprocess.Popen[str]:
    # What is killed while it measures coverage leaves a broken file of measurements behind.
    env = {k: v for k, v in _environment().items() if not k.startswith("COVERAGE")}
    return subprocess.Popen(
        [sys.executable, "-m", "seatrial", *words],
        cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
    )  # fmt: skip


def _on_a_terminal(root: Path, *words: str) -> str:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "seatrial", *words],
        cwd=root, env={**_environment(), "TERM": "xterm"}, stdout=theirs, stderr=theirs, stdin=theirs,
    ) as run:  # fmt: skip
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the terminal's other end is closed
                break
        run.wait(60)
    os.close(ours)
    assert run.returncode == 0
    return shown.decode()


def _wait_for_records(folder: Path, count: int) -> None:
    journal = folder / "journal.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if journal.exists() and journal.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
    raise AssertionError(f"no {count} records within a minute")


def _keys(folder: Path) -> list[tuple[str, str, int]]:
    return [(r.case, r.arm, r.number) for r in store.Run.open(folder).records()]


def _agents_of(folder: Path) -> list[int]:
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))["run"]
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"SEATRIAL_RUN={run}".encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found
