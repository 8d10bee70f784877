"""The curiosity model of a rater's taste, reproduced: on sentence vectors, and with LoRA on a language model."""
