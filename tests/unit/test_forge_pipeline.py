"""The change that a job of GitLab CI is about, by its predefined variables."""

import pytest

from seatrial.errors import UsageError
from seatrial.forge import Pipeline, merge_request

HEAD, MERGE = "a" * 40, "b" * 40
JOB = {
    "CI_PROJECT_PATH": "acme/agents/helpdesk",
    "CI_PROJECT_ID": "7",
    "CI_PROJECT_URL": "https://gitlab.example.com/acme/agents/helpdesk",
    "CI_PIPELINE_URL": "https://gitlab.example.com/acme/agents/helpdesk/-/pipelines/900",
    "CI_PIPELINE_ID": "900",
    "CI_COMMIT_SHA": HEAD,
}
OF_REQUEST = JOB | {
    "CI_MERGE_REQUEST_IID": "12",
    "CI_MERGE_REQUEST_PROJECT_ID": "7",
    "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "7",
}


def test_merge_request_pipeline_is_of_its_source_branch():
    subject = merge_request(OF_REQUEST)

    assert (subject.commit, subject.pull_request, subject.from_fork) == (HEAD, 12, False)
    assert subject.repository == "acme/agents/helpdesk"
    assert subject.run_url.endswith("/-/pipelines/900")
    assert subject.pipeline == Pipeline(900, HEAD)


def test_pipeline_of_merged_results_is_about_the_head_and_stands_at_the_merge():
    environment = OF_REQUEST | {
        "CI_COMMIT_SHA": MERGE,
        "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD,
    }

    subject = merge_request(environment)

    assert (subject.commit, subject.pipeline) == (HEAD, Pipeline(900, MERGE))


def test_pipeline_in_a_fork_has_no_merge_request_to_write_to():
    environment = OF_REQUEST | {"CI_PROJECT_ID": "8", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "8"}

    subject = merge_request(environment)

    assert (subject.pull_request, subject.from_fork) == (None, True)


def test_pipeline_that_a_member_starts_for_a_fork_is_known_as_one():
    subject = merge_request(OF_REQUEST | {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "8"})

    assert (subject.pull_request, subject.from_fork) == (12, True)


def test_push_has_no_merge_request():
    subject = merge_request(JOB)

    assert (subject.commit, subject.pull_request, subject.from_fork) == (HEAD, None, False)
    assert subject.pipeline == Pipeline(900, HEAD)


def test_commit_that_is_named_stands_outside_of_this_pipeline():
    subject = merge_request(OF_REQUEST, commit=MERGE, number=3)

    assert (subject.commit, subject.pull_request, subject.pipeline) == (MERGE, 3, None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"CI_PROJECT_PATH": ""}, "CI_PROJECT_PATH does not name a project"),
        ({"CI_PROJECT_PATH": "../x y"}, "CI_PROJECT_PATH does not name a project"),
        ({"CI_COMMIT_SHA": "main"}, "'main' is not the full name of a commit"),
        ({"CI_COMMIT_SHA": ""}, "'' is not the full name of a commit"),
    ],
)
def test_environment_that_does_not_say_which_change_is_told(change: dict[str, str], said: str):
    with pytest.raises(UsageError, match=said.replace(".", r"\.")):
        merge_request(OF_REQUEST | change)


def test_address_that_is_none_is_no_link():
    subject = merge_request(JOB | {"CI_PROJECT_URL": "javascript:alert(1)", "CI_PIPELINE_URL": ""})

    assert (subject.web, subject.run_url) == ("", "")
