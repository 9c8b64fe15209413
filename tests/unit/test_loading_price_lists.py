"""Arms and people name a price list, and have the prices that it says of their model."""

import pytest
from tests import harbour

from seatrial import loading
from seatrial.comparability import fingerprints
from seatrial.documents import Catalog, Persona, Prices
from seatrial.errors import InvalidDocuments

LIST = """\
kind: fixture
type: prices
id: of-march
currency: EUR
models:
  gull-2026-01: {input: 1.0, output: 4.0, cached_input: 0.1}
  heron-2026-02: {input: 2.0, output: 8.0}
"""
ARM = harbour.ARM + "model: {name: gull-2026-01}\nprices: of-march\n"
PERSON = """\
kind: fixture
type: persona
id: ada
goal: A berth.
model: {name: heron-2026-02, url: "http://127.0.0.1:9", prices: of-march}
"""


def load(changes: dict[str, str]) -> Catalog:
    return loading.load(harbour.contents({"fixtures/prices.yaml": LIST, **changes}))


def told(changes: dict[str, str]) -> list[str]:
    with pytest.raises(InvalidDocuments) as caught:
        load(changes)
    return [p.render() for p in caught.value.problems]


def test_an_arm_has_the_prices_of_its_model():
    catalog = load({"arms/released.yaml": ARM})

    assert catalog.arms["released"].prices == Prices(
        currency="EUR", input=1.0, output=4.0, cached_input=0.1
    )
    assert catalog.place("arm", "released", "prices.input") == "fixtures/prices.yaml:6:25"
    assert catalog.place("arm", "released", "prices.currency") == "fixtures/prices.yaml:4:11"


def test_so_have_people_that_a_model_plays():
    case = harbour.CASE.replace(
        "task: Berth b-1 for the gull, please. My word is {{run}}.\n", "persona: ada\n"
    )
    person = load({"fixtures/ada.yaml": PERSON, "cases/take.yaml": case}).fixtures["ada"]

    assert isinstance(person, Persona)
    assert person.model is not None
    assert person.model.prices == Prices(currency="EUR", input=2.0, output=8.0)


def test_prices_that_move_into_a_list_change_no_fingerprint():
    written = "model: {name: gull-2026-01}\nprices: {currency: EUR, input: 1.0, output: 4.0, cached_input: 0.1}\n"
    before = load({"arms/released.yaml": harbour.ARM + written})
    after = load({"arms/released.yaml": ARM})

    assert after.arms == before.arms
    one, other = (fingerprints(c, c.arms.values(), {}).whole() for c in (before, after))
    assert one == other


def test_a_list_may_be_inherited_and_named_by_what_is_inherited():
    newer = "kind: fixture\ntype: prices\nid: of-april\nextends: of-march\nmodels: {gull-2026-01: {input: 1.5}}\n"
    defaults = "kind: defaults\narm: {prices: of-april}\n"
    arm = ARM.replace("prices: of-march\n", "")

    catalog = load(
        {"fixtures/newer.yaml": newer, "arms/defaults.yaml": defaults, "arms/released.yaml": arm}
    )

    prices = catalog.arms["released"].prices
    assert prices is not None
    assert (prices.input, prices.output) == (1.5, 4.0)
    assert catalog.place("arm", "released", "prices.input") == "fixtures/newer.yaml:5:32"


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        (ARM.replace("of-march", "of-mach"), "9:9: there is no fixture `of-mach`; did you mean `of-march`?"),
        (ARM.replace("of-march", "storm"), "9:9: fixture `storm` is of type `answers`, expected `prices`"),
        (ARM.replace("gull-", "gul-"),
         "9:9: price list `of-march` has no model `gul-2026-01`; did you mean `gull-2026-01`?"),
        (harbour.ARM + "prices: of-march\n",
         "8:9: price list `of-march` has prices by model, and there is no `model` with a `name`"),
    ],
)  # fmt: skip
def test_prices_that_cannot_be_told_are_told_at_the_arm(arm: str, said: str):
    assert told({"arms/released.yaml": arm}) == [f"arms/released.yaml:{said}"]


def test_a_wrong_price_is_told_once_in_the_list():
    (problem,) = told(
        {
            "fixtures/prices.yaml": LIST.replace("input: 1.0", "input: -1.0"),
            "arms/released.yaml": ARM,
            "arms/other.yaml": ARM.replace("id: released", "id: other"),
        }
    )

    assert problem.startswith("fixtures/prices.yaml:6:25: `input`: expected a number at least 0")


def test_a_list_that_cannot_be_read_is_told_alone():
    found = told({"fixtures/prices.yaml": LIST + "models: {}\n", "arms/released.yaml": ARM})

    assert found == ["fixtures/prices.yaml:8:1: key `models` stands twice, first at 5:1"]
