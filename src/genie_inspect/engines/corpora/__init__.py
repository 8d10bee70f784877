"""What is searched for copied runs of words."""
