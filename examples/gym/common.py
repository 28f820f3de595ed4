"""What training, export and comparison share: the paths, and what the agent sees and does."""

from __future__ import annotations

from pathlib import Path

import trammel as tm

FOLDER = Path(__file__).parent
INTERVAL = "50 ms"
REWARD = {"throughput": 1.0, "queueing": -0.25, "loss": -1.0}
OBSERVE = ("rtt_ratio", "rtt_gradient", "loss", "delivery_ratio", "cwnd_ratio")


def paths(variant: str = "reno", duration: str = "20 s", **keys: object) -> tm.Scenario:
    """One flow over paths of many rates, lengths and queues: an episode has one of them."""
    scenario = tm.Scenario(
        duration=duration,
        path=tm.Path(rate="10 Mbit/s", rtt="40 ms", queue=tm.Queue(limit="1 bdp")),
        flows=[tm.Flow(variant, start="0 s")],
    )
    return scenario.replace(**keys).sweep(
        {
            "path.rate": ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s", "50 Mbit/s"],
            "path.rtt": ["20 ms", "40 ms", "80 ms"],
            "path.queue.limit": ["0.5 bdp", "1 bdp", "4 bdp"],
        }
    )
