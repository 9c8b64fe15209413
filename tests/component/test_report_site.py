"""The static site, built by the real MkDocs from real run folders, and read back."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests import report_samples
from tests.report_samples import HOSTILE, REFUND

from seatrial import report
from seatrial.compare import CaseComparison, Tally
from seatrial.errors import StorageError, UsageError
from seatrial.gate import Ground, RuledChange
from seatrial.records import PolicyChange
from seatrial.report.casefile import case_file
from seatrial.report.policy import with_policy
from seatrial.report.site import MARKER
from seatrial.verdicts import Outcome

PAGES = ("index.html", "regressions.html", "case.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    report.build(report_samples.evidence(folder / "runs"), folder / "site")
    return folder / "site"


def test_site_is_a_few_pages_and_a_data_file_for_each_case_worth_a_page(site: Path):
    assert {path.name for path in site.glob("*.html")} == set(PAGES)
    paged = {path.name for path in (site / "data").glob("case-*.js")}
    assert paged == {
        f"case-{name}.js"
        for name in (
            "refund-needs-verification", "embedded-instruction", "close-ticket", "which-order",
            "gift-card", "address-change",
        )
    }  # fmt: skip
    raw = {path.name for path in (site / "data" / "raw").iterdir()}
    assert raw == {name.replace(".js", ".json") for name in paged}


@pytest.mark.parametrize("name", PAGES)
def test_page_asks_nothing_of_anybody_else(site: Path, name: str):
    page = _Page.of(site / name)

    assert page.links
    for link in page.links:
        assert not re.match(r"(?i)[a-z][a-z0-9+.-]*:|//", link), link
        file = link.partition("?")[0].partition("#")[0]
        assert not file or (site / file).is_file(), link
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", style.read_text("utf-8"))


@pytest.mark.parametrize("name", PAGES)
def test_page_holds_no_text_of_an_agent_or_document_as_markup(site: Path, name: str):
    page = _Page.of(site / name)

    assert "pwned=1" not in page.source  # `=` would have to be a reference
    assert not [tag for tag, given in page.tags if any(n.startswith("on") for n in given)]
    assert not [given for tag, given in page.tags if tag == "img"]
    assert {tag for tag, _ in page.tags} <= set(KNOWN_TAGS)


@pytest.mark.parametrize("name", PAGES)
def test_page_runs_nothing_but_its_own_scripts(site: Path, name: str):
    page = _Page.of(site / name)

    policies = [g for tag, g in page.tags if tag == "meta" and "http-equiv" in g]
    assert [p["http-equiv"] for p in policies] == ["Content-Security-Policy"]
    policy = policies[0]["content"] or ""
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.source.index("Content-Security-Policy") < page.source.index("<script")


def test_no_page_asks_for_data_by_fetch(site: Path):
    for script in (site / "assets" / "report").glob("*.js"):
        source = script.read_text("utf-8")
        assert not re.search(
            r"fetch\(|XMLHttpRequest|innerHTML|outerHTML|insertAdjacent|\beval\b", source
        )
        assert not re.search(r"https?://", source)


def test_ruling_and_its_grounds_can_be_read_without_a_script(site: Path):
    text = _Page.of(site / "index.html").text

    assert "Gate closed" in text
    assert "1 required case regressed and 1 forbidden action happened" in text
    assert "3 of 28 trials are invalid (10.7 %); the cap is 10 %." in text
    assert "helpdesk-released 1.4.0 at fedcba987654" in text
    assert "the release in force at base 89abcdef, the newest one on this branch" in text
    assert "7 of 8 cases were run" in text
    assert "6 of 8 cases have a page with both trajectories" in text
    assert "21.0 points" in text  # the margin these trials can prove
    assert "47.5 % [38.0 %, 54.6 %]" in text  # pass^4 of the baseline
    assert "time 0 3 gift-card" in text


def test_suite_in_parts_and_its_ties_can_be_read_without_a_script(site: Path):
    text = _Page.of(site / "index.html").text

    assert "By group" in text
    assert "4 of 5" in text
    assert "75.0 % [30.0 %, 95.0 %]" in text
    assert "-6.0 points" in text
    assert "5 more rows are in" in text
    assert "2 declared, 1 moved, 1 with too few trials to tell." in text
    assert (
        "Their mean moved: drop 12.0 points, p 0.03; a difference of up to 40.0 points could hide."
        in text
    )


def test_grounds_lead_to_the_pages_of_their_cases(site: Path):
    links = _Page.of(site / "index.html").links

    assert f"case.html?id={REFUND.id}" in links
    assert "case.html?id=gift-card" in links


def test_case_named_in_a_ground_is_a_link_there_and_others_follow(tmp_path: Path):
    evidence = report_samples.evidence(tmp_path / "runs")
    ground = Ground(
        kind="x", effect="closed", text="gift-card (3 of 4), gift-card-2 and order-status.",
        cases=("gift-card", "order-status", "which-order"),
    )  # fmt: skip
    evidence.ruling = evidence.ruling.model_copy(update={"grounds": (ground,)})

    report.build(evidence, tmp_path / "site")

    page = _Page.of(tmp_path / "site" / "index.html")
    assert "gift-card (3 of 4), gift-card-2 and order-status. which-order" in page.text
    linked = [link for link in page.links if "case.html" in link]
    assert linked[:2] == ["case.html?id=gift-card", "case.html?id=which-order"]


def test_table_has_a_row_for_each_case_worst_first(site: Path):
    table = _data(site / "data" / "table.js")

    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert [(row["id"], row["page"]) for row in rows] == [
        ("embedded-instruction", 1), ("refund-needs-verification", 1), ("gift-card", 1),
        ("which-order", 1), ("address-change", 1), ("close-ticket", 1), ("order-status", 0),
        ("invoice-copy", 0),
    ]  # fmt: skip
    assert rows[1]["baseline"] == [4, 4, 0, 0, 0.65, 1.0, 0]
    assert rows[1]["live"] == [6, 6, 0, 0, 0.65, 1.0, 0]
    assert rows[1]["candidate"][-1] == 2
    assert rows[0]["live"] is None
    assert rows[1]["evidence"] == "2,140 : 1"


def test_regressions_say_what_is_wrong_where_and_how_to_see_it_again(site: Path):
    forbidden, regressed, unclear = _data(site / "data" / "regressions.js")

    assert regressed["worst"]["call"] == 2
    assert regressed["worst"]["place"] == "cases/task/refund-needs-verification.yaml:14:5"
    assert regressed["because"] == "policy 4.2: nobody is paid before we know who asks"
    assert regressed["parted"]["candidate"] is None
    assert regressed["parted"]["baseline"].startswith('shop/verify_customer(customer: "C-7"')
    assert regressed["parted"]["anchor"] == "baseline-c2"
    assert regressed["command"] == (
        "seatrial run --suite smoke --arm helpdesk-candidate --case refund-needs-verification"
        " --seed 7 --trials 4"
    )
    assert forbidden["forbidden"] is True
    assert "beyond its rights: role support" in forbidden["parted"]["candidate"]
    assert unclear["invalid"][0] == [1, "time", "the agent gave no reply within 60 s"]


def test_case_shows_its_worst_trial_beside_the_nearest_passing_one(site: Path):
    case = _data(site / "data" / "case-refund-needs-verification.js")

    assert case["chosen"] == [1, 1]
    rows = case["alignments"][case["pairs"][0][2]]
    assert [row[2] for row in rows] == ["same", "same", "baseline_only", "arguments", "wording"]
    assert rows[3][3] == ["lines[0].reason"]
    assert case["firsts"][case["pairs"][0][2]] == 2


def test_case_says_what_was_expected_of_the_world_and_what_became_of_it(site: Path):
    case = _data(site / "data" / "case-refund-needs-verification.js")

    (expected,) = case["expected"]
    assert expected["lines"] == [
        "created refund where amount = 35",
        'changed order A-1001: status = "refunded"',
    ]
    candidate, baseline = (
        case["sides"][side]["trials"][0]["changes"] for side in ("candidate", "baseline")
    )
    assert {c["id"] for c in baseline} < {c["id"] for c in candidate}
    assert candidate[0]["compared"] == baseline[0]["compared"]
    assert candidate[0]["old"] == [["", '"delivered"']]


def test_case_names_what_was_mocked_though_it_declares_nothing_and_what_went_wrong_on_purpose(
    site: Path,
):
    case = _data(site / "data" / "case-close-ticket.js")

    (told,) = case["case"]["mocked"]
    assert told.startswith("find_order, which does not say whether it only reads: <script>")
    steps = case["sides"]["candidate"]["trials"][0]["steps"]
    assert [step["fault"] for step in steps if step["kind"] == "called"] == ["broken: stale"]
    other = _data(site / "data" / "case-which-order.js")
    assert other["case"]["mocked"] == []


def test_improved_case_shows_a_failure_of_the_baseline_beside_a_pass(site: Path):
    case = _data(site / "data" / "case-close-ticket.js")

    assert case["sides"]["baseline"]["trials"][case["chosen"][1] - 1]["verdict"] == "failed"
    assert case["sides"]["candidate"]["trials"][case["chosen"][0] - 1]["verdict"] == "passed"


def test_trials_that_did_the_same_share_an_alignment(site: Path):
    case = _data(site / "data" / "case-which-order.js")

    assert len(case["pairs"]) == 16
    assert len(case["alignments"]) == 2  # candidate trial 2 replied in other words


def test_raw_file_holds_every_record_and_trace_uncut(site: Path):
    raw = json.loads((site / "data" / "raw" / "case-embedded-instruction.json").read_text("utf-8"))

    assert len(raw["candidate"]) == len(raw["baseline"]) == 4
    assert raw["candidate"][1]["trace"]["events"][0]["text"] == HOSTILE
    assert raw["candidate"][1]["record"]["violations"] == 1


def test_data_files_hold_hostile_text_as_data_only(site: Path):
    for file in [*(site / "data").glob("*.js"), *(site / "data" / "raw").iterdir()]:
        source = file.read_text("ascii")
        assert not set("<>&") & set(source), file.name


def test_long_text_is_cut_and_says_so(tmp_path: Path):
    evidence = report_samples.evidence(tmp_path, reply="x" * 30_000)
    case = next(c for c in evidence.comparison.cases if c.case == "which-order")

    reply = case_file(evidence, case, evidence.traced(case.case))["sides"]["candidate"]["trials"][
        0
    ]["steps"][-1]

    assert reply["text"].endswith("… (10,000 more characters)")


def test_policy_changes_can_be_read_without_a_script(tmp_path: Path):
    evidence = report_samples.evidence(tmp_path / "runs")
    change = PolicyChange(
        id="1", kind="gate_loosened", subject="suite full", old="0.05", new="0.2", text="the <b>margin</b> is wider"
    )  # fmt: skip
    ruled = (RuledChange(change=change),)
    evidence.ruling = evidence.ruling.model_copy(update={"policy_changes": ruled})

    report.build(evidence, tmp_path / "site")

    text = _Page.of(tmp_path / "site" / "index.html").text
    assert "the <b>margin</b> is wider (0.05 → 0.2): not approved" in text


def test_without_a_baseline_there_is_one_side(tmp_path: Path):
    site = tmp_path / "site"
    report.build(report_samples.evidence(tmp_path / "runs", baseline=False), site)

    assert "there is nothing to compare the candidate with" in _Page.of(site / "index.html").text
    case = _data(site / "data" / "case-address-change.js")
    assert list(case["sides"]) == ["candidate"]
    assert case["pairs"] == []


def test_nothing_to_look_at_is_said(tmp_path: Path):
    evidence = report_samples.evidence(tmp_path / "runs")
    calm = [c for c in evidence.comparison.cases if c.outcome is Outcome.IMPROVED]
    evidence.comparison = evidence.comparison.model_copy(update={"cases": tuple(calm)})

    report.build(evidence, tmp_path / "site")

    assert "Nothing to look at" in _Page.of(tmp_path / "site" / "regressions.html").text


def test_report_replaces_an_earlier_one_as_a_whole(tmp_path: Path):
    evidence = report_samples.evidence(tmp_path / "runs")
    site = tmp_path / "deep" / "site"
    report.build(evidence, site)
    (site / "data" / "case-of-yesterday.js").touch()

    report.build(evidence, site)

    assert not (site / "data" / "case-of-yesterday.js").exists()
    assert (site / MARKER).is_file()
    assert [path.name for path in site.parent.iterdir()] == ["site"]


def test_folder_that_holds_something_else_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("ten years", encoding="utf-8")

    with pytest.raises(UsageError, match="is not a report"):
        report.build(report_samples.evidence(tmp_path / "runs"), tmp_path)

    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "ten years"


def test_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").touch()

    with pytest.raises(StorageError, match="cannot be written to"):
        report.build(report_samples.evidence(tmp_path / "runs"), tmp_path / "file" / "site")


def test_id_that_is_a_path_is_refused(tmp_path: Path):
    evidence = report_samples.evidence(tmp_path / "runs")
    hostile = CaseComparison(
        case="../../outside",
        outcome=Outcome.REMOVED,
        sentence="Gone.",
        baseline=Tally(passed=1, valid=1),
    )
    evidence.comparison = evidence.comparison.model_copy(update={"cases": (hostile,)})

    with pytest.raises(StorageError, match="is no id of a case"):
        report.build(evidence, tmp_path / "site")

    assert not (tmp_path / "site").exists()


def test_case_whose_document_is_gone_is_shown_by_its_findings(tmp_path: Path):
    evidence = report_samples.evidence(tmp_path)
    for run in evidence.runs.values():
        run.catalog = dataclasses.replace(run.catalog, cases={})
    case = next(c for c in evidence.comparison.cases if c.case == REFUND.id)

    data = case_file(evidence, case, evidence.traced(case.case))

    assert [check["path"] for check in data["checks"]] == [f"checks[{i}]" for i in range(5)]
    assert data["case"]["messages"] == []


def test_policy_allows_exactly_the_scripts_that_stand_in_the_page():
    page = '<head><meta charset="utf-8"><script>one()</script><script src="a.js"></script>'

    policed = with_policy(page, "script-src 'self' {scripts}")

    assert policed.count("'sha256-") == 1
    assert "'sha256-HR7iaask9daLMRRskMI++QeJtjWDOjyPA6lGzYGzKW4='" in policed


KNOWN_TAGS = re.findall(
    r"\w+",
    "a article b body button code dd div dl dt em footer form h1 h2 head header html input label li link "
    "main meta nav noscript p path script section small span sup svg table tbody td th thead title tr ul",
)


class _Page(HTMLParser):
    """A page's tags, links and text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._texts: list[str] = []
        self._script = False
        self.feed(source)

    @classmethod
    def of(cls, path: Path) -> "_Page":
        return cls(path.read_text(encoding="utf-8"))

    @property
    def links(self) -> list[str]:
        return [g[n] or "" for _, g in self.tags for n in ("href", "src", "action") if n in g]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def handle_data(self, data: str) -> None:
        if not self._script:
            self._texts.append(data)


def _data(path: Path) -> Any:
    found = re.fullmatch(r"globalThis\.\w+ = JSON\.parse\('(.*)'\);\n", path.read_text("ascii"))
    assert found
    return json.loads(found[1].replace("\\\\", "\\"))
