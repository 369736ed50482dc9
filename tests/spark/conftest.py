"""One session of Spark for all tests, on this machine, with two threads; it answers Spark Connect, too."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

#: Where the session answers clients of Spark Connect, if their packages are installed.
CONNECT = "spark.connect.grpc.binding.port"
ADAPTIVE = "spark.sql.adaptive.enabled"
JAVA = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)


def _missing(said: str) -> None:
    """Skip the test, and say why; in continuous integration what is missing is a fault."""
    if os.environ.get("CI") == "true":
        pytest.fail(said)
    pytest.skip(said)


def free_port() -> int:
    """A port that nobody uses, below those that connections get: none takes it while Java starts."""
    for port in random.Random(os.getpid()).sample(range(20_000, 32_000), 100):
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        _missing("no Java here (make test installs one through apt where it may)")
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    here = Path(__file__).parent
    paths = [str(here.parents[1] / "src"), str(here), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    where = tmp_path_factory.mktemp("spark")
    builder = sql.SparkSession.builder
    if importlib.util.find_spec("grpc") and importlib.util.find_spec("grpc_status"):
        builder = builder.config(CONNECT, str(free_port()))
        builder = builder.config("spark.connect.grpc.binding.address", "127.0.0.1")
        builder = builder.config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
    session = (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        # Data are small and the machine lives for a minute: to compile for speed, to check Spark's own classes and to
        # plan anew after every stage takes longer than it saves. Clients of Spark Connect have plans that adapt.
        .config("spark.driver.extraJavaOptions", " ".join(JAVA))
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config(ADAPTIVE, "false")
        .config("spark.python.daemon.module", "forking")  # beside this file
        .config("spark.local.dir", str(where))
        .config("spark.sql.warehouse.dir", str(where / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def connected(spark: Any) -> Iterator[Any]:
    """A client of Spark Connect at the session that all tests share."""
    port = spark.conf.get(CONNECT, None)
    if port is None:
        _missing("packages of Spark Connect are not installed: pip install 'pyspark[connect]'")
    with pytest.MonkeyPatch.context() as patch:
        # What PySpark sets itself when a process begins with a remote session; this one has one of the other kind.
        patch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        session.conf.set(ADAPTIVE, "true")  # as Spark has it unless told
        yield session
        session.stop()
