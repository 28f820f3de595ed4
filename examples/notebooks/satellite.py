# %% [markdown]
# # Which congestion control for my satellite link?
#
# A geostationary satellite: half a second of round trip, and now and then a lost packet. Which of
# Linux's congestion controls fills it, and how long do packets wait in its queue?

# %%
import polars as pl
import trammel as tm

variants = ["reno", "cubic", "hybla", "bbr", "bbr3"]
losses = [0, 1e-5, 1e-4, 1e-3]
scenario = tm.Scenario(
    title="A flow over a geostationary satellite",
    duration="60 s",
    warmup="15 s",
    repeat=3,
    path=tm.Path(
        rate="20 Mbit/s",
        rtt="560 ms",
        queue=tm.Queue(limit="1 bdp"),
        loss=tm.Loss("bernoulli", probability=0),
    ),
    flows=[tm.Flow("cubic")],
)
grid = scenario.sweep({"flow.0.variant": variants, "path.loss.probability": losses})
len(grid.check())

# %% [markdown]
# Each of these is one minute in virtual time, three times with other seeds.

# %%
run = grid.run(["simulate"])
flows = pl.DataFrame(run.flows)
mean = flows.group_by("variant", "probability").agg(pl.col("goodput_mbps").mean())
table = mean.sort("probability").pivot("probability", index="variant", values="goodput_mbps")
print(table.sort("variant").with_columns(pl.exclude("variant").round(1)))

# %%
run.plot("goodput_mbps", x="probability")

# %% [markdown]
# Without losses most fill the link. From one loss in ten thousand on, those that take a loss for a
# sign of a full queue stand far below the 20 Mbit/s; Hybla grows faster and holds longer; BBR, which
# follows the rate that it measures, hardly notices. Now what it costs: how long do packets wait?

# %%
least = pl.col("rtt_p50_us").mean() / 1e3
waiting = flows.filter(pl.col("probability") == 1e-4).group_by("variant").agg(least.round(0))
print(waiting.sort("variant"))

# %% [markdown]
# **Change next:** `queue=tm.Queue("fq_codel")`, the preset `tm.Path(preset="geo")` with its sources
# (`trammel doc preset geo`), or `engines=["measure"]` for the real Linux kernel.
