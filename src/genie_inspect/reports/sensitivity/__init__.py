"""Whether a measure deserves trust: what edits of one feature and paraphrases do to its scores."""
