"""Trammel's simulator beside ns-2 and ns-3 on the same scenario."""
