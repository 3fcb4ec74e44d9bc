"""A hango with the sample session in it, as `make run` leaves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest
from structlog.testing import capture_logs
from werkzeug.serving import make_server

from app.domain.principals import Role
from app.runtime import Runtime, build_runtime
from app.settings import Settings
from app.web import create_app
from cli import configuration
from cli.http import Api
from cli.operate import first_session
from tests.factories import make_caller, make_tenant


@dataclass(frozen=True)
class Sample:
    """Where it runs, a key for it, and the session."""

    url: str
    key: str
    session_id: str
    runtime: Runtime


@pytest.fixture
def sample(
    settings: Settings, clean_database: None, clean_redis: None, tmp_path: Path
) -> Iterator[Sample]:
    runtime = build_runtime(settings)
    app = create_app(runtime)
    listening = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    tenant = make_tenant(runtime.database)
    # The server's log goes to the stdout of this process, which is also the command's here.
    with app.test_client() as client, capture_logs():
        ann = make_caller(runtime.database, client, tenant, "ann", Role.ADMIN)
        url = f"http://127.0.0.1:{listening.server_port}"
        api = Api(configuration.parse(url, "the test", ann.key), 60.0)
        session_id = first_session.ensure(api, tmp_path)
        assert session_id
        yield Sample(url, ann.key, session_id, runtime)
    listening.shutdown()
    thread.join()
    listening.server_close()
    runtime.database.dispose()
    runtime.redis.close()
    runtime.queue.close()
