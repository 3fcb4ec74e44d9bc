"""From a queued job to the thread that waits for its end, beside Celery's own results (P17)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.api.hub import Hub
from app.domain.ids import new_id
from app.domain.jobs import Job
from app.queue import Queue
from app.runtime import redis_client
from app.settings import Secret, Settings
from bench.measure import Finding, ratio
from bench.servers import Ground
from bench.trying import bare_worker

THREADS = 50  # of either worker
_DATABASE = 8  # of Redis: hango's workers that other measurements have started look elsewhere
_PAIRS = 100
_LONGEST = 20.0  # seconds


def awake(ground: Ground) -> Iterator[Finding]:
    """P17: hango's queue, job and hub; a worker does nothing in between."""
    services = replace(ground.services, redis_url=f"{ground.services.redis_url}?db={_DATABASE}")
    settings = Settings(
        database_url=Secret(services.database_url), redis_url=Secret(services.redis_url)
    )
    queue, redis = Queue(settings), redis_client(settings)
    hub = Hub(redis, lambda _: (), waits=1, streams=0)
    process = ground.worker("", threads=THREADS, application="bench.telling", services=services)
    try:
        with bare_worker(ground) as bare:
            nothing = bare.signature("nothing")

            def ours() -> None:
                work_id = new_id()
                with hub.waiting(work_id, None) as place:
                    assert place
                    hub.listen()
                    queue.send(Job.EXECUTE_TRY, str(work_id))
                    assert place.event.wait(_LONGEST), process.last_words()

            found = ratio(ours, lambda: nothing.delay().get(timeout=_LONGEST), _PAIRS)
    finally:
        process.stop(30)
        queue.close()
    yield Finding("P17", "job queued to waiter awake / Celery's delay().get()", 0.85, found)
