# %% [markdown]
# # How large must my buffer be?
#
# The rule of thumb is one bandwidth–delay product (BDP). Appenzeller and others (SIGCOMM 2004) found
# that many flows need only the BDP divided by the square root of their number. Is that so here?

# %%
import polars as pl
import trammel as tm

scenario = tm.Scenario(
    title="Utilisation over buffer sizes",
    duration="30 s",
    warmup="10 s",
    repeat=2,
    path=tm.Path(rate="100 Mbit/s", rtt="40 ms", queue=tm.Queue(limit="1 bdp")),
    flows=[tm.Flow("reno", count=1)],
)
grid = scenario.sweep(
    {
        "flow.0.count": [1, 4, 16, 64],
        "path.queue.limit": ["0.05 bdp", "0.1 bdp", "0.25 bdp", "0.5 bdp", "1 bdp"],
    }
)
run = grid.run(["simulate"])
links = pl.DataFrame(run.links).filter(pl.col("link") == "bottleneck")
used = pl.col("utilisation").mean().round(3)
table = links.group_by("count", "limit_bdp").agg(used).sort("count", "limit_bdp")
print(table.pivot("limit_bdp", index="count", values="utilisation"))

# %%
run.plot("utilisation", entity="bottleneck", x="limit_bdp", color="count")

# %% [markdown]
# What the rule asks for, and the least buffer of these with which the link is busy for 95 % of the
# time. The rule assumes that flows lose at different times; these have one round trip and one queue
# that drops the last, and often lose together:

# %%
enough = table.filter(pl.col("utilisation") >= 0.95).group_by("count")
least = enough.agg(pl.col("limit_bdp").min().alias("least_bdp")).sort("count")
print(least.with_columns((1 / pl.col("count").sqrt()).round(2).alias("rule_bdp")))

# %% [markdown]
# And what a larger buffer costs: the time that a packet waits in it, on average.

# %%
run.plot("queue_delay_mean_us", entity="bottleneck", x="limit_bdp", color="count")

# %% [markdown]
# **Change next:** CUBIC or BBR in place of Reno, `queue=tm.Queue("fq_codel")`, or flows that come
# and go (`workloads=[tm.Workload(…)]`).
