"""Environments for learning: agents in the place of congestion controls.

They need `gymnasium` and `numpy`, which `trammel` itself does not. An episode is a run of the
scenario in the simulator: it stands still while an agent decides, and follows from the scenario,
the seed and the actions alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Union

import numpy as np
from gymnasium import Env, register, spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from . import _trammel
from ._faults import refuse
from ._scenario import Scenario

FEATURES: dict[str, tuple[float, float]] = {
    name: (least, most) for name, least, most in _trammel.features()
}
"""What may be observed or rewarded, with the least and the most that it can be."""

ACTS: dict[str, tuple[float, float]] = {name: (least, most) for name, least, most in _trammel.acts()}
"""What may be decided, with the least and the most that an action can be."""

OBSERVE = ("rtt_ratio", "rtt_gradient", "loss", "delivery_ratio", "cwnd_ratio")
"""What agents see where nothing else is asked for: numbers without a unit that a sender knows."""

REWARD: dict[str, float] = {"throughput": 1.0, "queueing": -0.25, "loss": -1.0}
"""The reward where no other is given: the weights of features."""

Floats = NDArray[np.float32]
Box: TypeAlias = "spaces.Box[np.float32]"
Reward = Union[Mapping[str, float], Callable[[Mapping[str, Any]], Any]]
"""Weights of features, summed up by the simulator; or a function of all features by their names,
which gets arrays in a `CongestionVectorEnv`, and costs its time in Python."""


class _Core:
    """Environments in the simulator, with their numbers as arrays."""

    def __init__(
        self,
        scenario: Scenario,
        agents: Sequence[str],
        observe: Sequence[str],
        act: str,
        interval: str,
        reward: Reward,
        count: int,
        threads: int,
    ) -> None:
        self.function = reward if callable(reward) else None
        weights = {} if callable(reward) else reward
        try:
            self.environments = _trammel.Environments(
                scenario.to_toml(),
                scenario._name,
                scenario._here(),
                list(agents),
                list(observe),
                act,
                interval,
                list(weights.items()),
                count,
                threads,
            )
        except _trammel.Refused as refused:
            refuse(refused)
        here = self.environments
        # They see the simulator's memory, which each step overwrites.
        self.actions: Floats = np.asarray(here.actions)
        self.observations: Floats = np.asarray(here.observations)
        self.features: NDArray[np.float64] = np.asarray(here.features)
        self.rewards: NDArray[np.float64] = np.asarray(here.rewards)
        self.terminated: NDArray[np.bool_] = np.asarray(here.terminated)
        self.truncated: NDArray[np.bool_] = np.asarray(here.truncated)
        self.times: NDArray[np.float64] = np.asarray(here.times)
        self.seen = _box([FEATURES[name] for name in observe])
        self.done = _box([ACTS[act]])

    def named(self, features: NDArray[np.float64]) -> dict[str, Any]:
        return {name: features[..., at] for at, name in enumerate(FEATURES)}


def _box(ranges: Sequence[tuple[float, float]]) -> Box:
    least, most = np.array(ranges, dtype=np.float32).T
    return spaces.Box(least, most, dtype=np.float32)


class CongestionEnv(Env[Floats, Floats]):
    """A flow of a scenario whose congestion control is an agent.

    Args:
        scenario: what is run, without its time before the flow's first ACK. Of a scenario with a
            sweep, each episode has one point, drawn by its seed.
        agent: the flow, `flow.0` or its name. Its variant decides only whether ECN is negotiated.
        observe: features, of `FEATURES`.
        act: what is decided, of `ACTS`; it holds from the flow's next ACK on.
        interval: when: a time such as `"50 ms"`, or `"ack"` for each ACK.
        reward: weights of features, or a function of all features by their names.

    An episode is truncated at the scenario's `duration`, and terminated where a flow of finite
    size is delivered. `reset` with a seed begins the run with that seed; without one the next
    episode of the last seed, the scenario's own at first.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario,
        agent: str = "flow.0",
        *,
        observe: Sequence[str] = OBSERVE,
        act: str = "cwnd_factor",
        interval: str = "50 ms",
        reward: Reward = REWARD,
    ) -> None:
        self._core = core = _Core(scenario, [agent], observe, act, interval, reward, 1, 1)
        self.observation_space = core.seen
        self.action_space = core.done
        self._step = core.environments.step_one
        self._observation = core.observations[0, 0]
        self._function = core.function

    @property
    def features(self) -> dict[str, float]:
        """All features of the last interval, by their names."""
        values = self._core.features[0, 0].tolist()
        return dict(zip(FEATURES, values))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed)
        self._core.environments.reset([seed])
        return self._observation.copy(), {"time_s": self._core.times.item(0)}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        decided = action[0]
        if decided != decided:
            raise ValueError("an action is a number, not NaN")
        reward, terminated, truncated, now = self._step(decided)
        if self._function is not None:
            reward = float(self._function(self.features))
        return self._observation.copy(), reward, terminated, truncated, {"time_s": now}


class CongestionVectorEnv(VectorEnv[Floats, Floats, NDArray[Any]]):
    """Many `CongestionEnv`s that step together, over the cores, with one call.

    Environment number n is seeded with the seed + n, or with the nth of a list. One whose episode
    is over begins the next at the following step (`AutoresetMode.NEXT_STEP`).

    Args:
        num_envs: how many.
        threads: over how many threads; one a core by default.
        scenario, agent, observe, act, interval, reward: as of a `CongestionEnv`.
    """

    def __init__(
        self,
        scenario: Scenario,
        num_envs: int,
        agent: str = "flow.0",
        *,
        observe: Sequence[str] = OBSERVE,
        act: str = "cwnd_factor",
        interval: str = "50 ms",
        reward: Reward = REWARD,
        threads: int | None = None,
    ) -> None:
        threads = threads or os.cpu_count() or 1
        self._core = core = _Core(
            scenario, [agent], observe, act, interval, reward, num_envs, threads
        )
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
        self.single_observation_space = core.seen
        self._maker = os.getpid()
        self.single_action_space = core.done
        self.observation_space = batch_space(core.seen, num_envs)
        self.action_space = batch_space(core.done, num_envs)

    @property
    def features(self) -> dict[str, NDArray[np.float64]]:
        """All features of the last interval, by their names."""
        return self._core.named(self._core.features[:, 0].copy())

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Floats, dict[str, Any]]:
        seeds: list[int | None]
        if seed is None or isinstance(seed, int):
            super().reset(seed=seed)
            seeds = [None if seed is None else seed + at for at in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"there are {self.num_envs} environments, and {len(seeds)} seeds")
        self._core.environments.reset(seeds)
        return self._core.observations[:, 0].copy(), {"time_s": self._core.times.copy()}

    def step(
        self, actions: Floats
    ) -> tuple[Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        core = self._core
        if os.getpid() != self._maker:
            raise RuntimeError("a process that was forked makes environments of its own")
        if np.isnan(actions).any():
            raise ValueError("actions are numbers, not NaN")
        core.actions[...] = actions
        ended = core.terminated | core.truncated
        core.environments.step()
        if core.function is None:
            rewards = core.rewards[:, 0].copy()
        else:
            rewards = np.asarray(core.function(self.features), dtype=np.float64)
            # An episode begins without one.
            rewards = np.where(ended, 0.0, rewards)
        return (
            core.observations[:, 0].copy(),
            rewards,
            core.terminated.copy(),
            core.truncated.copy(),
            {"time_s": core.times.copy()},
        )


class CongestionParallelEnv:
    """Several agents in one network, as PettingZoo's `ParallelEnv`: dictionaries by the agents'
    names, and all decide at the same instants.

    Args:
        agents: the flows, `flow.0` and so on, or their names.
        scenario, observe, act, interval, reward: as of a `CongestionEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": [], "name": "trammel_congestion_v0"}

    def __init__(
        self,
        scenario: Scenario,
        agents: Sequence[str],
        *,
        observe: Sequence[str] = OBSERVE,
        act: str = "cwnd_factor",
        interval: str = "50 ms",
        reward: Reward = REWARD,
    ) -> None:
        self._core = _Core(scenario, agents, observe, act, interval, reward, 1, 1)
        self.possible_agents = list(agents)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Box:
        """What `agent` sees; the same object each time."""
        return self._core.seen

    def action_space(self, agent: str) -> Box:
        """What `agent` decides; the same object each time."""
        return self._core.done

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, dict[str, Any]]]:
        """Begins an episode, as `CongestionEnv.reset`."""
        self._core.environments.reset([seed])
        self.agents = list(self.possible_agents)
        return self._observations(), self._infos()

    def step(
        self, actions: Mapping[str, Floats]
    ) -> tuple[
        dict[str, Floats],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Runs to the next instant of decision. A flow whose agent gave no action keeps to its
        last one."""
        core = self._core
        if not self.agents:
            raise RuntimeError("the episode is over; call `reset`")
        for at, agent in enumerate(self.possible_agents):
            # Not a number changes nothing.
            core.actions[0, at] = actions[agent][0] if agent in actions else np.nan
        core.environments.step()
        if core.function is None:
            rewards = core.rewards[0].tolist()
        else:
            values = core.features[0].tolist()
            rewards = [float(core.function(dict(zip(FEATURES, one)))) for one in values]
        terminated, truncated = core.terminated.item(0), core.truncated.item(0)
        if terminated or truncated:
            self.agents = []
        every = self.possible_agents
        return (
            self._observations(),
            dict(zip(every, rewards)),
            dict.fromkeys(every, terminated),
            dict.fromkeys(every, truncated),
            self._infos(),
        )

    def _observations(self) -> dict[str, Floats]:
        return dict(zip(self.possible_agents, self._core.observations[0].copy()))

    def _infos(self) -> dict[str, dict[str, Any]]:
        now = self._core.times.item(0)
        return {agent: {"time_s": now} for agent in self.possible_agents}

    def close(self) -> None:
        """Nothing is held open."""


register(
    "trammel/Congestion-v0",
    entry_point="trammel.gym:CongestionEnv",
    vector_entry_point="trammel.gym:CongestionVectorEnv",
)

__all__ = [
    "ACTS",
    "FEATURES",
    "OBSERVE",
    "REWARD",
    "CongestionEnv",
    "CongestionParallelEnv",
    "CongestionVectorEnv",
]
