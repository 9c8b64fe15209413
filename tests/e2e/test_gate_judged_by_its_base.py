"""A change is judged by what its base asks, also where the base asks more than the last release did."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import bike_shop
from tests.shell import ROOT, seatrial
from tests.work_trees import WorkTree

from seatrial.documents import Suite

NEW = "cases/new.yaml"
SUITE = "suites/all.yaml"


@pytest.fixture(autouse=True)
def _no_settings_of_the_tester(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def tree(tmp_path: Path, grown: Path) -> WorkTree:
    """A required case that was there at the release, and one that joined later; the agent fails neither."""
    shutil.copytree(grown, tmp_path / "repo", symlinks=True)
    return WorkTree(tmp_path / "repo")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = WorkTree.init(tmp_path_factory.mktemp("grown") / "repo")
    agents = (ROOT / "tests" / "agents" / "shop_agents.py").read_text(encoding="utf-8")
    rents = bike_shop.arm("rents", {"type": "python", "target": "shop_agents:rents"})
    old = bike_shop.case("old", required=True)
    bike_shop.write_tree(tree.root, bike_shop.catalog(old, _suite("old"), rents))
    tree.commit({"shop_agents.py": agents, ".gitignore": ".seatrial/\n__pycache__/\n"})
    _does(tree, "run", "--suite", "all", "--trials", "5")
    _does(tree, "release", "latest", "--approved-by", "Rita <rita@example.org>")
    new = bike_shop.case("new", required=True)
    bike_shop.write_tree(tree.root, bike_shop.catalog(old, new, _suite("old", "new"), rents))
    tree.commit({}, "Require one more case")
    tree.git("switch", "-qc", "change")
    return tree.root


def _suite(*cases: str) -> Suite:
    return bike_shop.suite([bike_shop.case(id) for id in cases])


def _does(tree: WorkTree, *words: str, code: int = 0) -> str:
    status, out, err = seatrial(tree.root, *words)
    assert status == code, (words, status, out, err)
    return out


def _rewritten(tree: WorkTree, path: str, **changed: object) -> None:
    document = yaml.safe_load((tree.root / path).read_text(encoding="utf-8"))
    tree.commit({path: yaml.safe_dump({**document, **changed}, sort_keys=False)}, "Change")


def _ruled(tree: WorkTree, base: str, code: int) -> dict[str, list[str]]:
    _does(tree, "run", "--suite", "all", "--arm", "rents", "--trials", "5", "--base", base)
    ruling = json.loads(_does(tree, "gate", "latest", "--format", "json", code=code))
    return {ground["kind"]: ground["cases"] for ground in ruling["grounds"]}


def test_case_that_is_required_at_the_base_stays_so_when_the_change_takes_its_mark(tree: WorkTree):
    case = yaml.safe_load((tree.root / NEW).read_text(encoding="utf-8"))
    asks_more = [*case["checks"], {"check": "reply_contains", "text": "never said"}]
    _rewritten(tree, NEW, required=False, checks=asks_more)

    found = _ruled(tree, "main", 1)

    assert found["required_new_unproven"] == ["new"]
    assert found["required_loosened"] == ["new"]
    assert found["policy_changed"] == ["new"]
    assert "required at main (" in _does(tree, "plan", "-s", "all", "--base", "main")


def test_case_that_the_change_gives_to_another_agent_is_taken_away(tree: WorkTree):
    arm = yaml.safe_load((tree.root / "arms/rents.yaml").read_text(encoding="utf-8"))
    other = {**arm, "id": "other", "agent": "somebody-else"}
    tree.write({"arms/other.yaml": yaml.safe_dump(other, sort_keys=False)})
    _rewritten(tree, NEW, agent="somebody-else")

    assert _ruled(tree, "main", 1)["required_removed"] == ["new"]


def test_case_that_the_change_gives_to_nobody_stops_the_run(tree: WorkTree):
    _rewritten(tree, NEW, agent="somebody-else")

    _does(tree, "run", "--suite", "all", "--arm", "rents", "--base", "main", code=2)


def test_case_that_the_change_deletes_is_taken_away(tree: WorkTree):
    (tree.root / NEW).unlink()
    _rewritten(tree, SUITE, cases=["old"])

    assert _ruled(tree, "main", 1)["required_removed"] == ["new"]


def test_policy_that_the_base_tightened_cannot_be_loosened_again(tree: WorkTree):
    _rewritten(tree, SUITE, gate={"profile": "release", "margin": 0.01})
    tree.git("switch", "-qc", "loosens")
    _rewritten(tree, SUITE, gate={"profile": "pr", "margin": 0.5})

    found = _ruled(tree, "change", 1)

    assert "margin_not_shown" in found
    assert "policy_loosened" in found
    assert "policy_changed" in found


# --- policy changes, and who approves them ---

RITA = ("Rita Reviewer", "rita@example.org")


def _judged(tree: WorkTree, *words: str, code: int) -> dict[str, Any]:
    out = _does(tree, "gate", "latest", "--format", "json", *words, code=code)
    return dict(json.loads(out))


def _run(tree: WorkTree, base: str = "main") -> None:
    _does(tree, "run", "--suite", "all", "--arm", "rents", "--trials", "5", "--base", base)


def test_policy_change_closes_the_gate_until_somebody_else_approves_it(tree: WorkTree):
    _rewritten(tree, SUITE, gate={"margin": 0.2})
    _run(tree)

    shut = _judged(tree, code=1)
    author = seatrial(tree.root, "approve", "latest", "--all", "--reason", "it is noisy")
    tree.become(RITA)
    said = _does(tree, "approve", "latest", "--all", "--reason", "it is noisy")
    passed = _judged(tree, code=0)
    shown = _does(tree, "gate", "latest")

    (change,) = shut["policy_changes"]
    assert change["change"] | {"id": ""} == {
        "id": "",
        "kind": "gate_loosened",
        "effect": "loosened",
        "subject": "suite all",
        "path": "gate.margin",
        "case": "",
        "old": "0.05",
        "new": "0.2",
        "old_place": "suites/all.yaml:1:1",
        "new_place": "suites/all.yaml:8:11",
        "text": "suite all: `margin` of the gate is 0.2 instead of 0.05: the mean pass rate may fall further",
    }
    assert change["approved_by"] == ""
    assert shut["headline"].startswith("Closed: 1 policy change not approved")
    assert author[0] == 2
    assert "Ann Author <ann@example.org> cannot approve this" in author[2]
    assert "by somebody without a hand in it" in author[2]
    assert "Approved: suite all: `margin`" in said
    (change,) = passed["policy_changes"]
    assert change["approved_by"] == "Rita Reviewer <rita@example.org>"
    assert change["reason"] == "it is noisy"
    assert "approved by Rita Reviewer <rita@example.org>: it is noisy" in shown
    assert "suites/all.yaml:1:1 → suites/all.yaml:8:11" in shown


def test_each_policy_change_keeps_the_reason_for_which_it_was_approved(tree: WorkTree):
    _rewritten(tree, SUITE, gate={"margin": 0.2}, trials=1)
    _run(tree)
    first, second = (c["change"]["id"] for c in _judged(tree, code=1)["policy_changes"])
    tree.become(RITA)
    _does(tree, "approve", "latest", first, "--reason", "it is noisy")
    said = _does(tree, "approve", "latest", "--all", "--reason", "it is dear")

    found = {c["change"]["id"]: c["reason"] for c in _judged(tree, code=0)["policy_changes"]}

    assert found == {first: "it is noisy", second: "it is dear"}
    assert said.count("Approved: ") == 1
    code, _, err = seatrial(tree.root, "approve", "latest", "--all", "--reason", "again")
    assert (code, "is approved already" in err) == (2, True)


def test_approval_is_of_one_commit_and_of_nothing_that_comes_after(tree: WorkTree):
    _rewritten(tree, SUITE, gate={"margin": 0.2})
    _run(tree)
    tree.become(RITA)
    _does(tree, "approve", "latest", "--all", "--reason", "it is noisy")
    tree.become(("Ann Author", "ann@example.org"))
    tree.commit({}, "One more")
    _run(tree)

    (change,) = _judged(tree, code=1)["policy_changes"]

    assert change["approved_by"] == ""


def test_approval_in_the_name_of_somebody_who_did_not_commit_it_does_not_count(tree: WorkTree):
    _rewritten(tree, SUITE, gate={"margin": 0.2})
    _run(tree)
    tree.become(RITA)
    _does(tree, "approve", "latest", "--all", "--reason", "it is noisy")
    path = tree.git("ls-tree", "-r", "--name-only", "seatrial-baselines", "approvals")
    approval = tree.git("show", f"seatrial-baselines:{path}")
    tree.git("update-ref", "refs/heads/seatrial-baselines", "seatrial-baselines^")
    mallory = WorkTree(tree.root.parent / "branch")
    tree.git("worktree", "add", "-q", str(mallory.root), "seatrial-baselines")
    mallory.git("-c", "user.name=Mallory", "-c", "user.email=m@example.org", "add", "--all")
    mallory.become(("Mallory", "mallory@example.org"))
    # Neither a trailer nor what the change says of names makes it hers.
    tree.write({".mailmap": "Rita Reviewer <rita@example.org> <mallory@example.org>\n"})
    mallory.commit({path: approval}, "A\n\nCo-authored-by: Rita Reviewer <rita@example.org>")

    (change,) = _judged(tree, code=1)["policy_changes"]

    assert change["approved_by"] == ""
    assert "somebody else committed it" in change["refused"][0]

    own = approval.replace(str(RITA[0]), "Mallory").replace(RITA[1], "mallory@example.org")
    mallory.commit({path: own.replace('"recorded"', '"review"')})

    (change,) = _judged(tree, code=1)["policy_changes"]

    assert change["approved_by"] == ""
    assert "where nobody's review is kept" in change["refused"][0]


def test_merge_that_is_tried_is_approved_by_the_head_of_the_change(tree: WorkTree):
    _rewritten(tree, SUITE, gate={"margin": 0.2})
    head = tree.head()
    tree.git("switch", "-q", "--detach", "main")
    tree.git("merge", "-q", "--no-ff", "-m", "Try", "change")
    _run(tree, "HEAD^1")
    id = _judged(tree, code=1)["policy_changes"][0]["change"]["id"]
    review = {"commit": head, "changes": [id], "by": "rita", "how": "review"}
    file = tree.root.parent / "approvals.json"

    def ruled(code: int, **changed: object) -> Any:
        file.write_text(json.dumps([{**review, **changed}]), encoding="utf-8")
        return _judged(tree, "--approvals", str(file), code=code)["policy_changes"][0]

    assert ruled(0)["approved_by"] == "rita"
    assert ruled(0, changes=None)["approved_by"] == "rita"
    assert "had a hand in the change" in ruled(1, by="ann")["refused"][0]
    assert "is not what was run" in ruled(1, commit="0" * 40)["refused"][0]
    file.write_text("[{}]", encoding="utf-8")
    code, _, err = seatrial(tree.root, "gate", "latest", "--approvals", str(file))
    assert (code, "holds no approvals" in err) == (2, True)


def test_approval_counts_for_nothing_where_the_clone_does_not_hold_the_whole_change(
    tree: WorkTree, tmp_path: Path
):
    tree.commit({}, "First of two")
    _rewritten(tree, SUITE, gate={"margin": 0.2})
    tree.git("switch", "-q", "main")
    tree.git("merge", "-q", "--no-ff", "-m", "Try", "change")
    clone = tree.clone(tmp_path / "clone", "--depth", "2")
    clone.become(RITA)
    _run(clone, "HEAD^1")

    code, _, err = seatrial(clone.root, "approve", "latest", "--all", "--reason", "it is noisy")

    assert code == 2
    assert "who wrote the change is not known: this clone is shallow" in err


def test_required_case_that_is_taken_away_with_an_approval_lets_the_gate_open(tree: WorkTree):
    (tree.root / NEW).unlink()
    _rewritten(tree, SUITE, cases=["old"])
    _run(tree)
    tree.become(RITA)
    _does(tree, "approve", "latest", "--all", "--reason", "it is covered elsewhere")

    found = {ground["kind"] for ground in _judged(tree, code=0)["grounds"]}

    assert {"removed_with_approval", "policy_approved"} <= found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--reason", "so"], "name the policy changes"),
        (["--reason", "so", "0123"], "has no policy change '0123'"),
        (["--reason", " ", "--all"], "an approval says why"),
        (["--reason", "so", "--all", "--push"], "no remote to push to"),
    ],
)
def test_approval_of_what_is_not_there_is_refused(tree: WorkTree, words: list[str], said: str):
    _rewritten(tree, SUITE, gate={"margin": 0.2})
    _run(tree)

    code, _, err = seatrial(tree.root, "approve", "latest", *words)

    assert code == 2
    assert said in err


def test_list_of_values_that_look_real_is_read_at_the_base_too(tree: WorkTree):
    entry = "- {value: help@shop.de, reason: the public address}\n"
    tree.commit({"real-data.yaml": entry})
    tree.git("switch", "-qc", "allows-more")
    tree.commit({"real-data.yaml": entry + "- {value: '*@shop.de', reason: all}\n"})
    _run(tree, "change")

    (change,) = _judged(tree, code=1)["policy_changes"]

    assert change["change"]["kind"] == "allowlist_extended"
    tree.commit({"real-data.yaml": "- nonsense\n"})
    _run(tree, "change")
    assert _judged(tree, code=0)["policy_changes"] == []


def test_what_a_change_loosens_is_unknown_where_it_is_its_own_base(tree: WorkTree):
    _rewritten(tree, NEW, required=False)

    assert "policy_unknown" in _ruled(tree, "HEAD", 3)


def test_what_a_change_loosens_is_unknown_where_its_base_cannot_be_read(tree: WorkTree):
    case = (tree.root / NEW).read_text(encoding="utf-8")
    tree.commit({NEW: "kind: case\n"})
    tree.git("switch", "-qc", "mends")
    tree.commit({NEW: case})
    _run(tree, "change")

    ruling = _judged(tree, code=3)

    assert [c["change"]["kind"] for c in ruling["policy_changes"]] == ["base_unreadable"]
    assert "policy_unknown" in {ground["kind"] for ground in ruling["grounds"]}
