"""`seatrial check` with warnings: in each format, and when they count."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import harbour

from seatrial.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    spare = harbour.ANSWERS.replace("id: storm", "id: spare")
    harbour.write(tmp_path, {"fixtures/spare sails.yaml": spare})


def check(*words: str) -> Result:
    return CliRunner().invoke(main, ["check", *words])


def test_a_warning_is_told_and_does_not_count():
    told = check()

    assert told.exit_code == 0
    assert told.output.splitlines() == [
        "fixtures/spare sails.yaml:3:5: warning: nothing uses fixture `spare`. Remove it, or write a case",
        "checked 2 cases, 1 suite, 1 arm, 3 fixtures: no problems, 1 warning",
    ]


def test_a_quarantine_that_has_ended_is_an_error():
    def with_day(day: str) -> None:
        quarantine = f"quarantine: {{owner: Ada, reason: It flickers., until: {day}}}\n"
        Path("cases/take.yaml").write_text(harbour.CASE + quarantine, "utf-8")

    with_day("2999-01-01")
    assert check().exit_code == 0
    with_day("2026-01-31")

    told = check()

    assert told.exit_code == 2
    assert told.output.splitlines()[0] == (
        "cases/take.yaml:22:55: the quarantine of case `take-a-berth` ended on 2026-01-31. "
        "Ada: mend the case and remove `quarantine`, or give it a later day"
    )


def test_it_counts_when_it_is_asked_to():
    assert check("--strict").exit_code == 2
    assert check("--strict", "cases").exit_code == 0  # it is not about these


def test_it_is_a_warning_in_every_format():
    assert (
        "::warning file=fixtures/spare sails.yaml,line=3,col=5," in check("--format=github").output
    )
    (told,) = json.loads(check("--format=json").output)["problems"]
    assert (told["level"], told["code"]) == ("warning", "unused-fixture")


def test_sarif_has_a_rule_and_a_place_for_each_result():
    Path("cases/take.yaml").write_text(
        harbour.CASE.replace("title:", "titel:").replace("role: clerk", "role: no"), "utf-8"
    )

    log = json.loads(check("--format=sarif").output)

    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "Seatrial"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == sorted(set(rules))
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "cases/take.yaml"
        assert place["region"]["startLine"] >= 1
        assert place["region"]["startColumn"] >= 1


def test_a_path_is_an_address_in_sarif():
    (result,) = json.loads(check("--format=sarif").output)["runs"][0]["results"]

    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "fixtures/spare%20sails.yaml", "uriBaseId": "%SRCROOT%"}
    assert result["level"] == "warning"


def test_right_documents_are_a_log_without_results():
    Path("fixtures/spare sails.yaml").unlink()

    assert json.loads(check("--format=sarif").output)["runs"][0]["results"] == []


def test_what_looks_real_is_told_until_it_is_allowed_with_a_reason():
    case = harbour.CASE.replace("tags: [berth]", "tags: [berth]\nowner: desk@harbour.no")
    Path("cases/take.yaml").write_text(case, "utf-8")
    assert "cases/take.yaml:9:8: warning: `desk@harbour.no` looks like" in check("cases").output

    Path("real-data.yaml").write_text("- {value: desk@harbour.no}\n", "utf-8")
    told = check()
    assert told.exit_code == 2
    assert "real-data.yaml:1:1: entry 1 is no `value` with a `reason`" in told.output

    Path("real-data.yaml").write_text("- {value: desk@harbour.no, reason: Invented.}\n", "utf-8")
    assert "looks like" not in check().output


def test_a_secret_is_no_warning():
    key = "AKIA" + "Q7RT5WXZ2MN8KLP4"
    Path("cases/take.yaml").write_text(harbour.CASE.replace("Berth b-1 for", f"{key} for"), "utf-8")

    told = check()

    assert told.exit_code == 2
    assert "cases/take.yaml:9:7: `AKIA…` looks like a secret" in told.output
    assert "1 problem in 1 file, 1 warning" in told.output


def test_defaults_beside_the_folders_are_told_for_nothing_inherits_from_them():
    Path("defaults.yaml").write_text("# ours\nkind: defaults\ncase: {owner: Ada}\n", "utf-8")
    told = check()

    assert told.exit_code == 2
    assert told.output.startswith("defaults.yaml:1:1: nothing inherits from these defaults")

    Path("defaults.yaml").write_text("galaxy: kind\n", "utf-8")  # somebody else's
    assert check().exit_code == 0
