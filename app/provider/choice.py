"""Which provider a deployment uses."""

from __future__ import annotations

from app.provider.anthropic import AnthropicProvider
from app.provider.base import Provider
from app.provider.offline import OfflineProvider
from app.settings import Settings


def provider_for(settings: Settings) -> Provider:
    """The provider that the settings name; without a name, the one that they allow.

    With a key nothing but HANGO_PROVIDER=offline leads to the stand-in. Opens no connection and
    loads no SDK: the first call does.
    """
    chosen = settings.provider or ("anthropic" if settings.anthropic_api_key else "offline")
    if chosen == "offline":
        return OfflineProvider()
    return AnthropicProvider(settings.anthropic_api_key, settings.anthropic_base_url)
