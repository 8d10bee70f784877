"""Edits and paraphrases by which a measure is tested, written and checked: `genie edits`."""
