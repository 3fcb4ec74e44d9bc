"""Pages of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, and where the next page starts.

    `next` is the key of the last item, to be given as `after`; None on the last page. It is a
    position and gives no access: the next page is scoped anew.
    """

    items: Sequence[T]
    next: UUID | int | None
