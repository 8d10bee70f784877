"""The critic's ablations from verdicts that are there: other cutoffs, other ways of asking, who wrote how much."""
