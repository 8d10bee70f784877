"""What a sample's scores say by a judge of one's own, and why."""
