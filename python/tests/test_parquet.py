"""Parquet: what polars reads is the table, and the command writes the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Command

import trammel as tm


@pytest.fixture
def written(short: tm.Scenario, tmp_path: Path) -> tuple[tm.Run, list[Path]]:
    """A run, and its tables as Parquet."""
    path = tmp_path / "mine.toml"
    path.write_text(short.replace(repeat=3, seed=2**63 - 1).to_toml())
    run = tm.Scenario.from_file(path).run(["predict", "simulate"])
    try:
        return run, run.to_parquet(tmp_path / "ours")
    except RuntimeError as error:
        assert "`--features parquet`" in str(error)
        pytest.skip(str(error))


def test_polars_reads_the_tables(written: tuple[tm.Run, list[Path]]) -> None:
    polars = pytest.importorskip("polars")
    run, files = written
    assert [file.stem for file in files] == list(run.tables)
    for file in files:
        table = run.tables[file.stem]
        frame = polars.read_parquet(file)
        assert frame.equals(polars.DataFrame(table)), file.name
        assert frame.schema == polars.DataFrame(table).schema
        facts = polars.read_parquet_metadata(file)
        assert facts["trammel.table"] == file.stem
        assert facts["trammel.version"] == tm.__version__
        assert facts["trammel.seeds"].split() == [str(2**63 - 1 + at) for at in range(3)]
        assert tm.Scenario.from_toml(facts["trammel.scenario_text"]).repeat == 3


def test_the_command_writes_the_same(
    written: tuple[tm.Run, list[Path]], command: Command, tmp_path: Path
) -> None:
    run, files = written
    out = command(tmp_path / "mine.toml", "--engine", "predict,simulate", "--parquet")
    assert sorted(file.name for file in out.glob("*.parquet")) == sorted(file.name for file in files)
    for file in files:
        assert file.read_bytes() == (out / file.name).read_bytes(), file.name


def test_pyarrow_reads_one_table(short: tm.Scenario, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    flows = short.run().flows
    try:
        flows.to_parquet(tmp_path / "flows.parquet", [("laboratory", "ours")])
    except RuntimeError as error:
        pytest.skip(str(error))
    table = parquet.read_table(tmp_path / "flows.parquet")
    assert table.to_pylist() == list(flows.rows())
    assert table.schema.metadata[b"laboratory"] == b"ours"
