"""Runs against a baseline: pairs, tests, what holds."""
