"""Scores held against people and against each other: votes, machine scores, calibration of judges."""
