"""Close readings beside n-gram novelty and beside people: `genie close-reading`."""
