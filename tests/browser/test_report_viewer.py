"""The report as a person meets it: opened from the file system in a headless browser.

The screenshots of the last run lie in `build/report-screenshots/`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import report_samples
from tests.browser.chromium import PROGRAM, Chromium, chromium
from tests.report_samples import HOSTILE, REFUND

from seatrial import report
from seatrial.escaping import legible
from seatrial.verdicts import Outcome

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed"),
]

SCREENSHOTS = Path(__file__).parents[2] / "build" / "report-screenshots"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    report.build(report_samples.evidence(folder / "runs"), folder / "site")
    return folder / "site"


@pytest.fixture(scope="module", params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="module")
def browser(scheme: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with chromium(tmp_path_factory.mktemp("profile"), scheme=scheme) as page:
        yield page


def test_overview_shows_the_ruling_and_the_worst_case_first(
    browser: Chromium, scheme: str, site: Path
):
    browser.open(site / "index.html")

    assert browser.texts(".st-ruling__word") == ["Gate closed"]
    assert "1 required case regressed" in browser.texts(".st-ruling__headline")[0]
    rows = browser.texts(".st-table--cases tbody tr")
    assert len(rows) == 8
    assert rows[0].startswith("forbidden · unchanged")
    assert "verify_customer was never called" in rows[1]
    assert browser.complaints() == []
    browser.keep_screenshot(SCREENSHOTS / f"overview-{scheme}.png")


def test_overview_follows_the_theme_of_the_reader(browser: Chromium, scheme: str, site: Path):
    browser.open(site / "index.html")

    named = {"light": "default", "dark": "slate"}[scheme]
    browser.until(f"document.body.dataset.mdColorScheme === '{named}'")
    light = browser.ask("getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'")
    assert light == (scheme == "light")


def test_cases_are_filtered_by_outcome_by_words_and_by_the_address(browser: Chromium, site: Path):
    browser.open(site / "index.html")

    browser.ask("document.querySelector('.st-chip--regressed').click()")
    assert browser.texts(".st-name a") == [REFUND.id]
    assert browser.ask("location.hash") == "#outcome=regressed"
    browser.ask("document.querySelector('.st-chip--regressed').click()")
    browser.press("/")
    browser.press("gift")
    assert browser.texts(".st-name a") == ["gift-card"]
    browser.open(site / "index.html", "#outcome=undecided&required=1")
    assert browser.texts(".st-name a") == ["gift-card"]


def test_regressions_say_where_it_went_wrong(browser: Chromium, scheme: str, site: Path):
    browser.open(site / "regressions.html")

    cards = browser.texts(".st-card")
    assert len(cards) == 3
    assert "trial 1, turn 1, call 2" in cards[1]
    assert "the release beside it 6/6" in " ".join(cards[1].split())
    assert "2 added" in cards[1]
    assert "policy 4.2: nobody is paid before we know who asks" in cards[1]
    assert browser.complaints() == []
    browser.keep_screenshot(SCREENSHOTS / f"regressions-{scheme}.png")


def test_case_shows_both_sides_and_the_first_difference(browser: Chromium, scheme: str, site: Path):
    browser.open(site / "case.html", f"?id={REFUND.id}")

    heads = browser.texts(".st-side-head b")
    assert [head.strip() for head in heads] == ["baseline", "candidate"]
    assert browser.texts(".st-first") == ["First difference: only the baseline did this"]
    assert "shop/verify_customer" in browser.texts(".st-line--first .st-cellule--baseline")[0]
    assert browser.texts(".st-line--first .st-cellule--candidate") == ["—"]
    differing = browser.texts(".st-line--arguments .st-differs")
    assert differing == ['lines[0].reason"broken"', 'lines[0].reason"customer asked"']
    assert "created refund where amount = 35" in browser.texts(".st-expected")[0]
    assert "order A-1001 . note" in browser.texts(".st-changes tr.st-differs")[0]
    assert browser.complaints() == []
    browser.keep_screenshot(SCREENSHOTS / f"case-{scheme}.png")


def test_another_trial_is_chosen_by_a_link(browser: Chromium, site: Path):
    browser.open(site / "case.html", f"?id={REFUND.id}")

    link = browser.ask("[...document.querySelectorAll('.st-matrix thead a')].map((a) => a.href)")[7]
    browser.go(link)
    browser.until("document.querySelector('.st-pair') !== null")

    assert "trial 4" in browser.texts(".st-side-head")[1]
    assert "amount is 60, which is not at most 35" in browser.texts(".st-failing")[0]


def test_n_and_p_go_from_difference_to_difference(browser: Chromium, site: Path):
    browser.open(site / "case.html", f"?id={REFUND.id}")

    visited = []
    for key in ("n", "n", "n", "n", "p"):
        browser.press(key)
        visited.append(browser.ask("location.hash"))
        assert browser.ask("document.activeElement.classList.contains('st-line--here')")

    assert visited == ["#baseline-c2", "#c2", "#r1", "#r1", "#c2"]


def test_link_to_a_step_opens_at_it(browser: Chromium, site: Path):
    browser.open(site / "case.html", f"?id={REFUND.id}&candidate=3&baseline=2#c2")

    assert "shop/verify_customer" in browser.texts(".st-line--here")[0]
    top = browser.ask("document.querySelector('.st-line--here').getBoundingClientRect().top")
    assert 0 < top < 1000
    assert browser.ask("document.querySelector('.st-line--here details').open")


def test_hostile_text_is_shown_as_text_and_no_script_ran(
    browser: Chromium, scheme: str, site: Path
):
    for page in ("index.html", "regressions.html", "case.html?id=embedded-instruction"):
        name, _, query = page.partition("?")
        browser.open(site / name, f"?{query}" if query else "")

        assert browser.ask("globalThis.pwned") is None
        assert (
            browser.ask("document.querySelectorAll('.st img, .st script, .st iframe').length") == 0
        )
        assert " ".join(legible(HOSTILE).split()) in " ".join(
            browser.ask("document.body.textContent").split()
        )
        assert browser.complaints() == []
    browser.keep_screenshot(SCREENSHOTS / f"hostile-{scheme}.png")


def test_page_forbids_scripts_it_did_not_come_with(browser: Chromium, site: Path):
    browser.open(site / "index.html")

    browser.ask(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x: onerror=\"globalThis.pwned=1\">'),"
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'globalThis.pwned=2'}))"
    )
    browser.until("document.images.length > 0 && document.images[0].complete")

    assert browser.ask("globalThis.pwned") is None
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())


def test_address_cannot_lead_to_another_script(browser: Chromium, site: Path):
    (site / "evil.js").write_text("globalThis.pwned = 1", encoding="utf-8")

    browser.open(site / "case.html", "?id=../evil.js%23")

    assert browser.texts(".st h1") == ["No case named"]
    assert browser.ask("globalThis.pwned") is None


def test_case_without_a_page_says_why(browser: Chromium, site: Path):
    browser.open(site / "case.html", "?id=order-status")

    assert "it is unchanged or carried" in browser.texts("#case")[0]


def test_invalid_trial_says_its_cause(browser: Chromium, site: Path):
    browser.open(site / "case.html", "?id=gift-card")

    (notice,) = browser.texts(".st-notice")
    assert notice == "candidate trial 1 is invalid (time): the agent gave no reply within 60 s"


def test_case_of_one_side_is_shown_alone(browser: Chromium, site: Path):
    browser.open(site / "case.html", "?id=address-change")

    assert browser.texts(".st-tools .st-note") == ["There is one side only."]
    assert "mocked: rules[0]" in browser.texts(".st-pair--alone")[0]


def test_case_without_any_trial_is_shown_without_a_fault(
    browser: Chromium, tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.mktemp("gone")
    evidence = report_samples.evidence(folder / "runs")
    gone = {"outcome": Outcome.REMOVED, "required": True}
    cases = [
        c.model_copy(update=gone) if c.case == "invoice-copy" else c
        for c in evidence.comparison.cases
    ]
    evidence.comparison = evidence.comparison.model_copy(update={"cases": tuple(cases)})
    report.build(evidence, folder / "site")

    browser.open(folder / "site" / "case.html", "?id=invoice-copy")

    assert browser.texts(".st-head h1") == ["removed invoice-copy"]
    assert browser.texts(".st-matrix tbody th code") == ["no_violation"]
    assert browser.complaints() == []
