"""`{{name}}` in texts."""

from seatrial.documents.placeholders import fill, names, whole


def test_a_text_that_is_one_placeholder_takes_the_value_with_its_type():
    assert fill({"a": " {{ x }} ", "b": ["{{x}}!"]}, {"x": 5}.__getitem__) == {"a": 5, "b": ["5!"]}


def test_what_is_put_in_is_not_looked_at_again():
    assert fill("{{x}}", {"x": "{{y}}"}.__getitem__) == "{{y}}"
    assert fill("a {{x}}", {"x": "{{y}}"}.__getitem__) == "a {{y}}"


def test_names_are_found_in_keys_and_items():
    assert list(names({"{{a}}": ["{{ b }} and {{c}}"]})) == ["a", "b", "c"]


def test_only_one_placeholder_and_nothing_else_is_whole():
    assert whole("{{ a.b }}") == "a.b"
    assert whole("{{a}} {{b}}") is None
    assert whole("a") is None


def test_a_long_text_of_white_space_is_read_in_one_pass():
    assert list(names("{{" + " " * 200_000)) == []
