"""Scenarios: built, read, written and checked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

import trammel as tm
from trammel import _trammel


def transport_examples() -> list[Path]:
    """The examples of the subject transport."""
    found = []
    for path in sorted((ROOT / "examples").glob("*.toml")):
        keys = _trammel.parse(path.read_text())
        others = {"server", "chain", "function", "router"}
        if keys.get("subject", "transport") == "transport" and not others & keys.keys():
            found.append(path)
    return found


def test_keywords_become_the_keys_of_a_file() -> None:
    tomllib = pytest.importorskip("tomllib")
    scenario = tm.Scenario(
        title='a "title"\n\x7f',
        repeat=2,
        path=tm.Path(
            rate="10 Mbit/s",
            rtt="20 ms",
            queue=tm.Queue("red", limit="2 bdp", gentle=True),
            loss=tm.Loss(probability=1e-3),
        ),
        links=None,
        flows=[tm.Flow("cubic", params={"beta": 0.7}), tm.Flow("reno", start="1 s")],
    )
    text = scenario.to_toml()
    assert tomllib.loads(text) == {
        "title": 'a "title"\n\x7f',
        "repeat": 2,
        "path": {
            "rate": "10 Mbit/s",
            "rtt": "20 ms",
            "queue": {"discipline": "red", "limit": "2 bdp", "gentle": True},
            "loss": {"probability": 0.001},
        },
        "flow": [
            {"variant": "cubic", "params": {"beta": 0.7}},
            {"variant": "reno", "start": "1 s"},
        ],
    }
    assert tm.Scenario.from_toml(text) == scenario
    assert tm.Scenario.from_toml(text).to_toml() == text


def test_python_s_own_words_and_lists_have_other_names() -> None:
    link = tm.Link("a", to="b", rate="1 Mbit/s")
    assert link.from_ == "a"
    scenario = tm.Scenario(links=[link], hosts=[tm.Host("a"), tm.Host("b")])
    keys = _trammel.parse(scenario.to_toml())
    assert keys["link"] == [{"from": "a", "to": "b", "rate": "1 Mbit/s"}]


@pytest.mark.parametrize("path", transport_examples(), ids=lambda path: path.stem)
def test_examples_written_anew_have_the_same_points(path: Path) -> None:
    scenario = tm.Scenario.from_file(path)
    again = scenario.replace()
    assert again.to_toml() != scenario.to_toml()
    assert again.check() == scenario.check()


def test_there_are_examples() -> None:
    assert len(transport_examples()) > 12


def test_all_faults_come_at_once_with_their_places() -> None:
    text = 'duration = "2 s"\nspeed = 1\n[path]\nrate = "10 Mbit"\nrtt = "20 ms"\n'
    with pytest.raises(tm.ScenarioError) as caught:
        tm.Scenario.from_toml(text, name="mine.toml").check()
    places = [(fault.line, fault.column) for fault in caught.value.faults]
    assert (2, 1) in places and (4, 8) in places, caught.value.faults
    assert "mine.toml:2:1" in str(caught.value)
    first = caught.value.faults[0]
    assert "`speed`" in first.message
    with pytest.raises(tm.ScenarioError):
        tm.Scenario.from_toml(text).run()


def test_an_unknown_variant_gets_a_suggestion(short: tm.Scenario) -> None:
    with pytest.raises(tm.ScenarioError) as caught:
        short.replace(flows=[tm.Flow("cubik")]).check()
    assert any("cubic" in fault.help for fault in caught.value.faults)


def test_texts_that_are_no_scenarios_are_refused() -> None:
    for text in ["", " \n", "rate = = 1\n", 'title = "only"\n']:
        with pytest.raises(tm.ScenarioError):
            tm.Scenario.from_toml(text).check()
    with pytest.raises(tm.ScenarioError):
        tm.Scenario().check()
    with pytest.raises(tm.ScenarioError, match="scenario of placement"):
        tm.Scenario.from_toml('subject = "placement"\n').check()


def test_an_unknown_file_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        tm.Scenario.from_file("nosuch.toml")
    trace = tm.Scenario(path=tm.Path(trace="nosuch.trace", rtt="10 ms"), flows=[tm.Flow("reno")])
    with pytest.raises(tm.ScenarioError, match=re.escape("nosuch.trace")):
        trace.check()


def test_a_scenario_does_not_change(short: tm.Scenario) -> None:
    with pytest.raises(AttributeError):
        short.duration = "3 s"
    with pytest.raises(TypeError):
        short.replace(durations="3 s")
    with pytest.raises(TypeError):
        tm.Path(rat="1 Mbit/s")  # type: ignore[call-arg]
    assert short.replace(duration="3 s").duration == "3 s"
    assert short.duration == "2 s"


def test_a_sweep_makes_points(short: tm.Scenario) -> None:
    swept = short.sweep({"path.queue.limit": ["1 bdp", "4 bdp"]}).sweep({"path.rtt": ["10 ms"]})
    names = [point.name for point in swept.check()]
    assert len(names) == 2 and len({point.hash for point in swept.check()}) == 2
    assert short.sweeps is None
    with pytest.raises(tm.ScenarioError, match="did you mean"):
        short.sweep({"path.rtx": ["1 ms"]}).check()


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    scenario = tm.Scenario(
        duration="1 s",
        path=tm.Path(
            rate="10 Mbit/s",
            rtt="20 ms",
            loss=tm.Loss("bernoulli", probability=numpy.float64(0.01)),
        ),
        flows=[tm.Flow("reno", count=numpy.int64(2))],
    )
    assert len(scenario.sweep({"path.loss.probability": numpy.linspace(0, 0.1, 3)}).check()) == 3
    assert "np.float64" not in scenario.to_toml()


def test_lists_that_were_given_do_not_change_it() -> None:
    flows = [tm.Flow("reno")]
    scenario = tm.Scenario(path=tm.Path(rate="10 Mbit/s", rtt="20 ms"), flows=flows)
    flows.append(tm.Flow("cubic"))
    assert scenario.flows is not None and len(scenario.flows) == 1
    assert not hasattr(scenario.flows, "append")


def test_seeds_and_engines_are_told_by_name(short: tm.Scenario) -> None:
    for seed in (-1, 1 << 64, True):
        with pytest.raises(ValueError, match="`seed` is a whole number"):
            short.run(seed=seed)
    # Seeds go round.
    assert len(short.replace(repeat=3).run("simulate", seed=(1 << 64) - 1).flows) == 6
