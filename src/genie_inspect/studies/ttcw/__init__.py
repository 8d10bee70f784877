"""Verdicts of the Torrance Test counted anew: `genie ttcw` and `genie ttcw extract-plots`."""
