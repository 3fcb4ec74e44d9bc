"""Memory, session files and skills: paths and names as exact strings."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.api.problems import assert_problem, codes
from tests.factories import Caller, make_agent, make_session

PATHS = [
    "/memories/AGENTS.md",
    "/memories/a+b.md",
    "/memories/R&D #1 50%.md",
    "/memories/%2Fnot%20decoded%2525.md",
    "/memories/日本.md",
    "/memories/e\u0301 and \u00e9.md",
    "/memories/?x=1&after=2",
    "/memories/a;b=c,d@e:f!g'h(i)*~.md",
    "/memories/back\\slash.md",
    '/memories/"quoted" <b>.md',
    "/memories/...",
    "/memories/.hidden",
    "/memories/deep/er/and/deeper.md",
    "/memories/memories/x.md",
    "/memories/ leading and trailing ",
    "/memories/" + "x" * 390,
]
REFUSED = [
    "/memories//x.md",
    "/memories/../x.md",
    "/memories/a/./b.md",
    "/memories/a/",
    "/memories/",
    "/memories",
    "/notes.md",
    "/memories/\x00.md",
    "/memories/a\nb.md",
    "/memories/\x7f",
    "/memories/" + "x" * 391,
]


def encoded(path: str) -> str:
    return quote(path, safe="")


def raw(path: str) -> str:
    return quote(path.removeprefix("/"))


Spelled = Callable[[str], str]


@pytest.mark.parametrize("spelled", [encoded, raw, quote])
def test_a_memory_file_comes_back_under_its_exact_path(member: Caller, spelled: Spelled) -> None:
    memory = f"/v1/agents/{make_agent(member)}/memory"

    for number, path in enumerate(PATHS):
        url = f"{memory}/{spelled(path)}"
        written = member.put(url, json={"content": f"content {number}"})
        assert written.status_code == 200, (path, written.text)
        assert written.json["path"] == path
        assert member.get(url).json == written.json
    listed = [file["path"] for file in member.get(f"{memory}?limit=200").json["items"]]
    assert listed == sorted(PATHS)
    for path in PATHS:
        assert member.delete(f"{memory}/{spelled(path)}").status_code == 204
    assert member.get(memory).json["items"] == []


@pytest.mark.parametrize("path", REFUSED)
def test_a_path_is_refused_rather_than_cleaned_up(member: Caller, path: str) -> None:
    memory = f"/v1/agents/{make_agent(member)}/memory"
    assert member.put(f"{memory}/memories/x.md", json={"content": "x"}).status_code == 200

    refused = member.put(f"{memory}/{encoded(path)}", json={"content": "y"})

    assert_problem(refused, 422, "bad_path")
    assert member.get(f"{memory}/{encoded(path)}").status_code == 404
    assert member.get(f"{memory}/memories/x.md").json["content"] == "x"


def test_bytes_that_are_no_utf8_name_nothing(member: Caller) -> None:
    memory = f"/v1/agents/{make_agent(member)}/memory"

    assert_problem(member.put(f"{memory}/memories/%ff.md", json={"content": "x"}), 422, "bad_path")


def test_memory_is_stored_clean_and_versioned(member: Caller) -> None:
    url = f"/v1/agents/{make_agent(member)}/memory/memories/a.md"

    first = member.put(
        url, data='{"content": "a\\u0000b \\ud83d"}', content_type="application/json"
    )
    same = member.put(url, json={"content": "a\ufffdb \ufffd"})
    other = member.put(url, json={"content": ""})

    assert first.json["content"] == "a\ufffdb \ufffd"
    assert [reply.json["version"] for reply in (first, same, other)] == [1, 1, 2]
    assert other.headers["ETag"] == '"2"'


def test_a_session_file_lies_anywhere_but_in_memory(member: Caller) -> None:
    files = f"/v1/sessions/{make_session(member)}/files"

    written = member.put(f"{files}/{encoded('/src/a b#.py')}", json={"content": "x = 'ü'"})
    refused = member.put(f"{files}/memories/x.md", json={"content": "x"})

    assert written.json["path"] == "/src/a b#.py"
    assert member.get(f"{files}/src/a%20b%23.py").json["content"] == "x = 'ü'"
    assert member.get(files).json["items"][0]["path"] == "/src/a b#.py"
    assert "content" not in member.get(files).json["items"][0]
    assert_problem(refused, 422, "bad_path")
    assert member.delete(f"{files}/src/a%20b%23.py").status_code == 204
    assert member.get(files).json["items"] == []


def test_files_are_listed_in_pages(member: Caller) -> None:
    memory = f"/v1/agents/{make_agent(member)}/memory"
    for name in "cabed":
        member.put(f"{memory}/memories/{name}", json={"content": name})

    first = member.get(f"{memory}?limit=3").json
    second = member.get(f"{memory}?limit=3&after={first['next']}").json

    names = [file["path"][-1] for file in first["items"] + second["items"]]
    assert names == list("abcde")
    assert second["next"] is None


SKILL = {"description": "How to.", "body": "# Do it", "allowed_tools": ["read_file"]}


def test_a_skill_comes_back_as_it_was_written(member: Caller) -> None:
    skills = f"/v1/agents/{make_agent(member)}/skills"

    written = member.put(f"{skills}/pdf-forms", json=SKILL)

    assert written.json == SKILL | {"name": "pdf-forms", "version": 1}
    assert member.get(f"{skills}/pdf-forms").json == written.json
    assert "body" not in member.get(skills).json["items"][0]
    assert member.put(f"{skills}/pdf-forms", json=SKILL | {"body": "x"}).json["version"] == 2
    assert member.delete(f"{skills}/pdf-forms").status_code == 204
    assert member.get(f"{skills}/pdf-forms").status_code == 404


def test_a_skill_without_a_list_of_tools_narrows_nothing(member: Caller) -> None:
    url = f"/v1/agents/{make_agent(member)}/skills/x"
    body = {"description": "d", "body": "b"}

    assert member.put(url, json=body).json["allowed_tools"] is None
    assert member.put(url, json=body | {"allowed_tools": []}).json["allowed_tools"] == []


@pytest.mark.parametrize("name", ["Upper", "under_score", "a--b", "-a", "a-", "ä", "x" * 65, "a b"])
def test_a_skill_name_is_small_letters_digits_and_single_hyphens(member: Caller, name: str) -> None:
    reply = member.put(f"/v1/agents/{make_agent(member)}/skills/{quote(name)}", json=SKILL)

    assert codes(reply) == [("name", "invalid")]


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"description": ""}, "description"),
        ({"description": None}, "description"),
        ({"body": 5}, "body"),
        ({"allowed_tools": "read_file"}, "allowed_tools"),
        ({"allowed_tools": ["read file"]}, "allowed_tools[0]"),
    ],
)
def test_a_skill_of_another_shape_is_refused(
    member: Caller, change: dict[str, object], at: str
) -> None:
    reply = member.put(f"/v1/agents/{make_agent(member)}/skills/x", json=SKILL | change)

    assert reply.status_code == 422
    assert at in [where for where, _ in codes(reply)]
