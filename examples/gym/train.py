"""Trains a small PPO to control congestion, and compares its reward with that of variants.

    pip install stable-baselines3
    python examples/gym/train.py            # minutes on two cores; writes policy.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from common import FOLDER, INTERVAL, OBSERVE, REWARD, paths
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from trammel import gym


def environment(act: str = "cwnd_factor", variant: str = "reno") -> gym.CongestionEnv:
    return gym.CongestionEnv(
        paths(variant), observe=OBSERVE, act=act, interval=INTERVAL, reward=REWARD
    )


def reward(env: gym.CongestionEnv, decide: Callable[[gym.Floats], gym.Floats]) -> float:
    """The mean reward a step over a hundred episodes."""
    total, steps = 0.0, 0
    for seed in range(1000, 1100):
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            observation, got, terminated, truncated, _ = env.step(decide(observation))
            total, steps, over = total + got, steps + 1, terminated or truncated
    return total / steps


def layers(model: PPO) -> list[dict[str, list[object]]]:
    """The weights of the policy, layer by layer."""
    names = ("mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net")
    state = model.policy.state_dict()
    return [
        {kind: state[f"{name}.{kind}"].numpy().round(6).tolist() for kind in ("weight", "bias")}
        for name in names
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.monotonic()
    model = PPO(
        "MlpPolicy",
        make_vec_env(environment, n_envs=8, seed=given.seed),
        policy_kwargs={"net_arch": {"pi": [16, 16], "vf": [32, 32]}, "log_std_init": -1.0},
        n_steps=512,
        batch_size=512,
        gamma=0.97,
        learning_rate=1e-3,
        seed=given.seed,
        device="cpu",
    )
    model.learn(given.steps)
    took = time.monotonic() - began

    def learnt(observation: gym.Floats) -> gym.Floats:
        return model.predict(observation, deterministic=True)[0]

    def nothing(observation: gym.Floats) -> gym.Floats:
        return np.zeros(1, np.float32)

    print(f"trained {given.steps:,} steps in {took:.0f} s")
    print(f"PPO   {reward(environment(), learnt):.3f}")
    for variant in ("reno", "cubic", "bbr"):
        print(f"{variant:<5} {reward(environment('nothing', variant), nothing):.3f}")
    policy = {"interval": INTERVAL, "observe": OBSERVE, "layers": layers(model)}
    (FOLDER / "policy.json").write_text(json.dumps(policy) + "\n")


if __name__ == "__main__":
    main()
