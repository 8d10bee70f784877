"""Whether a curiosity model knows a rater's verdict: votes with texts, five folds, a table, a folder."""
