"""D33: the deadline holds in every pool of Celery's, whose own limits most of them ignore.

The threads pool, in which hango is shipped, is in tests/tries/test_workers.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import Settings
from tests.celery_worker import started
from tests.factories import until
from tests.fakes.strict_provider import Reply, Silence, StrictProvider, Trickle, text
from tests.faults.conftest import FINAL, Stage, staged

pytestmark = pytest.mark.processes

TIMEOUT = 3  # seconds
LATEST = 20  # far less than the provider takes, far more than a machine that is busy adds
PROCESSES = 4  # of the worker, as tests/celery_worker.py starts it


@pytest.fixture(params=["prefork", "gevent"])
def stage(
    request: pytest.FixtureRequest,
    settings: Settings,
    clean_database: None,
    clean_redis: None,
    tmp_path: Path,
) -> Iterator[Stage]:
    timeout = {"HANGO_CONTEXT_TRY_TIMEOUT": f"{TIMEOUT}s"}
    with (
        StrictProvider() as strict,
        staged(settings, strict) as made,
        started(settings, strict.url, tmp_path, "calls", pool=request.param, **timeout),
    ):
        # One for each process of the pool, whose first job takes longer than all others.
        strict.answer_by(lambda _body: Reply(blocks=[text("Here.")], delay=0.5))
        warm = [made.begin("tries", made.session()) for _ in range(PROCESSES)]
        until(lambda: all(made.get(each)["status"] in FINAL for each in warm), 60)
        yield made


def test_silence_and_a_byte_a_second_end_at_the_deadline(stage: Stage) -> None:
    stage.strict.reset()
    for fault in (Silence(), Trickle(), Trickle(head=False)):
        stage.strict.fail(fault)
    paths = [stage.begin("tries", stage.session()) for _ in range(3)]

    for path in paths:
        until(lambda path=path: stage.get(path)["status"] == "timed_out")  # type: ignore[misc]
        assert stage.get(path)["error"]["code"] == "deadline_passed"
    took = "SELECT EXTRACT(epoch FROM finished_at - started_at) FROM tries WHERE finished_at"
    longest = stage.ask(f"SELECT max(seconds) FROM ({took} IS NOT NULL) AS all_of_them(seconds)")
    assert TIMEOUT <= longest[0][0] < LATEST
    assert len(stage.strict.calls) == len(paths)
    assert stage.ended(stage.begin("tries", stage.session()))["status"] == "succeeded"
