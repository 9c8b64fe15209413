"""A small open model plays the desk through the `openai` arm: what must hold whatever it says.

`SEATRIAL_MODEL_SERVER` names a script that is started as `python SCRIPT small PORT` and serves a model
OpenAI-compatibly there until it is stopped. How well the model does is printed, and held to nothing.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from seatrial import store
from seatrial.records import TrialRecord
from seatrial.trace import Completed
from seatrial.verdicts import Verdict

DESK = Path(__file__).parent / "desk"
SCRIPT = os.environ.get("SEATRIAL_MODEL_SERVER")
READY_SECONDS = 900

pytestmark = [
    pytest.mark.model,
    pytest.mark.timeout(4 * 3600),
    pytest.mark.skipif(
        not SCRIPT, reason="no model: SEATRIAL_MODEL_SERVER names no script that serves one"
    ),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    assert SCRIPT
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = tmp_path_factory.mktemp("model") / "log"
    with said.open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, SCRIPT, "small", str(port)], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_ready(f"http://127.0.0.1:{port}/health", server, said)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait(60)


@pytest.mark.parametrize(("arm", "trials"), [("desk-schema", 3), ("desk-tools", 1)])
def test_a_real_model_plays_every_trial_to_its_end(
    arm: str, trials: int, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    shutil.copytree(DESK, tmp_path / "desk")
    began = time.monotonic()
    done = subprocess.run(
        [
            sys.executable, "-m", "seatrial", "run", "--suite", "desk", "--arm", arm,
            "--trials", str(trials), "--seed", "5", "--out", "run",
        ],
        cwd=tmp_path / "desk",
        env={**os.environ, "MODEL_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    took = time.monotonic() - began

    assert done.returncode == 0, done.stdout + done.stderr
    run = store.Run.open(tmp_path / "desk" / "run")
    records = list(run.records())
    completions = [answer for record in records for answer in run.trace(record).completions]
    with capsys.disabled():
        print(f"\n{done.stdout}{_figures(arm, records, completions, took)}")
    assert len(records) == 11 * trials
    assert [record.detail for record in records if record.verdict is Verdict.INVALID] == []
    assert {record.served_model for record in records} != {None}
    assert all(record.usage and record.usage.output_tokens for record in records)
    if arm == "desk-schema":
        calls = [call for record in records for call in run.trace(record).calls]
        assert any(call.answered_by == "world" for call in calls)


def _figures(
    arm: str, records: list[TrialRecord], completions: list[Completed], took: float
) -> str:
    verdicts = Counter(record.verdict.value for record in records)
    used = [record.usage for record in records if record.usage is not None]
    written = sum(usage.output_tokens for usage in used)
    return (
        f"{arm}: {dict(verdicts)}, {len(completions)} answers, "
        f"{sum(usage.input_tokens for usage in used):,} tokens read "
        f"({sum(usage.cached_input_tokens for usage in used):,} from the cache), {written:,} written, "
        f"{written / took:.2f} tokens/s over {took:.0f} s"
    )


def _wait_until_ready(health: str, server: subprocess.Popen[bytes], said: Path) -> None:
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            pytest.fail(f"the model's server ended: {said.read_text('utf-8', 'replace')[-2000:]}")
        try:
            if httpx.get(health, timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    pytest.fail(f"the model was not there after {READY_SECONDS} s")
