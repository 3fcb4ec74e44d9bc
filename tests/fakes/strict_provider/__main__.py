"""The stand-in as a process of its own: prints its URL, and serves until it is stopped."""

from __future__ import annotations

import argparse
import signal
from threading import Event

from tests.fakes.strict_provider.server import StrictProvider


def main() -> None:
    parser = argparse.ArgumentParser(prog="strict_provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--mode", choices=("strict", "silent"), default="strict")
    parser.add_argument("--api-key", help="the only key to take; default: any but hango's")
    options = parser.parse_args()
    stopped = Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stopped.set())
    with StrictProvider(port=options.port, mode=options.mode, api_key=options.api_key) as provider:
        print(provider.url, flush=True)
        stopped.wait()


if __name__ == "__main__":
    main()
