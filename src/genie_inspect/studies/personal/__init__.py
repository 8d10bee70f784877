"""A judge of one's own: votes, fits, power, curiosity models, the scorer `personal` and `genie rater`."""
