"""Every name of telemetry is in the tables that the reference is written from."""

from __future__ import annotations

from app.telemetry import names, sieve


def test_every_name_is_in_a_table() -> None:
    constants = {
        value
        for constant, value in vars(names).items()
        if constant.isupper() and isinstance(value, str)
    }
    spans = {name.partition(" ")[0] for name in names.SPANS}

    listed = spans | names.EVENTS.keys() | names.ATTRIBUTES.keys() | names.METRICS.keys()

    assert constants == listed


def test_every_label_is_an_attribute_that_is_explained() -> None:
    for name, metric in names.METRICS.items():
        assert set(metric.attributes) <= names.ATTRIBUTES.keys(), name


def test_nothing_that_names_one_person_or_thing_becomes_a_label() -> None:
    ids = {names.CONVERSATION, names.RUN_ID, names.TRY_ID, names.AGENT, names.RESPONSE_ID}

    assert not ids & sieve.LABELS
