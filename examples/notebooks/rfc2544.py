# %% [markdown]
# # RFC 2544 of a simulated router
#
# The throughput of a router is the highest rate at which it loses no frame (RFC 2544 §26.1), and its
# latency is measured at that rate (§26.2). The device here is the NetFPGA reference router at
# 1 Gbit/s, modelled to the clock cycle; nothing is needed but this notebook.

# %%
import polars as pl
import trammel as tm

result = tm.bench(
    model="reference-1g",
    tests=["throughput", "latency"],
    frame_sizes=["64", "128", "512", "1518"],
    quick=True,
)
result.answer

# %%
throughput = pl.DataFrame(result["throughput"])
print(throughput.select("frame_bytes", "throughput_fps", "line_fps", "of_line_percent"))

# %%
result["throughput"].plot("of_line_percent", x="frame_bytes")

# %%
latency = pl.DataFrame(result["latency"])
print(latency.select("frame_bytes", "latency_mean_us", "latency_max_us"))

# %% [markdown]
# The card stores a frame before it forwards it, so its latency grows with the frame. Trials with
# `quick=True` are shorter and fewer than the RFC requires, so the result does not comply with it,
# which its report says. The report is one page, and needs no network:

# %%
result.report("rfc2544.html")[:15]

# %% [markdown]
# **Change next:** `simulate="router.click", machine="xeon-e5-2690v2"` for your own configuration,
# `dut="kernel"` to test this machine's kernel on real packets, `tests=["frame-loss"]`, and
# `out="results"` to keep the folder of the run.
