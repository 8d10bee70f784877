"""The features of a kind of text: discovered, and mapped to a taxonomy."""
