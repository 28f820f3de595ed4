"""Scenarios of all subjects, and commands: what the program gives, to the byte."""

from __future__ import annotations

import gc
import json
import signal
import subprocess
from pathlib import Path

import pytest
import trammel as tm
from trammel import _program

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
PROGRAM = _program.find("trammel")
# The long ones are compared by `--all-examples`.
QUICK = ["netfpga-router", "placement", "routers-ring", "traffic-poisson", "first"]


def by_command(folder: Path, *words: str) -> dict[str, str]:
    """The tables of a command, by the names of their files."""
    out = folder / "by-command"
    assert PROGRAM is not None
    subprocess.run([PROGRAM, *words, "-o", out], cwd=ROOT, capture_output=True, check=False)
    return {file.stem: file.read_text("utf-8") for file in out.glob("*.csv")}


def by_package(result: tm.Run | tm.Result) -> dict[str, str]:
    return {name: table.to_csv() for name, table in result.tables.items()}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_read_checked_and_written(path: Path) -> None:
    scenario = tm.read(path)
    points = scenario.check()
    assert points
    again = type(scenario).from_toml(scenario.replace().to_toml(), folder=path.parent)
    assert [point.name for point in again.check()] == [point.name for point in points]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        wants_all = metafunc.config.getoption("--all-examples")
        names = [path.stem for path in EXAMPLES]
        metafunc.parametrize("name", names if wants_all else QUICK)


def test_the_tables_are_those_of_the_command(name: str, tmp_path: Path) -> None:
    path = ROOT / "examples" / f"{name}.toml"
    engines = ["predict", "simulate"]
    asked = [] if name == "placement" else ["--engine", ",".join(engines)]
    wanted = by_command(tmp_path, "run", str(path), *asked)
    scenario = tm.read(path)
    if not wanted:
        # A machine that was not calibrated is told by both.
        with pytest.raises((tm.CommandError, tm.Unsupported)):
            scenario.run(["predict", "simulate"])
        return
    run = scenario.run() if name == "placement" else scenario.run(["predict", "simulate"])
    assert by_package(run) == wanted


def test_a_scenario_of_traffic_is_built_and_run() -> None:
    scenario = tm.traffic.Scenario(
        duration="1 s",
        path=tm.traffic.Path(rate="10 Mbit/s", delay="5 ms", queue=tm.Queue(limit="50 packets")),
        streams=[tm.traffic.Stream(name="calls", rate="100 pps", size="200 B")],
    )
    result = scenario.sweep({"path.rate": ["1 Mbit/s", "10 Mbit/s"]}).run(["simulate"])
    assert result.is_met and result.lacks is None
    assert len(result["streams"]) == 2
    assert result["streams"]["engine"] == ["simulate", "simulate"]
    assert "<html" in result.report()
    assert result.provenance["seeds"] == [1]
    assert any(file.name == "run.json" for file in result.files)


def test_faults_of_every_subject_have_their_places() -> None:
    for module, key in [(tm.traffic, "stream"), (tm.routing, "router"), (tm.forwarding, "function")]:
        scenario = module.Scenario.from_toml(
            f'subject = "forwarding"\nnosuch = 1\n[[{key}]]\n'
            if module is not tm.traffic
            else 'subject = "traffic"\nnosuch = 1\n'
        )
        with pytest.raises(tm.ScenarioError) as caught:
            scenario.check()
        lines = {fault.line for fault in caught.value.faults if "nosuch" in fault.message}
        assert lines == {2}, caught.value.faults
    with pytest.raises(tm.ScenarioError, match="scenario of traffic, not of transport"):
        tm.Scenario.from_toml('subject = "traffic"\n')


def test_commands_are_functions(tmp_path: Path) -> None:
    click = str(ROOT / "examples/router/mpls-switch.click")
    machine = "xeon-e5-2690v2"
    wanted = by_command(tmp_path, "estimate", click, "--machine", machine, "--frame-sizes", "64")
    result = tm.estimate(click, machine=machine, frame_sizes=[64])
    assert by_package(result) == wanted
    config = tm.Click.from_file(click)
    assert by_package(config.estimate(machine, frame_sizes=64)) == wanted
    assert config.graph().startswith("<svg")
    assert "digraph" in config.graph("dot")
    bench = tm.bench(model="reference-1g", quick=True, frame_sizes=["64"])
    assert bench.tables and str(bench) == bench.answer
    placed = tm.place(tm.read(ROOT / "examples/placement.toml"), seed=3)
    assert by_package(placed) == by_package(tm.place(ROOT / "examples/placement.toml", seed=3))


def test_files_of_other_programs_come_and_go(short: tm.Scenario, tmp_path: Path) -> None:
    files = ROOT / "crates/formats/tests/files"
    real = tm.import_files(files / "two.json", name=["a", "b"])
    assert real["flows"]["flow"] == ["a", "b"]
    assert not any(str(tmp_path) in line for line in real.messages)
    out = tmp_path / "both"
    several = tm.import_files(files / "two.json", files / "upload.flent.gz", out=out)
    assert set(several["flows"]["point"]) == {"two", "upload"}
    assert (out / "run.json").is_file()
    with pytest.raises(tm.CommandError, match="nosuch"):
        tm.import_files("nosuch.pcap")
    script = tm.export(ROOT / "examples/first.toml", format="tc", point="limit_bdp=1bdp")
    assert "netem" in script and "pfifo limit 125" in script
    file = tmp_path / "s.toml"
    file.write_text(short.to_toml(), "utf-8")
    assert tm.export(file, format="mahimahi") == tm.export(short, format="mahimahi").replace(
        " of -", f" of {file}"
    )
    written = tmp_path / "lab.clab.yml"
    assert tm.export(file, format="containerlab", output=written) == ""
    assert written.read_text("utf-8").startswith("#")
    with pytest.raises(tm.CommandError, match="folder"):
        tm.export(file, format="flent")


def test_what_a_command_refuses_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(tm.CommandError, match="nosuch"):
        tm.estimate("nosuch.click", out=tmp_path / "out")
    with pytest.raises(tm.CommandError, match="no-paper"):
        tm.paper("no-paper")
    assert list(tmp_path.iterdir()) == []
    result = tm.bench(model="reference-1g", quick=True, frame_sizes="64", out=tmp_path / "out")
    assert (tmp_path / "out" / "report.html").read_text("utf-8") == result.report()
    # Another command's folder is not taken.
    with pytest.raises(tm.CommandError, match="--force"):
        tm.bench(model="reference-10g", quick=True, frame_sizes="64", out=tmp_path / "out")


def test_a_configuration_runs_on_captures(tmp_path: Path) -> None:
    made = tm.Click(
        "InfiniteSource(LIMIT 20, STOP true) -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2)"
        " -> ToDump($OUT)"
    )
    made.run(define={"OUT": tmp_path / "a.pcap"})
    counted = tm.Click("FromDump($IN, STOP true) -> c :: Counter -> d :: Discard")
    run = counted.run(
        define={"IN": tmp_path / "a.pcap"}, handlers=["c.count", "c.class"], statistics=True
    )
    assert run.handlers == {"c.count": "20", "c.class": "Counter"}
    assert json.dumps(run.statistics).count("20") >= 1
    with pytest.raises(tm.CommandError, match="NoSuchElement"):
        tm.Click("NoSuchElement -> Discard").run()


def test_handlers_keep_their_values_apart() -> None:
    counted = tm.Click("InfiniteSource(LIMIT 10, STOP true) -> c :: Counter -> d :: Discard")
    for names in (["config", "c.count"], ["c.config", "c.count"], ["c.count", "list", "c.count"]):
        assert counted.run(handlers=names).handlers["c.count"] == "10", names
    assert counted.run(handlers="c.count").handlers == {"c.count": "10"}
    with pytest.raises(tm.CommandError, match="nope"):
        counted.run(handlers=["c.nope", "c.count"])
    with pytest.raises(TypeError, match="a configuration is a text"):
        tm.Click(3)  # type: ignore[arg-type]


def test_arguments_are_words_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(tm.CommandError):
        tm.paper("--json")
    with pytest.raises(TypeError, match="a path is wanted"):
        tm.place(None)  # type: ignore[arg-type]
    click = tm.Click("InfiniteSource(LIMIT $N) -> Discard", folder=tmp_path)
    with pytest.raises(ValueError, match="one text at a time"):
        tm.estimate(click, click)
    defined: dict[str, int] = {"N": 3}
    assert click.estimate("xeon-e5-2690v2", define=defined, frame_sizes=64).tables
    with pytest.raises(tm.CommandError, match="65535"):
        click.estimate("xeon-e5-2690v2", define=defined, frame_sizes=10**9)
    first = tm.bench(model="reference-1g", quick=True, frame_sizes="64")
    assert tm.compare(first, first, within="5%").is_met


def test_charts_of_traffic_need_no_interval() -> None:
    pytest.importorskip("altair")
    scenario = tm.traffic.Scenario(
        duration="1 s",
        path=tm.traffic.Path(rate="10 Mbit/s", delay="5 ms"),
        streams=[tm.traffic.Stream(name="calls", rate="100 pps", size="200 B")],
    )
    result = scenario.run("simulate")
    assert "summary" in result and set(result) == set(result.tables)
    assert result.plot("delay_mean").to_dict()


def test_an_exception_ends_the_program_and_removes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    slow = tm.read(ROOT / "examples/traffic-poisson.toml").replace(duration="100000 s")

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(TimeoutError):
            slow.run(["simulate"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_keeps_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'path = { rate = "5 Mbit/s", rtt = "20 ms", schedule_file = { file = "l.csv" } }\nduration = "2 s"\n[[flow]]\nvariant = "reno"\n'
    for name, rate in [("one", 10), ("two", 1)]:
        (tmp_path / name / "in").mkdir(parents=True)
        (tmp_path / name / "in" / "s.toml").write_text(text)
        (tmp_path / name / "in" / "l.csv").write_text(f"time_s,rate_mbps\n0,{rate}\n")
    monkeypatch.chdir(tmp_path / "one")
    scenario = tm.Scenario.from_file("in/s.toml")
    points = scenario.check()
    monkeypatch.chdir(tmp_path / "two")
    assert scenario.check() == points


def test_traces_are_the_command_s_files(tmp_path: Path) -> None:
    scenario = tm.Scenario(
        duration="2 s",
        repeat=2,
        trace="10 ms",
        path=tm.Path(rate="10 Mbit/s", rtt="20 ms"),
        flows=[tm.Flow("cubic", name="a/b"), tm.Flow("bbr")],
    )
    (tmp_path / "s.toml").write_text(scenario.to_toml())
    by_command(tmp_path, "run", str(tmp_path / "s.toml"), "--engine", "simulate")
    files = {file.stem: file for file in (tmp_path / "by-command" / "traces").glob("*.csv")}
    traces = scenario.run(["simulate"]).traces
    assert set(traces) == set(files) and len(traces) >= 4
    for name, trace in traces.items():
        assert trace.to_csv() == files[name].read_text("utf-8")
        assert len(trace) == len(trace["time_s"])
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(trace)
        assert frame["time_s"].to_list() == trace["time_s"]
        assert frame.columns == trace.columns


def test_charts_follow_the_report() -> None:
    pytest.importorskip("altair")
    scenario = tm.Scenario(
        duration="2 s",
        repeat=3,
        trace="10 ms",
        path=tm.Path(rate="10 Mbit/s", rtt="20 ms"),
        flows=[tm.Flow("cubic"), tm.Flow("reno")],
    )
    run = scenario.sweep({"path.queue.limit": ["0.5 bdp", "1 bdp", "4 bdp"]}).run()
    spec = run.plot("goodput_mbps").to_dict()
    rule, line = spec["layer"]
    assert line["encoding"]["x"]["field"] == "limit_bdp"
    assert line["encoding"]["x"]["scale"]["type"] == "log"
    assert line["encoding"]["y"]["title"] == "goodput (Mbit/s)"
    assert line["encoding"]["y"]["scale"]["zero"] is True
    assert line["encoding"]["color"]["scale"]["range"] == ["#0072b2", "#d55e00"]
    assert rule["encoding"]["y2"]["field"] == "ci_high"
    with pytest.raises(LookupError, match="there is no metric `nosuch`"):
        run.plot("nosuch")
    trace = next(iter(run.traces.values())).plot("cwnd_pkts").to_dict()
    assert trace["encoding"]["y"]["title"] == "cwnd (packets)"
    assert trace["mark"]["interpolate"] == "step-after"
