"""Environments: gymnasium's own checker, determinism, and the numbers of a run."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import own
import pytest
from conftest import ROOT

import trammel as tm

pytest.importorskip("gymnasium")

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

from trammel import gym


def scenario(*variants: str, **keys: object) -> tm.Scenario:
    base = tm.Scenario(
        duration="3 s",
        path=tm.Path(rate="10 Mbit/s", rtt="40 ms"),
        flows=[tm.Flow(variant) for variant in variants or ("reno",)],
    )
    return base.replace(**keys)


def action(value: float) -> gym.Floats:
    return np.array([value], dtype=np.float32)


def played(env: gym.CongestionEnv, value: float, seed: int | None) -> list[object]:
    seen: list[object] = [env.reset(seed=seed)[0].tolist()]
    over = False
    while not over:
        observation, reward, terminated, truncated, info = env.step(action(value))
        seen.append((observation.tolist(), reward, info))
        over = terminated or truncated
    return seen


@pytest.mark.parametrize("act", gym.ACTS)
@pytest.mark.parametrize("interval", ["50 ms", "ack"])
def test_gymnasium_s_checker_finds_nothing(act: str, interval: str) -> None:
    env = gym.CongestionEnv(scenario(), act=act, interval=interval, observe=list(gym.FEATURES))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What has a unit has the range of its unit.
        warnings.filterwarnings("ignore", message=".*symmetric and normalized")
        check_env(env, skip_render_check=True)


def test_gymnasium_makes_it_by_name() -> None:
    env = gymnasium.make("trammel/Congestion-v0", scenario=scenario(), interval="100 ms")
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert env.step(action(0.1))[0] is not None
    many = gymnasium.make_vec("trammel/Congestion-v0", num_envs=3, scenario=scenario())
    assert many.reset(seed=1)[0].shape == (3, len(gym.OBSERVE))


def test_an_episode_follows_from_its_seed() -> None:
    env = gym.CongestionEnv(scenario())
    first = played(env, 0.05, 7)
    second = played(env, 0.05, None)
    assert first != second
    assert [played(env, 0.05, 7), played(env, 0.05, None)] == [first, second]
    assert played(gym.CongestionEnv(scenario()), 0.05, 7) == first


def test_a_window_that_is_held_gives_what_it_should() -> None:
    # 41.3 ms and 1448 bytes a segment: 20 segments are 5.6 Mbit/s.
    env = gym.CongestionEnv(scenario(), act="cwnd_pkts")
    played(env, 20.0, 1)
    features = env.features
    assert features["cwnd_pkts"] == 20
    assert features["loss"] == 0
    assert 4.5 < features["delivery_rate_mbps"] < 6.5
    assert features["throughput"] == pytest.approx(features["delivery_rate_mbps"] / 10)


def test_a_pacing_rate_holds() -> None:
    env = gym.CongestionEnv(scenario(), act="pacing_rate_mbps", interval="500 ms")
    played(env, 4.0, 1)
    assert 3.6 < env.features["delivery_rate_mbps"] < 4.1


def test_a_variant_that_is_watched_is_undisturbed() -> None:
    watched = scenario("cubic", flows=[tm.Flow("cubic", bytes="2 MB")], duration="60 s")
    env = gym.CongestionEnv(watched, act="nothing", interval="1 ms")
    env.reset(seed=5)
    over, now = False, 0.0
    while not over:
        *_, over, _, info = env.step(action(1.0))
        now = info["time_s"]
    run = watched.run(["simulate"], seed=5)
    (start,), (active,) = run.flows["start_s"], run.flows["active_s"]
    assert isinstance(start, float)
    assert active == pytest.approx(now - start, abs=0.0011)
    assert env.features["cwnd_pkts"] > 20


def test_rewards_are_weights_or_a_function() -> None:
    weights = {"throughput": 2.0, "loss": -1.0}

    def function(of: object) -> object:
        assert isinstance(of, dict)
        return 2.0 * of["throughput"] - of["loss"]

    one = played(gym.CongestionEnv(scenario(), reward=weights), 0.3, 3)
    other = played(gym.CongestionEnv(scenario(), reward=function), 0.3, 3)
    assert one == other


def test_many_are_what_each_is_alone_and_begin_anew() -> None:
    steps, count = 80, 5
    many = gym.CongestionVectorEnv(scenario(), count, threads=2)
    assert many.observation_space.shape == (count, len(gym.OBSERVE))
    observations = [many.reset(seed=11)[0]]
    rewards, overs = [], []
    for _ in range(steps):
        stepped = many.step(np.full((count, 1), 0.05, np.float32))
        observations.append(stepped[0])
        rewards.append(stepped[1])
        overs.append(stepped[2] | stepped[3])
    assert np.array(overs).any(axis=0).all()
    for at in range(count):
        alone = gym.CongestionEnv(scenario())
        observed, _ = alone.reset(seed=11 + at)
        is_over = False
        for step in range(steps):
            assert observed.tolist() == observations[step][at].tolist()
            got, is_over_now = 0.0, False
            if is_over:
                observed, _ = alone.reset()
            else:
                observed, got, terminated, truncated, _ = alone.step(action(0.05))
                is_over_now = terminated or truncated
            is_over = is_over_now
            assert got == rewards[step][at]
            assert is_over == overs[step][at]


def test_a_function_rewards_many_at_once() -> None:
    many = gym.CongestionVectorEnv(scenario(), 3, reward=lambda of: of["throughput"] * 2)
    many.reset(seed=1)
    reward = many.step(np.zeros((3, 1), np.float32))[1]
    assert reward.shape == (3,)
    assert reward.tolist() == (many.features["throughput"] * 2).tolist()


def test_several_agents_share_a_network() -> None:
    env = gym.CongestionParallelEnv(scenario("reno", "reno", "cubic"), ["flow.0", "reno-2"])
    observed, _ = env.reset(seed=2)
    assert list(observed) == env.agents == ["flow.0", "reno-2"]
    total = {agent: 0.0 for agent in env.agents}
    terminated, truncated = {"": False}, {"": False}
    while env.agents:
        # One holds its window, the other doubles it.
        acts = {"flow.0": action(0.0), "reno-2": action(0.1)}
        _, rewards, terminated, truncated, _ = env.step(acts)
        for agent, reward in rewards.items():
            total[agent] += reward
    assert truncated == {"flow.0": True, "reno-2": True} and not any(terminated.values())
    assert total["flow.0"] != total["reno-2"]
    with pytest.raises(RuntimeError, match="reset"):
        env.step({})


def test_a_flow_of_finite_size_ends_the_episode() -> None:
    short = scenario(flows=[tm.Flow("reno", bytes="200 kB")], duration="60 s")
    env = gym.CongestionEnv(short)
    env.reset(seed=1)
    terminated, truncated = False, False
    for _ in range(200):
        *_, terminated, truncated, _ = env.step(action(0.1))
        if terminated:
            break
    assert terminated and not truncated


def test_an_episode_has_a_point_of_the_sweep() -> None:
    swept = scenario().sweep({"path.rate": ["2 Mbit/s", "50 Mbit/s"]})
    env = gym.CongestionEnv(swept, act="pacing_rate_mbps")
    rates = set()
    for seed in range(8):
        played(env, 100.0, seed)
        rates.add(env.features["delivery_rate_mbps"] > 5)
    assert rates == {True, False}


def test_plug_ins_in_python_take_part() -> None:
    many = gym.CongestionVectorEnv(scenario("reno", own.Halve.name), 4, threads=2)
    many.reset(seed=1)
    many.step(np.zeros((4, 1), np.float32))
    failing = gym.CongestionEnv(scenario("reno", own.Failing.name))
    with pytest.raises(RuntimeError, match="ZeroDivisionError: too late"):
        played(failing, 0.0, 1)


def test_an_exported_policy_does_in_whole_numbers_what_it_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("`cc` is not installed")
    example = ROOT / "examples" / "gym"
    monkeypatch.syspath_prepend(str(example))
    importlib.import_module("export").write(tmp_path)
    header = subprocess.run([sys.executable, "-m", "trammel", "header"], capture_output=True)
    assert header.returncode == 0
    (tmp_path / "trammel.h").write_bytes(header.stdout)
    words = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*words, "-o", "libpolicy.so", "policy.c"], cwd=tmp_path, check=True)
    policy = json.loads((example / "policy.json").read_text())

    def decide(observation: gym.Floats) -> gym.Floats:
        values = observation.astype(np.float64)
        for at, layer in enumerate(policy["layers"]):
            values = np.array(layer["weight"]) @ values + np.array(layer["bias"])
            values = np.tanh(values) if at < 2 else np.clip(values, -1, 1)
        return values.astype(np.float32)

    flow = tm.Flow("reno", start="0 s", name="policy")
    alone = scenario(flows=[flow], duration="20 s", warmup="5 s")
    env = gym.CongestionEnv(alone, interval=policy["interval"], observe=policy["observe"])
    observation, _ = env.reset(seed=1)
    over, throughputs, trips = False, [], []
    while not over:
        observation, _, _, over, info = env.step(decide(observation))
        if info["time_s"] > 5:
            throughputs.append(env.features["throughput"])
            trips.append(env.features["rtt_ms"])
    library = tm.Library(library=str(tmp_path / "libpolicy.so"))
    run = alone.replace(flows=[flow.replace(variant=library)]).run(["simulate"], seed=1)
    assert not run.failures
    (goodput,), (trip,) = run.flows["late_goodput_mbps"], run.flows["late_rtt_mean_us"]
    assert isinstance(goodput, float) and isinstance(trip, float)
    assert goodput / 10 == pytest.approx(np.mean(throughputs), rel=0.03)
    assert trip / 1e3 == pytest.approx(np.mean(trips), rel=0.05)
    # It is worth exporting.
    assert goodput > 9 and trip < 50_000


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"agent": "flow.9"}, "no flow"),
        ({"observe": ["rtt_ratoi"]}, "did you mean `rtt_ratio`"),
        ({"act": "cwnd"}, "no action"),
        ({"interval": "soon"}, "`ack`"),
        ({"reward": {"joy": 1.0}}, "no feature"),
    ],
)
def test_what_cannot_be_is_told(keys: dict[str, object], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        gym.CongestionEnv(scenario(), **keys)  # type: ignore[arg-type]
    with pytest.raises(tm.ScenarioError):
        gym.CongestionEnv(scenario("renoo"))
