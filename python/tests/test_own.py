"""Plug-ins in Python: numbers, faults, threads and what is said of them."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Literal

import own
import pytest

import trammel as tm


def scenario(variant: str, **keys: object) -> tm.Scenario:
    base = tm.Scenario(
        duration="3 s",
        path=tm.Path(rate="10 Mbit/s", rtt="20 ms"),
        flows=[tm.Flow(variant, name="a")],
    )
    return base.replace(**keys)


def csv(run: tm.Run) -> str:
    assert not run.failures
    return "".join(table.to_csv() for table in run.tables.values())


def test_reno_in_python_is_reno() -> None:
    own_one = csv(scenario("own-halve").run(["simulate"])).replace("own-halve", "reno")
    assert own_one == csv(scenario("reno").run(["simulate"]))


def test_parameters_reach_the_object_and_have_ranges() -> None:
    mild = scenario("own-halve", flows=[tm.Flow("own-halve", name="a", params={"beta": 0.9})])
    assert csv(mild.run(["simulate"])) != csv(scenario("own-halve").run(["simulate"]))
    with pytest.raises(tm.ScenarioError, match="from 0.1 to 0.9"):
        scenario("own-halve", flows=[tm.Flow("own-halve", params={"beta": 2})]).check()


def test_every_hook_is_called() -> None:
    queue = tm.Queue(limit="15 pkts")
    lossy = tm.Path(rate="10 Mbit/s", rtt="40 ms", queue=queue, loss=tm.Loss("bernoulli", probability=0.01))
    run = scenario("everything", path=lossy, duration="10 s").run(["simulate"])
    assert not run.failures
    hooks = {"init", "ssthresh", "cong_avoid", "in_ack_event", "pkts_acked", "lost"}
    assert hooks <= own.Everything.heard
    assert {"set_state recovery", "cwnd_event tx_start"} <= own.Everything.heard


@pytest.mark.parametrize(("variant", "least"), [("own-rate", 8.5), ("own-tick", 8.5)])
def test_controls_of_other_kinds_fill_the_path(variant: str, least: float) -> None:
    run = scenario(variant, duration="10 s").run(["simulate"])
    assert not run.failures
    (goodput,) = run.flows["goodput_mbps"]
    assert isinstance(goodput, float) and goodput > least


def test_an_exception_is_a_failure_of_its_run_alone() -> None:
    swept = scenario("reno").sweep({"flow.0.variant": ["reno", "failing", "own-halve"]})
    run = swept.run(["simulate"], threads=2)
    (failure,) = run.failures
    assert "`failing` in Python: ZeroDivisionError: too late (own.py:" in failure
    assert "in cong_avoid)" in failure
    assert sorted(map(str, run.flows["variant"])) == ["own-halve", "reno"]


def test_many_threads_give_the_numbers_of_one() -> None:
    swept = scenario("own-halve", repeat=6, duration="1 s").sweep(
        {"flow.0.variant": ["own-halve", "own-tick", "everything"]}
    )
    one = csv(swept.run(["simulate"], threads=1))
    many: list[str] = []

    def work() -> None:
        many.append(csv(swept.run(["simulate"], threads=3)))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert many == [one, one]


def test_the_source_is_in_the_hash_and_the_notes_say_so() -> None:
    (before,) = scenario("own-halve").check()
    run = scenario("own-halve").run(["simulate"])
    assert "class in Python" in run.provenance
    assert any("`own-halve` is a class in Python" in note for note in run.notes)

    class Again(own.Halve):
        name = "own-halve"

        def ssthresh(self, tp: tm.Sender) -> float:
            return tp.snd_cwnd * 0.8

    tm.register(Again)
    try:
        (after,) = scenario("own-halve").check()
        assert after.hash != before.hash
    finally:
        tm.register(own.Halve)
    assert scenario("own-halve").check() == [before]


def test_the_hash_is_that_of_another_process() -> None:
    (here,) = scenario("own-halve").check()
    text = scenario("own-halve").to_toml()
    words = f"import own, trammel as tm; print(tm.Scenario.from_toml({text!r}).check()[0].hash)"
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, cwd=folder)
    assert done.stdout.strip() == here.hash, done.stderr


@pytest.mark.parametrize(
    ("name", "fault"),
    [("reno", "already means"), ("No Name", "must be"), (None, "must be")],
)
def test_a_name_that_cannot_be_is_refused(name: object, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        tm.register(type("Odd", (tm.CongestionControl,), {"name": name}))


def test_what_cannot_be_a_plug_in_is_refused() -> None:
    with pytest.raises(TypeError, match="derived from none"):
        tm.register(tm.CongestionControl)
    with pytest.raises(TypeError, match="neither"):
        tm.register(type("Odd", (tm.CongestionControl,), {"name": "odd", "every": "1 ms"}))


def test_what_a_hook_must_not_write_is_told() -> None:
    class Odd(tm.CongestionControl):
        name = "odd"

        def cong_avoid(self, tp: tm.Sender, acked: int) -> None:
            tp.cwnd = float("nan")

    tm.register(Odd)
    (failure,) = scenario("odd").run(["simulate"]).failures
    assert "`cwnd` is not a number" in failure


def test_a_sender_that_is_kept_writes_to_nobody() -> None:
    kept: list[tm.Sender] = []

    class Keeps(tm.CongestionControl):
        name = "keeps"

        def init(self, tp: tm.Sender) -> None:
            kept.append(tp)

    tm.register(Keeps)
    before = csv(scenario("keeps").run(["simulate"]))
    for sender in kept:
        sender.snd_cwnd = 1
        assert "cwnd 1" in repr(sender)
    assert csv(scenario("keeps").run(["simulate"])) == before


LEFT = """
import os, signal, threading, time
import trammel as tm

@tm.register
class Slow(tm.CongestionControl):
    name = "slow"

    def cong_avoid(self, tp, acked):
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            time.sleep(0.001)

def interrupt():
    for _ in range(2):
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
path = tm.Path(rate="10 Mbit/s", rtt="20 ms")
try:
    tm.Scenario(duration="60 s", repeat=4, path=path, flows=[tm.Flow("slow")]).run(["simulate"])
except KeyboardInterrupt:
    print("left")
"""


def test_engines_that_are_left_behind_do_not_crash_the_exit() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "left\n"), done.stderr


def test_names_are_listed_with_those_of_the_process() -> None:
    variants = tm.names("variant")
    assert "cubic" in variants
    assert variants["own-halve"] == "Halve (a class in Python, slow)"
    assert "own-short" in tm.names("discipline") and "own-gaps" in tm.names("law")
    assert "some" in tm.names("loss")


@pytest.mark.parametrize(
    ("method", "given", "fault"),
    [("losses", [], "list or array"), ("losses", "none", "list or array"), ("loses", None, "")],
)
def test_a_loss_model_that_gives_nothing_of_use_is_told(
    method: str, given: object, fault: str
) -> None:
    def give(self: object, *told: object) -> object:
        return given

    tm.register(type("Odd", (tm.LossModel,), {"name": "odd-loss", method: give}))
    path = tm.Path(rate="10 Mbit/s", rtt="20 ms", loss=tm.Loss("odd-loss"))
    failures = scenario("reno", path=path).run(["simulate"]).failures
    # None is as false as any.
    assert [fault in failure for failure in failures] == ([True] if fault else [])


def test_an_object_that_cannot_be_made_is_told() -> None:
    def fail(self: object, **params: float) -> None:
        raise ValueError("no way")

    tm.register(type("Odd", (tm.CongestionControl,), {"name": "odd-made", "__init__": fail}))
    (failure,) = scenario("odd-made").run(["simulate"]).failures
    assert "`odd-made` in Python: ValueError: no way" in failure
    tm.register(type("Odd", (tm.LossModel,), {"name": "odd-made", "__init__": fail}))
    path = tm.Path(rate="10 Mbit/s", rtt="20 ms", loss=tm.Loss("odd-made"))
    with pytest.raises(tm.ScenarioError, match="no way"):
        scenario("reno", path=path).check()


def test_a_law_of_departures_keeps_the_delay_low() -> None:
    class Head(tm.QueueDiscipline):
        name = "head"

        def dequeue(self, packet: tm.Packet, waiting: tm.Waiting) -> tm.Verdict:
            return "drop" if packet.wait_us > 10_000 else "pass"

    tm.register(Head)

    def delay(discipline: str) -> float:
        queue = tm.Queue(discipline, limit="1000 pkts")
        path = tm.Path(rate="10 Mbit/s", rtt="20 ms", queue=queue)
        run = scenario("reno", path=path, duration="10 s").run(["simulate"])
        assert not run.failures
        (mean, *_) = run.links["queue_delay_mean_us"]
        assert isinstance(mean, float)
        return mean

    assert delay("head") < 10_000 < 50_000 < delay("droptail")


def test_losses_by_the_block_and_one_by_one() -> None:
    def retransmissions(loss: tm.Loss) -> int:
        path = tm.Path(rate="10 Mbit/s", rtt="20 ms", loss=loss, queue=tm.Queue(limit="1000 pkts"))
        # So few segments that none is lost in the queue.
        flows = [tm.Flow("reno", name="a", cwnd_clamp=200)]
        run = scenario("reno", path=path, flows=flows, duration="10 s").run(["simulate"])
        assert not run.failures
        (lost,) = run.flows["retransmissions_pkts"]
        assert isinstance(lost, int)
        return lost

    none = retransmissions(tm.Loss("some", p=0.0))
    assert none == 0
    assert 20 < retransmissions(tm.Loss("some", p=0.01)) < 150
    assert 30 < retransmissions(tm.Loss("hundredth")) < 120


def test_a_law_of_gaps() -> None:
    def sent(seed: int) -> object:
        streams = [tm.Stream(size="500 B", gap=tm.Distribution("own-gaps"))]
        run = scenario("reno", flows=None, streams=streams).run(["simulate"], seed=seed)
        assert not run.failures
        return run.streams["sent_pkts"][0]

    first = sent(1)
    assert isinstance(first, int) and 1350 < first < 1650
    assert sent(1) == first != sent(2)


def test_a_queue_marks_those_who_can_and_drops_the_rest() -> None:
    def run(ecn: Literal["classic"] | None) -> tm.Run:
        path = tm.Path(rate="10 Mbit/s", rtt="20 ms", queue=tm.Queue("own-short", limit="1000 pkts"))
        flows = [tm.Flow("reno", name="a", ecn=ecn)]
        return scenario("reno", path=path, flows=flows).run(["simulate"])

    marked, dropped = run("classic"), run(None)
    assert marked.flows["retransmissions_pkts"] == [0]
    assert dropped.flows["retransmissions_pkts"] != [0]
    assert marked.links["marks_pkts"][0] != 0
    assert dropped.links["queue_peak_pkts"][0] in (19, 20, 21)


def test_a_law_that_raises_is_an_error_of_the_scenario(short: tm.Scenario) -> None:
    @tm.register
    class Boom(tm.Law):
        name = "boom"

        def draw(self, count: int) -> list[float]:
            raise ValueError("no gaps today")

    stream = tm.Stream(size="100 B", gap=tm.Distribution("boom"))
    for use in (tm.Scenario.check, tm.Scenario.run):
        with pytest.raises(tm.ScenarioError, match="no gaps today"):
            use(short.replace(streams=[stream]))


def test_any_window_is_borne(short: tm.Scenario) -> None:
    @tm.register
    class Vast(tm.CongestionControl):
        name = "vast"

        def cong_avoid(self, tp: tm.Sender, acked: int) -> None:
            tp.snd_cwnd = 2**31

    assert short.replace(flows=[tm.Flow("vast")], duration="200 ms").run(["simulate"]).failures == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"every": 20, "on_interval": lambda self, tp, sample: None}, "is a time such as"),
        ({"params": []}, "is a dictionary"),
        ({"params": {"a": (1, 2)}}, "default, least, most"),
        ({"params": {1: 2}}, "default, least, most"),
        ({"params": {"cong_avoid": 1}}, "a name of ours"),
    ],
)
def test_what_cannot_be_registered_is_told(body: dict[str, object], told: str) -> None:
    own = type("Odd", (tm.CongestionControl,), {"name": "odd", **body})
    with pytest.raises((TypeError, ValueError), match=told):
        tm.register(own)


def test_a_hook_is_not_awaited() -> None:
    class Late(tm.CongestionControl):
        name = "late"

        async def cong_avoid(self, tp: tm.Sender, acked: int) -> None:  # type: ignore[override]
            pass

    with pytest.raises(TypeError, match="not awaited"):
        tm.register(Late)
