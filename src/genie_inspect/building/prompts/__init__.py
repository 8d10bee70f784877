"""Prompts from pairs of concepts that a model names."""
