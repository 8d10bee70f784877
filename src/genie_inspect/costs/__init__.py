"""What a run will ask for: calls and tokens."""
