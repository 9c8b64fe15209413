"""The report as one file, as a person meets it: opened from the file system in a headless browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import report_samples
from tests.browser.chromium import PROGRAM, Chromium, chromium
from tests.report_samples import HOSTILE, REFUND

from seatrial import report
from seatrial.escaping import legible

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed"),
]

SCREENSHOTS = Path(__file__).parents[2] / "build" / "report-screenshots"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("single")
    file = folder / "alone" / "report.html"
    file.parent.mkdir()
    file.write_text(report.single_page(report_samples.evidence(folder / "runs")), encoding="utf-8")
    return file


@pytest.fixture(scope="module", params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="module")
def browser(scheme: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with chromium(tmp_path_factory.mktemp("profile"), scheme=scheme) as opened:
        yield opened


def test_one_page_shows_ruling_cases_and_the_trials_that_failed(
    browser: Chromium, scheme: str, page: Path
):
    browser.open(page)

    assert browser.texts(".st-ruling__word") == ["Gate closed"]
    assert len(browser.texts(".st-table--cases tbody tr")) == 8
    assert len(browser.texts(".st-card")) == 3
    heads = [" ".join(text.split()) for text in browser.texts(f"#case-{REFUND.id} summary")]
    assert heads == ["candidate trial 1 failed 2 calls", "baseline trial 1 passed 3 calls"]
    wrong = browser.texts(f"#case-{REFUND.id}-c2 .st-found")
    assert "verify_customer was never called" in wrong[0]
    assert browser.complaints() == []
    browser.keep_screenshot(SCREENSHOTS / f"single-{scheme}.png")


def test_page_follows_the_colours_of_the_reader(browser: Chromium, scheme: str, page: Path):
    browser.open(page)

    light = browser.ask("getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'")
    assert light == (scheme == "light")


def test_nothing_is_asked_for_but_the_page(browser: Chromium, page: Path):
    browser.requested()
    browser.open(page)
    browser.ask("document.querySelectorAll('details').forEach((d) => { d.open = true; })")

    assert set(browser.requested()) - {"about:blank"} == {page.as_uri()}
    assert browser.complaints() == []


def test_table_is_filtered_and_its_rows_lead_to_the_cases(browser: Chromium, page: Path):
    browser.open(page, "#outcome=regressed")

    assert browser.texts(".st-name a") == [REFUND.id]
    assert browser.ask("document.querySelector('.st-name a').getAttribute('href')") == (
        f"#case-{REFUND.id}"
    )
    dead = browser.ask(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => a.getAttribute('href') !== '#'"
        " && !document.getElementById(a.getAttribute('href').slice(1))).length"
    )
    assert dead == 0


def test_link_to_a_step_unfolds_the_trial(browser: Chromium, page: Path):
    browser.open(page, f"#case-{REFUND.id}-baseline-c2")

    assert browser.ask(
        f"document.getElementById('case-{REFUND.id}-baseline-c2').closest('details').open"
    )


def test_hostile_text_is_shown_as_text_and_no_script_ran(browser: Chromium, page: Path):
    browser.open(page)
    browser.ask("document.querySelectorAll('details').forEach((d) => { d.open = true; })")

    assert browser.ask("globalThis.pwned") is None
    assert browser.ask("document.querySelectorAll('main img, main script, iframe').length") == 0
    assert (
        browser.ask("document.querySelectorAll('a[href*=\"evil\"], a[href^=javascript]').length")
        == 0
    )
    shown = " ".join(browser.ask("document.querySelector('main').textContent").split())
    assert " ".join(legible(HOSTILE).split()) in shown
    assert browser.complaints() == []


def test_page_forbids_scripts_and_images_it_did_not_come_with(browser: Chromium, page: Path):
    browser.open(page)

    browser.ask(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x: onerror=\"globalThis.pwned=1\">'),"
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'globalThis.pwned=2'}))"
    )
    browser.until("document.images.length > 0 && document.images[0].complete")

    assert browser.ask("globalThis.pwned") is None
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())


def test_page_holds_no_address_to_load_from(page: Path):
    text = page.read_text(encoding="utf-8")

    outside = re.sub(r"(?s)<script>.*?</script>|<style>.*?</style>", "", text)
    assert not re.search(r"<(?:script|link|img|iframe|object|embed)[^>]*(?:src|href)=", outside)
    assert "url(" not in text
    assert "@import" not in text
