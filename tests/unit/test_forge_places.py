"""Where a repository lies at GitHub, by the environment or by git's remote."""

import pytest

from seatrial.errors import UsageError
from seatrial.forge import Place, place

HOME = Place("https://api.github.com", "acme/helpdesk")


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/acme/helpdesk.git",
        "https://github.com/acme/helpdesk",
        "https://x-access-token:ghs_secret@github.com/acme/helpdesk/",
        "git@github.com:acme/helpdesk.git",
        "ssh://git@github.com/acme/helpdesk.git",
        "ssh://git@ssh.github.com:443/acme/helpdesk.git",
    ],
)
def test_remote_at_github_names_the_repository(remote: str):
    assert place({}, remote=remote) == HOME


def test_remote_at_a_server_of_ones_own_has_its_api_there():
    found = place({}, remote="git@code.example.com:acme/helpdesk.git")

    assert found == Place("https://code.example.com/api/v3", "acme/helpdesk")


def test_what_is_named_comes_before_the_environment_and_that_before_the_remote():
    environment = {"GITHUB_REPOSITORY": "acme/other", "GITHUB_API_URL": "http://127.0.0.1:1"}
    remote = "https://github.com/acme/helpdesk"

    assert place(environment, remote=remote) == Place("http://127.0.0.1:1", "acme/other")
    assert place(environment, repository="acme/third", remote=remote).repository == "acme/third"


@pytest.mark.parametrize(
    "remote", [None, "/srv/git/helpdesk.git", "https://github.com/acme", "x:y"]
)
def test_without_a_repository_it_says_what_to_type(remote: str | None):
    with pytest.raises(UsageError, match="nothing says which repository") as caught:
        place({}, remote=remote)

    assert caught.value.hint == "name it: --repository OWNER/NAME"


@pytest.mark.parametrize("name", ["acme", "acme/../x", "acme/..", "a/b/c", "acme/x?y", "acme/x y"])
def test_name_that_is_none_is_refused(name: str):
    with pytest.raises(UsageError, match="is no repository"):
        place({}, repository=name)


def test_password_in_a_remote_is_never_shown():
    with pytest.raises(UsageError) as caught:
        place({}, remote="https://user:hunter2@example.com/only-one-part")

    assert "hunter2" not in caught.value.render()
