"""The one reader of Inspect logs: which files there are, what stands in each sample, what a scorer says of a log."""
