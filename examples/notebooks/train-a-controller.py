# %% [markdown]
# # Train a congestion control
#
# An agent decides every 50 ms by how much the window grows or shrinks. It sees what a sender can know:
# round trips, losses, delivery rate. Its reward is the throughput, less a quarter of the queueing
# delay, less the loss. Can a policy with six numbers beat Reno?
#
# The search here is a random one in ten lines of numpy, so that nothing else is needed;
# `examples/gym` trains a network with PPO (stable-baselines3), exports it as C, and runs it in the
# real kernel.

# %%
import numpy as np
import trammel as tm
from numpy.typing import NDArray
from trammel import gym

Floats = NDArray[np.float64]

scenario = tm.Scenario(
    duration="10 s",
    path=tm.Path(rate="20 Mbit/s", rtt="40 ms", queue=tm.Queue(limit="2 bdp")),
    flows=[tm.Flow("reno")],
).sweep({"path.rate": ["10 Mbit/s", "20 Mbit/s", "40 Mbit/s"]})


def rewards(policies: Floats, seed: int, act: str = "cwnd_factor") -> Floats:
    """The mean reward of each policy, all in environments that run at once."""
    many = gym.CongestionVectorEnv(scenario, num_envs=len(policies), interval="50 ms", act=act)
    seen, _ = many.reset(seed=seed)
    total, steps, going = np.zeros(len(policies)), 0, np.ones(len(policies), bool)
    while going.any():
        action = policies[:, 5].copy()
        for feature in range(5):
            action += policies[:, feature] * seen[:, feature]
        seen, reward, terminated, truncated, _ = many.step(
            np.clip(action, -1, 1).astype(np.float32)[:, None]
        )
        total += np.where(going, reward, 0)
        steps += 1
        going &= ~(terminated | truncated)
    return total / steps


# %% [markdown]
# Reno first, in the same environments: its variant decides, and the agent only watches.

# %%
nothing = np.zeros((12, 6))
reno = rewards(nothing, seed=100, act="nothing").mean()
print(f"Reno: {reno:.2f}")

# %% [markdown]
# Sixteen policies at a time, in three environments each: the best so far, and others near it. What is
# better is where the next ones are looked for, nearer and nearer.

# %%
random = np.random.default_rng(1)
best, spread = np.zeros(6), 1.0
for turn in range(12):
    tried = best + spread * random.standard_normal((16, 6))
    tried[0] = best
    reward = rewards(np.repeat(tried, 3, axis=0), seed=3 * turn).reshape(16, 3).mean(axis=1)
    best, spread = tried[reward.argmax()], 0.8 * spread
    print(f"turn {turn}: {reward.max():.2f}")

# %% [markdown]
# And now on seeds that it has not seen:

# %%
learned = rewards(np.tile(best, (12, 1)), seed=100).mean()
print(f"Reno {reno:.2f}, learned {learned:.2f}")

# %%
names = ["rtt_ratio", "rtt_gradient", "loss", "delivery_ratio", "cwnd_ratio", "always"]
for name, weight in zip(names, best):
    print(f"{name:15} {weight:+.1f}")

# %% [markdown]
# **Change next:** the reward (`reward={"throughput": 1, "queueing": -1}`), a second flow of CUBIC in
# the scenario, a path that changes (`tm.Path(preset="lte")`), or a network in place of six numbers.
