"""What happened in a trial becomes documents that can be read back, and what cannot is named."""

from typing import Any

from seatrial import drafts
from seatrial.documents import Answers, Solution
from seatrial.documents.golden import GoldenStep
from seatrial.tools import Tool
from seatrial.trace import Answer, Called, Replied, Said, Trace


def called(number: int, tool: str, arguments: dict[str, Any], answer: Any, **more: Any) -> Called:
    given = answer if isinstance(answer, Answer) else Answer.of_text("…", structured=answer)
    known: dict[str, Any] = {"turn": 1, "server": "shop", "answered_by": "world", "read_only": True}
    return Called(number=number, tool=tool, arguments=arguments, answer=given, **(known | more))


def trace(*events: Any, run_token: str = "k3v9x2m7qa") -> Trace:
    return Trace(case="c", arm="by-hand", number=1, run_token=run_token, events=events)


def test_what_only_an_earlier_call_gave_is_named_by_that_call():
    played = trace(
        Said(turn=1, text="Refund the order of Ada (o-12)."),
        called(1, "find", {"customer": "Ada"}, {"orders": [{"id": "o-12", "payment": "p-77"}]}),
        called(2, "find", {"customer": "?"}, Answer.of_text("no such customer", is_error=True)),
        called(3, "refund", {"order": "o-12", "of": ["p-77", 5]}, {"refund": {"id": "r-1"}}),
        called(4, "tell", {"text": "r-1", "run": "k3v9x2m7qa-2", "no": "xk3v9x2m7qa"}, None),
        Replied(turn=1, text="Done, it is r-1."),
    )

    draft = drafts.solution(played, 1)

    assert draft.content["solution"]["calls"] == [
        {"tool": "find", "arguments": {"customer": "Ada"}},
        {
            "tool": "refund",
            "arguments": {"order": "o-12", "of": ["{{calls.1.orders.0.payment}}", 5]},
        },
        {
            "tool": "tell",
            "arguments": {
                "text": "{{calls.2.refund.id}}",
                "run": "{{run}}-2",
                "no": "xk3v9x2m7qa",
            },
        },
    ]
    assert draft.content["solution"]["reply"] == "Done, it is r-1."
    assert draft.left_out == ("call 2, find: it came to an error",)
    Solution.model_validate(draft.content["solution"])


def test_turns_without_calls_and_tools_of_two_servers_stay_apart():
    played = trace(
        called(1, "find", {}, None, turn=2),
        called(2, "find", {}, None, turn=2, server="store"),
        called(3, "drop", {}, Answer.of_text("no", is_error=True), turn=2, refused="role clerk"),
        called(4, "find", {"q": "{{now}}"}, None, turn=2),
    )

    draft = drafts.solution(played, 3)

    assert draft.content == {
        "solution": {"turns": [{}, {"calls": [{"tool": "shop/find"}, {"tool": "store/find"}]}, {}]}
    }
    assert draft.left_out == (
        "call 3, drop: it was refused",
        "call 4, find: its arguments hold what reads as a placeholder",
    )


def test_a_conversation_becomes_a_golden_one_with_the_calls_that_do_more_than_read():
    played = trace(
        Said(turn=1, text="Is the saw in? I am k3v9x2m7qa."),
        called(1, "find", {"q": "saw"}, {"found": ["saw"]}),
        Replied(turn=1, text="It is 1 of 2."),
        Said(turn=2, text="Then I take it."),
        called(2, "lend", {"to": "k3v9x2m7qa", "of": ["saw"]}, None, turn=2, read_only=False),
        called(3, "scrap", {}, Answer.of_text("no", is_error=True), turn=2, refused="role"),
        called(4, "close", {}, None, turn=2, read_only=None),
        Replied(turn=2, text="Here, {{you}}."),
    )

    draft = drafts.golden(played)

    assert draft.content == {
        "golden": [
            {"say": "Is the saw in? I am {{run}}.", "calls": [], "reply": "It is 1 of 2."},
            {
                "say": "Then I take it.",
                "calls": [
                    {"tool": "lend", "arguments": {"to": "{{run}}", "of": {"equals": ["saw"]}}},
                    "close",
                ],
            },
        ]
    }
    assert draft.left_out == (
        "call 3, scrap: it was refused",
        "the reply to turn 2: it holds what reads as a placeholder",
    )
    for step in draft.content["golden"]:
        GoldenStep.model_validate(step)


def test_a_golden_conversation_of_several_people_says_who_speaks():
    played = trace(
        Said(turn=1, text="Ada Berg: The saw, please.", by="ada"),
        Replied(turn=1, text="Here."),
        Said(turn=2, text="Tom: And the drill.", by="tom"),
    )

    draft = drafts.golden(played, {"ada": "Ada Berg", "tom": "Tom", "eve": "Eve"})

    assert draft.content == {
        "speakers": {"ada": "Ada Berg", "tom": "Tom"},
        "golden": [
            {
                "say": "The saw, please.",
                "by": "ada",
                "calls": [],
                "reply": "Here.",
                "match": "shown",
            },
            {"say": "And the drill.", "by": "tom", "calls": []},
        ],
    }


def test_of_a_conversation_that_nobody_wrote_the_solution_has_the_turns_that_were_said():
    played = trace(
        Said(turn=1, text="Hello."),
        Replied(turn=1, text="Hello."),
        Said(turn=2, text="The saw."),
        called(1, "find", {}, None, turn=2),
    )

    assert drafts.solution(played, 0).content == {
        "solution": {"turns": [{"reply": "Hello."}, {"calls": [{"tool": "find"}]}]}
    }


def test_answers_are_told_apart_by_the_arguments_that_were_given_and_by_those_that_were_not():
    played = trace(
        called(1, "find", {"q": "saw"}, {"found": ["saw"]}),
        called(2, "find", {"q": "saw", "tags": ["old"]}, {"found": []}),
        called(3, "find", {}, Answer.of_text("say what", is_error=True)),
        called(4, "find", {"q": "saw"}, {"found": ["saw"]}),
        called(5, "look", {"id": 1}, Answer.of_text("a saw")),
    )

    draft = drafts.answers(played, "seen")

    assert draft.content["tools"] == {
        "find": {
            "rules": [
                {"when": {"q": "saw", "tags": {"absent": True}}, "answer": {"found": ["saw"]}},
                {"when": {"q": "saw", "tags": {"equals": ["old"]}}, "answer": {"found": []}},
                {"when": {"q": {"absent": True}, "tags": {"absent": True}}, "error": "say what"},
            ]
        },
        "look": {"rules": [{"when": {"id": 1}, "answer": "a saw"}]},
    }
    assert draft.left_out == ()
    Answers.model_validate(draft.content)


def test_the_same_question_answered_differently_is_a_sequence():
    played = trace(
        called(1, "state", {}, {"open": True}),
        called(2, "state", {}, {"open": False}),
    )

    draft = drafts.answers(played, "seen")

    assert draft.content["tools"]["state"]["rules"] == [
        {"sequence": [{"answer": {"open": True}}, {"answer": {"open": False}}]}
    ]
    Answers.model_validate(draft.content)


def test_what_no_mocked_answer_can_say_is_left_out_and_named():
    image = Answer(content=({"type": "image", "data": "", "mimeType": "image/png"},))
    played = trace(
        called(1, "lend", {}, None, read_only=False),
        called(2, "lend", {}, None, read_only=None),
        called(3, "draw", {}, image),
        called(4, "find", {"a.b": 1}, {}),
        called(5, "find", {}, {"text": "Hello {{name}}"}),
        called(6, "find", {}, Answer.of_text("Unknown tool", is_error=True), answered_by="gateway"),
    )

    draft = drafts.answers(played, "seen")

    assert draft.content["tools"] == {}
    assert [sentence.partition(": ")[2] for sentence in draft.left_out] == [
        "the tool does not say that it only reads",
        "the tool does not say that it only reads",
        "its answer is more than one text",
        "an argument has a dot in its name, where no condition reaches",
        "it holds what reads as a placeholder",
        "it was not carried out",
    ]


def test_saved_answers_say_which_schemas_they_were_written_for():
    played = trace(called(1, "find", {"q": "x"}, {"n": 1}), called(2, "seek", {}, {"n": 2}))
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    tools = {
        "find": Tool(
            name="find", description="", input_schema=schema, output_schema={"type": "object"}
        ),
        "seek": Tool(name="seek", description="", input_schema={"title": "{{x}}"}),
    }

    draft = drafts.answers(played, "seen", tools)

    fixture = Answers.model_validate(draft.content)
    written = fixture.tools["find"].written_for
    assert written is not None
    assert (written.parameters, written.output) == (schema, {"type": "object"})
    assert fixture.tools["seek"].written_for is None
