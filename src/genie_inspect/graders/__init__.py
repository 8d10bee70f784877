"""Who is asked and how: the grader, reading, rating, critics, judges of whole texts; what they said is kept."""
