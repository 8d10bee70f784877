"""Judges of whole texts: equivalence, quality, preference, coherence."""
