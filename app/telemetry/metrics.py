"""Metrics: counted where things happen, kept when they are on. Names: app/telemetry/names.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

Labels = Mapping[str, str]  # few values each: models, outcomes; never ids of sessions or people

NONE: Labels = {}


class Metering(Protocol):
    """What keeps metrics."""

    def count(self, name: str, labels: Labels) -> None:
        """Add one to a counter."""

    def record(self, name: str, value: float, labels: Labels) -> None:
        """Add a value to a histogram."""

    def observe(self, name: str, values: Mapping[str, float], label: str) -> None:
        """Report a gauge once, with one value for each value of `label`."""


class _Off:
    def count(self, name: str, labels: Labels) -> None:
        pass

    def record(self, name: str, value: float, labels: Labels) -> None:
        pass

    def observe(self, name: str, values: Mapping[str, float], label: str) -> None:
        pass


OFF = _Off()

_metering: Metering = OFF


def use(metering: Metering) -> None:
    """Keep metrics by this from now on. See app/telemetry/setup.py."""
    global _metering
    _metering = metering


def count(name: str, labels: Labels = NONE) -> None:
    """Add one to a counter."""
    _metering.count(name, labels)


def record(name: str, value: float, labels: Labels = NONE) -> None:
    """Add a value to a histogram."""
    _metering.record(name, value, labels)


def observe(name: str, values: Mapping[str, float], label: str) -> None:
    """Report a gauge, once and by this process alone: others may know it better next time."""
    _metering.observe(name, values, label)
