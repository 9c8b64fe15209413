"""What keys mean is told by editors, by the reference and by whoever misses a key."""

from seatrial.documents import Arm, Case, Condition
from seatrial.documents.meanings import Described, meanings
from seatrial.documents.schemas import texts


def test_a_key_means_what_stands_below_it_in_the_model():
    assert meanings(Case)["trials"] == "Trials of this case; the suite says when left out."


def test_keys_of_the_models_it_is_made_from_mean_what_they_mean_there():
    assert meanings(Arm)["id"].startswith("The document's name")


def test_a_field_with_another_name_than_its_key_is_told_under_its_key():
    properties = Condition.model_json_schema(by_alias=True, schema_generator=Described)[
        "properties"
    ]

    assert properties["schema"]["description"] == meanings(Condition)["json_schema"]


def test_the_schemas_for_editors_tell_what_keys_mean():
    assert "Trials of this case; the suite says when left out." in texts()["case.json"]
