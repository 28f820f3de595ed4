# %% [markdown]
# # BBR's versions beside CUBIC: who gives way?
#
# BBR version 1 is known to take more than its share where the queue is short. Does version 3? Here
# each shares a link of 50 Mbit/s and 40 ms with one flow of CUBIC, over four lengths of the queue.

# %%
import polars as pl
import trammel as tm

scenario = tm.Scenario(
    title="Two versions of BBR beside CUBIC",
    duration="40 s",
    warmup="10 s",
    repeat=5,
    path=tm.Path(rate="50 Mbit/s", rtt="40 ms", queue=tm.Queue(limit="1 bdp")),
    flows=[tm.Flow("bbr", name="bbr"), tm.Flow("cubic", name="cubic")],
)
grid = scenario.sweep(
    {
        "flow.0.variant": ["bbr", "bbr3"],
        "path.queue.limit": ["0.5 bdp", "1 bdp", "2 bdp", "8 bdp"],
    }
)
run = grid.run(["simulate"])
run.answer

# %%
flows = pl.DataFrame(run.flows).filter(pl.col("flow") == "bbr")
share = pl.col("share").mean().round(2)
table = flows.group_by("variant", "limit_bdp").agg(share).sort("variant", "limit_bdp")
print(table.pivot("limit_bdp", index="variant", values="share"))

# %%
run.plot("share", x="limit_bdp", color="flow_0_variant", dash="entity")

# %% [markdown]
# One run from inside: version 3 probes for bandwidth and gives way between, which version 1 does
# not. The trace has a row an interval, with the phase that BBR is in.

# %%
one = scenario.replace(trace="20 ms", repeat=1, flows=[tm.Flow("bbr3"), tm.Flow("cubic")])
traces = one.run(["simulate"]).traces
sorted(traces)

# %%
traces["base.bbr3"].plot("cwnd_pkts", color="phase")

# %% [markdown]
# **Change next:** `scenario.diverge()` sets the simulator beside the real kernel, segment by
# segment (it needs `trammel kernel build`); `trammel paper bbr-versions` has the whole study.
