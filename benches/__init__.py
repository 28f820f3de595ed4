"""Benches that need more than one process: run them as `python3 -m benches.NAME` from the root."""
