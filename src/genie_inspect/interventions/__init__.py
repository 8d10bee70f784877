"""Texts that were changed on purpose: originals, edits of one feature each, paraphrases."""
