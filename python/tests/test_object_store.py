"""Stores in buckets, with a server of S3 here (moto). Skipped in a build without them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trammel as tm

moto_server = pytest.importorskip("moto.server")
boto3 = pytest.importorskip("boto3")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket of a server in this process."""
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    for name, value in {
        "AWS_ACCESS_KEY_ID": "mine",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT": url,
        "AWS_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)
    bucket = boto3.resource("s3", endpoint_url=url, region_name="us-east-1").create_bucket(Bucket="lab")
    try:
        tm.Scenario(
            duration="1 s", path=tm.Path(rate="1 Mbit/s", rtt="20 ms"), flows=[tm.Flow("reno")]
        ).run(store="s3://lab/first", threads=1)
    except RuntimeError as error:
        server.stop()
        if "`--features object-store`" in str(error):
            pytest.skip(str(error))
        raise
    bucket.objects.all().delete()
    yield bucket
    server.stop()


def names(bucket: Any) -> list[str]:
    return sorted(one.key for one in bucket.objects.all())


def tables(run: tm.Run) -> dict[str, str]:
    return {name: table.to_csv() for name, table in run.tables.items()}


def test_a_bucket_is_a_store(short: tm.Scenario, bucket: Any, tmp_path: Path) -> None:
    swept = short.replace(repeat=20).sweep({"path.queue.limit": ["1 bdp", "2 bdp", "4 bdp", "8 bdp"]})
    whole = tables(swept.run())
    run = swept.run(store="s3://lab/some/runs", threads=2)
    assert tables(run) == whole
    stored = names(bucket)
    assert len(stored) == 80 and all(name.startswith("some/runs/") for name in stored)
    # The command gathers it, with the files of a folder of its own.
    (tmp_path / "s.toml").write_text(swept.to_toml())
    words = [sys.executable, "-m", "trammel", "gather", "s.toml", "--store", "s3://lab/some/runs"]
    subprocess.run([*words, "-o", "out"], cwd=tmp_path, check=True)
    assert (tmp_path / "out" / "flows.csv").read_text() == whole["flows"]
    # In a folder, its files have the same bytes.
    swept.run(store=tmp_path / "runs", threads=2)
    for name in stored:
        file = tmp_path / "runs" / name.removeprefix("some/runs/")
        assert bucket.Object(name).get()["Body"].read() == file.read_bytes()


def test_the_first_writer_s_object_stays_and_a_difference_is_told(
    short: tm.Scenario, bucket: Any, tmp_path: Path
) -> None:
    def point(scenario: tm.Scenario, key: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "trammel", "point", "-", "--store", "s3://lab/runs"]
        return subprocess.run(
            [*words, "--key", key], input=scenario.to_toml(), capture_output=True, text=True
        )

    short.run(store="s3://lab/runs", threads=1)
    (name,) = names(bucket)
    first = bucket.Object(name)
    text = first.get()["Body"].read()
    key = name.rpartition("/")[2].removesuffix(".json")
    # Half of an object is no run, and is written anew.
    first.put(Body=text[:100])
    assert point(short, key).returncode == 0
    assert first.get()["Body"].read() == text and names(bucket) == [name]
    # Another whole run under its name is a second result: both are kept, and it is told.
    short.replace(seed=2).run(store="s3://lab/runs", threads=1)
    (second,) = [one for one in names(bucket) if one != name]
    wrong = bucket.Object(second).get()["Body"].read()
    first.put(Body=wrong)
    told = point(short, key)
    assert told.returncode == 1 and "has two results" in told.stderr
    assert first.get()["Body"].read() == wrong
    (differs,) = [one for one in names(bucket) if "/differs-" in one]
    assert bucket.Object(differs).get()["Body"].read() == text


def test_a_bucket_that_is_not_there_is_told(short: tm.Scenario, bucket: Any) -> None:
    with pytest.raises(RuntimeError, match="s3://nowhere/runs"):
        short.run(store="s3://nowhere/runs", threads=1)
    assert os.environ["AWS_ACCESS_KEY_ID"] == "mine"
