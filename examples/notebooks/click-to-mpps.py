# %% [markdown]
# # From a Click file to millions of packets a second
#
# A switch in Click's language: what does it do on a server that I do not have yet, and what limits
# it? The estimate counts what each element does to a packet, and prices it for a machine.

# %%
from pathlib import Path

import polars as pl
import trammel as tm

shipped = Path("../router/mpls-switch.click")
click = tm.Click.from_file(shipped)
print(click.text)

# %%
click

# %%
sizes = [64, 256, 1518]
result = click.estimate("xeon-e5-2690v2", frame_sizes=sizes, rate="10 Gbit/s")
print(result)

# %%
functions = pl.DataFrame(result["functions"])
print(functions.select("frame_bytes", "cost_cycles", "rate_mpps", "bound_by", "next_limit"))

# %% [markdown]
# The link limits it. What would it do without, and on how many cores?

# %%
for cores in (1, 2, 4):
    print(click.estimate("xeon-e5-2690v2", frame_sizes=[64], cores=cores).answer)

# %% [markdown]
# The configuration itself runs too, here on a hundred packets in virtual time:

# %%
counted = tm.Click("InfiniteSource(LIMIT 100, STOP true) -> c :: Counter -> Discard")
counted.run(handlers=["c.count"]).handlers

# %% [markdown]
# **Change next:** your own file, another machine (`trammel list machines`, or `trammel calibrate`
# for this one), `what_if=["routes=1M"]`; `measure=True` runs it on this machine beside the estimate.
