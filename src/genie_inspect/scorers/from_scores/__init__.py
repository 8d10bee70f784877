"""Scorers that read what other scorers said of a sample, and ask nobody."""
