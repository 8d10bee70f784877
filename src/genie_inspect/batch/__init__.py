"""What goes out in files or as one job on Ray, and the replies that come back."""
