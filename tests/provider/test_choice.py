"""Which provider the settings lead to."""

from __future__ import annotations

import pytest

from app.provider.anthropic import AnthropicProvider
from app.provider.choice import provider_for
from app.provider.offline import OfflineProvider
from app.settings import BadSettings, Settings

NEEDED = {"HANGO_DATABASE_URL": "postgresql://x", "HANGO_REDIS_URL": "redis://x"}


def settings(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name, value in {**NEEDED, **variables}.items():
        monkeypatch.setenv(name, value)
    return Settings.from_environment()


def test_without_a_key_the_stand_in_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(provider_for(settings(monkeypatch)), OfflineProvider)


def test_with_a_key_the_model_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = provider_for(settings(monkeypatch, HANGO_ANTHROPIC_API_KEY="sk-ant-1"))

    assert isinstance(chosen, AnthropicProvider)
    assert repr(chosen) == "AnthropicProvider('https://api.anthropic.com')"


def test_with_a_key_the_stand_in_answers_only_when_named(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings(monkeypatch, HANGO_ANTHROPIC_API_KEY="sk-ant-1", HANGO_PROVIDER="offline")

    assert isinstance(provider_for(chosen), OfflineProvider)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HANGO_PROVIDER", "openai"),
        ("HANGO_ANTHROPIC_BASE_URL", "api.anthropic.com"),
        ("HANGO_ANTHROPIC_BASE_URL", "ftp://api.anthropic.com"),
        ("HANGO_ANTHROPIC_API_KEY", "sk-ant-1\n"),
        ("HANGO_ANTHROPIC_API_KEY", "sk ant"),
        ("HANGO_ANTHROPIC_API_KEY", "schlüssel"),
    ],
)
def test_a_bad_value_stops_the_start_in_one_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    with pytest.raises(BadSettings) as caught:
        settings(monkeypatch, **{variable: value})

    assert variable in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "API_KEY" not in variable or value.strip() not in str(caught.value)


def test_the_model_without_a_key_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSettings, match="HANGO_ANTHROPIC_API_KEY"):
        settings(monkeypatch, HANGO_PROVIDER="anthropic")


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/anthropic", "https://gateway.internal"])
def test_a_server_of_ones_own_is_taken(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    assert settings(monkeypatch, HANGO_ANTHROPIC_BASE_URL=url).anthropic_base_url == url
