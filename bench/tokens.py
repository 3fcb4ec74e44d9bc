"""Hostile texts beside prose, and pieces beside the whole: `python -m bench.tokens`.

Prints how much longer counting 4 MB of one character, or of random ones, takes than the same bytes
of prose (goal P30: at most 6 times, never an exception), and how far counting in pieces is from
counting at once (P31: nothing up to 16,384 characters, at most 0.05 % above).
"""

from __future__ import annotations

import gc
import random
import string
from statistics import median
from time import perf_counter

from app.tokens.estimator import estimator_for
from app.tokens.pieces import PIECE, pieces
from bench.measurements import ENCODE, read

BYTES = 4_000_000
PAIRS = 3  # of a hostile text and prose, timed in turns
WHOLE = 400_000  # characters that tiktoken still takes at once

SINGLE = (" ", "\t", "\n", "\u00a0", "=", "-", "a", "0", "^", "é", "漢", "😀", "\ud800", "\u200d")
ALPHABETS = {
    "letters": string.ascii_letters,
    "base64": string.ascii_letters + string.digits + "+/",
    "hex": "0123456789abcdef",
    "digits": string.digits,
    "punctuation": string.punctuation,
    "blanks": " \t\r\n",
    "CJK": "".join(map(chr, range(0x4E00, 0x9FFF))),
    "any of U+0020 to U+2FFF": "".join(map(chr, range(0x20, 0x3000))),
}


def prose() -> str:
    """What models wrote, as far as it is plain text, up to BYTES characters of ASCII."""
    texts = (
        block["text"]
        for row in read()
        if row.kind == "output_text"
        for block in row.raw.get("content", ())
    )
    text = "\n\n".join(texts).encode("ascii", "ignore").decode()
    return (text * (BYTES // len(text) + 1))[:BYTES]


def hostile(size: int) -> dict[str, str]:
    """Texts of `size` bytes by name."""
    chance = random.Random(4)  # the same texts in each run
    named = {f"{character!a} alone": character for character in SINGLE} | ALPHABETS
    texts = {}
    for name, alphabet in named.items():
        width = max(1, round(len(alphabet.encode(errors="surrogatepass")) / len(alphabet)))
        count = size // width
        one = len(alphabet) == 1
        texts[name] = alphabet * count if one else "".join(chance.choices(alphabet, k=count))
    return texts


def seconds(text: str) -> float:
    """How long one count takes."""
    gc.collect()
    start = perf_counter()
    estimator_for("claude-opus-5").message("user", [{"type": "text", "text": text}])
    return perf_counter() - start


def main() -> None:
    """Print both tables."""
    plain = prose()
    seconds(plain)
    print("| 4 MB of | time over prose |\n|---|---|")
    for name, text in hostile(BYTES).items():
        ratios = [seconds(text) / seconds(plain) for _ in range(PAIRS)]
        print(f"| {name} | {median(ratios):.1f} |")
    print("\n| text | tokens | in pieces | error % |\n|---|---|---|---|")
    for name, text in {"prose": plain[:WHOLE], **hostile(WHOLE)}.items():
        whole, cut = len(ENCODE(text)), sum(len(ENCODE(piece)) for piece in pieces(text))
        print(f"| {name} | {whole} | {cut} | {100 * (cut / whole - 1):+.4f} |")
    assert all(list(pieces(text)) == [text] for text in ("", "a" * PIECE))


if __name__ == "__main__":
    main()
