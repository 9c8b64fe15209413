"""Files that documents name: none is read that lies outside of the repository, is no file, or is nowhere."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests import harbour
from tests.shell import seatrial

from seatrial.documents.patterns import matches

SECRET = "sesame-opens"
WORLD = "kind: fixture\ntype: world\nid: NAME\nnow: 2026-05-04T11:30:00Z\nworld: "
ARM = harbour.ARM.replace("id: released", "id: NAME")
COUNT = "tools: {count: {description: Count., read_only: true, sql: SELECT 1}}\n"
NAMING = {
    "arms/sources.yaml": f"{ARM}sources: {{rules: [PLACE]}}\n",
    "arms/settings-schema.yaml": f"{ARM}settings: {{a: 1}}\nsettings_schema: PLACE\n",
    "arms/prompt.yaml": ARM.split("adapter:")[0]
    + "adapter: {type: openai, url: 'http://127.0.0.1:1/v1', prompt: PLACE}\n"
    + "model: {name: small-2026-01-01}\nsources: {rules: [agent.py]}\n",
    "fixtures/database.yaml": f"{WORLD}sqlite\ndatabase: PLACE\n{COUNT}",
    "fixtures/script.yaml": f"{WORLD}sqlite\nscript: PLACE\n{COUNT}",
    "fixtures/tree.yaml": f"{WORLD}directory\ntree: PLACE\n",
    "fixtures/bundle.yaml": f"{WORLD}directory\nbundle: PLACE\n",
    "fixtures/snapshot.yaml": f"{WORLD}mcp\nsnapshot: PLACE\ncommand: [files]\n",
    "fixtures/start-file.yaml": f"{WORLD}python\nmodule: agent\nstart_file: PLACE\n"
    "tools: {count: {read_only: true}}\n",
    "fixtures/cwd.yaml": "kind: fixture\ntype: server\nid: NAME\ncommand: [files]\ncwd: PLACE\n",
    "cases/check.yaml": re.sub("checks:\n.*", "", harbour.CASE, flags=re.DOTALL).replace(
        "take-a-berth", "NAME"
    )
    + "checks: [{check: python, function: 'agent:grade', files: [PLACE]}]\n",
}
RECORDED = ARM.split("adapter:")[0] + "adapter: {type: recorded, files: [PLACE]}\n"


def _told(root: Path, naming: Mapping[str, str], place: str) -> dict[str, str]:
    """File → what `seatrial check` says of it, where every document names one place."""
    files = {
        path: text.replace("PLACE", place).replace("NAME", path.split("/")[1][:-5])
        for path, text in naming.items()
    }
    harbour.write(root, {**files, "agent.py": "def grade(trial): ...\n"})
    _, out, err = seatrial(root, "check")
    assert "Traceback" not in out + err
    assert SECRET not in out + err
    assert err == ""
    lines = [line.partition(":") for line in out.splitlines() if ": warning: " not in line]
    return {path: line for path, _, line in lines if path in files}


@pytest.mark.parametrize("place", ["../secret", "/etc/hostname", "~/secret", "'a\\b'", "a/../.."])
def test_no_path_that_is_written_leads_out_of_the_repository(tmp_path: Path, place: str):
    naming = {**NAMING, "arms/recorded.yaml": RECORDED}
    told = _told(tmp_path / "root", naming, place)
    left = naming.keys() - told.keys()

    # The path of a schema is only looked at with the files.
    assert left == {"arms/settings-schema.yaml"}
    assert all("no path inside the repository" in line for line in told.values())


def _to_file(place: Path) -> None:
    (place.parents[1] / "secret").write_text(SECRET)
    place.symlink_to("../secret")


def _to_folder(place: Path) -> None:
    (place.parents[1] / "secret").mkdir()
    (place.parents[1] / "secret" / "a").write_text(SECRET)
    place.symlink_to(place.parents[1] / "secret")


def _to_everything(place: Path) -> None:
    place.symlink_to("/")


def _to_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def _in_a_circle(place: Path) -> None:
    place.symlink_to(place.name)


def _nowhere(place: Path) -> None:
    place.symlink_to("nothing")


@pytest.mark.parametrize(
    "make", [_to_file, _to_folder, _to_everything, _to_device, _in_a_circle, _nowhere, os.mkfifo]
)
def test_no_link_leads_out_and_nothing_but_files_is_read(
    tmp_path: Path, make: Callable[[Path], None]
):
    root = harbour.write(tmp_path / "root")
    make(root / "place")
    told = _told(root, NAMING, "place")

    assert told.keys() == NAMING.keys()
    if make in (_to_file, _to_folder, _to_everything, _to_device):
        bare = {path: line for path, line in told.items() if path != "fixtures/cwd.yaml"}
        said = re.compile(
            "leads out of the repository|outside of the repository|there is no|no file fits"
        )
        assert all(said.search(line) for line in bare.values())


def test_a_large_schema_of_settings_is_not_read(tmp_path: Path):
    root = harbour.write(tmp_path / "root")
    with open(root / "place", "wb") as file:
        file.truncate(1_000_000_000)
    naming = {"arms/settings-schema.yaml": NAMING["arms/settings-schema.yaml"]}

    assert "has more than 4 MB" in _told(root, naming, "place")["arms/settings-schema.yaml"]


def test_a_module_that_a_link_leads_out_to_is_not_read(tmp_path: Path):
    arm = harbour.ARM.split("adapter:")[0] + 'adapter: {type: python, target: "crew:reply"}\n'
    (tmp_path / "secret.py").write_text(f"# {SECRET}\ndef reply(): ...\n")
    root = harbour.write(tmp_path / "root", {"arms/released.yaml": arm})
    (root / "crew.py").symlink_to("../secret.py")

    assert "crew.py is a link that leads out of the repository" in seatrial(root, "check")[1]


def test_a_pattern_of_many_folders_takes_no_time_to_speak_of():
    pattern = "/".join(["**", "a*"] * 40) + "/nothing"

    assert not matches(pattern, "/".join(["a"] * 80))
    assert matches("/".join(["**"] * 200) + "/a", "/".join(["b"] * 100) + "/a")
