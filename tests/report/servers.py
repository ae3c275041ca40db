"""Private servers of PostgreSQL and MariaDB for the tests: a data directory of their own, a socket in it, no network.

A server is started at its first use and stopped at the end of the session (`tests/conftest.py`); every worker of
pytest-xdist has its own. The kernel ends a server whose worker was killed.
"""

from __future__ import annotations

import datetime
import functools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

ZONE = datetime.timezone(datetime.timedelta(hours=5, minutes=30))  # of sessions, on which no query may depend
PATIENCE = 60.0  # seconds until a server must answer
DEBIAN = "/usr/sbin:/usr/bin"
STARTED: list[tuple[subprocess.Popen[bytes], Path]] = []
CONNECTED: list[Any] = []


@functools.cache
def postgres() -> Any:
    """A connection to a PostgreSQL of this process."""
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda home: int(home.parent.name))
    found = str(homes[-1] / "postgres") if homes else shutil.which("postgres")
    if found is None or shutil.which("setpriv") is None:
        _absent("PostgreSQL", "postgresql")
    import psycopg

    home = _home("postgres")
    initdb = str(Path(found).with_name("initdb"))
    _run("postgres", home, [initdb, "-D", str(home / "data"), "-U", "test", "--auth=trust", "--no-sync",
                            "--encoding=UTF8", "--locale=C.UTF-8"])  # fmt: skip
    settings = {"listen_addresses": "", "unix_socket_directories": home, "fsync": "off", "full_page_writes": "off"}
    _start("postgres", home, [found, "-D", str(home / "data"), *(f"--{k}={v}" for k, v in settings.items())])
    connection = _answer(
        lambda: psycopg.connect(host=str(home), user="test", dbname="postgres", autocommit=True),
        home / ".s.PGSQL.5432",
    )
    connection.execute("SET TimeZone = 'Asia/Kolkata'")
    return connection


@functools.cache
def mariadb() -> Any:
    """A connection to a MariaDB of this process."""
    found, install = (shutil.which(name, path=DEBIAN) for name in ("mariadbd", "mariadb-install-db"))
    if found is None or install is None or shutil.which("setpriv") is None:
        _absent("MariaDB", "mariadb-server")
    import pymysql

    home = _home("mysql")
    socket = home / "server.sock"
    _run("mysql", home, [install, "--no-defaults", f"--datadir={home / 'data'}", "--skip-test-db",
                         "--auth-root-authentication-method=normal"])  # fmt: skip
    flags = ["--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M"]
    # The defaults of a server compare texts by no more than their letters, which queries must not depend on.
    text = ["--character-set-server=latin1", "--collation-server=latin1_swedish_ci"]
    paths = [f"--datadir={home / 'data'}", f"--socket={socket}", f"--pid-file={home / 'pid'}"]
    _start("mysql", home, [found, "--no-defaults", *paths, *flags, *text])

    def connect() -> Any:
        connection = pymysql.connect(
            unix_socket=str(socket), user="root", charset="utf8mb4", autocommit=True, local_infile=False
        )
        connection.cursor().execute("CREATE DATABASE tests CHARACTER SET utf8mb4")
        connection.select_db("tests")
        connection.cursor().execute("SET time_zone = '+05:30'")
        return connection

    return _answer(connect, socket)


def stop() -> None:
    """Stop what was started, and remove its files."""
    while CONNECTED:
        CONNECTED.pop().close()
    while STARTED:
        server, home = STARTED.pop()
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        shutil.rmtree(home, ignore_errors=True)


def _absent(name: str, package: str) -> None:
    reason = f"needs {name} on Debian: apt-get install {package}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _home(user: str) -> Path:
    """A directory for data and socket, with a path short enough for a socket; of `user` where this process is root."""
    home = Path(tempfile.mkdtemp(prefix=f"gridmodl-{user}-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(home, user, user)
    return home


def _as(user: str, command: Sequence[str]) -> list[str]:
    """The command as `user` where this process is root, because databases refuse root; it ends with this process."""
    rights = ["--reuid", user, "--regid", user, "--clear-groups"] if os.geteuid() == 0 else []
    return ["setpriv", *rights, "--pdeathsig", "KILL", *command]


def _own_files(home: Path) -> dict[str, str]:
    """Environment with `home` for temporary files: a MariaDB that starts deletes those that others have in /tmp."""
    return os.environ | {"TMPDIR": str(home)}


def _run(user: str, home: Path, command: Sequence[str]) -> None:
    done = subprocess.run(
        _as(user, command), cwd="/", env=_own_files(home), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _start(user: str, home: Path, command: Sequence[str]) -> None:
    with open(home / "log", "wb") as log:
        server = subprocess.Popen(
            _as(user, command), cwd="/", env=_own_files(home), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    STARTED.append((server, home))


def _answer(connect: Callable[[], Any], socket: Path) -> Any:
    """The connection, as soon as the server takes one; closed by `stop`."""
    server, home = STARTED[-1]
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if socket.exists():
                CONNECTED.append(connect())
                return CONNECTED[-1]
            problem = "there is no socket"
        except Exception as error:
            problem = str(error)
        if server.poll() is not None or time.monotonic() > end:
            pytest.fail(f"no answer: {problem}\n{(home / 'log').read_text(errors='replace')}")
        time.sleep(0.05)
