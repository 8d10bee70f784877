"""How a model is asked: who it is, how many calls at a time, and what happens when it fails or cannot be read."""
