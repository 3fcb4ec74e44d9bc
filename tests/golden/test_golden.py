"""Whole requests, word for word: what a change of a prompt or of the chain does is seen here."""

from __future__ import annotations

import json

import pytest

from app.domain.catalogue import facts_for
from app.domain.validity.request import check_request
from tests.golden.cases import CASES, FOLDER, TALK, Shelf, an_agent, request_of, written
from tests.history import assistant, user


@pytest.mark.parametrize("name", CASES)
def test_the_request_is_the_one_that_is_kept(name):
    kept = (FOLDER / f"{name}.json").read_text(encoding="utf-8")

    assert written(CASES[name]()) == kept


@pytest.mark.parametrize("name", CASES)
def test_the_kept_request_is_valid(name):
    body = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))

    assert check_request(body, facts_for(body["model"])) == []


def test_every_kept_request_has_a_case():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(CASES)


def test_consecutive_requests_of_a_conversation_extend_one_prefix():
    longer = [*TALK, assistant("You are welcome."), user("One more thing")]
    first = request_of(TALK, an_agent(), Shelf())
    second = request_of(longer, an_agent(), Shelf())

    assert second["tools"] == first["tools"]
    assert second["system"] == first["system"]
    assert second["messages"][: len(first["messages"])] == first["messages"]
