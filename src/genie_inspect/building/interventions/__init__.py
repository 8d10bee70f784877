"""Edits of one feature and paraphrases: written by a model, and checked by a model and by people."""
