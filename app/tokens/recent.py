"""What was worked out a short while ago, by the hash of what it was worked out from."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """Keeps the last `size` results. Their sources, which may be large, are not kept."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._results: OrderedDict[bytes, T] = OrderedDict()
        self._lock = Lock()

    def get(self, source: str, make: Callable[[str], T]) -> T:
        """`make(source)`, or its result from the last time. Two threads may both make it."""
        key = hashlib.blake2b(source.encode(errors="surrogatepass"), digest_size=16).digest()
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        result = make(source)
        with self._lock:
            self._results[key] = result
            while len(self._results) > self._size:
                self._results.popitem(last=False)
        return result
