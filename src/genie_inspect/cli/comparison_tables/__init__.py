"""The tables of `genie compare`, and the blocks of columns of which other verbs make theirs."""
