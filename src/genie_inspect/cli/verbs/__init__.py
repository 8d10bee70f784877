"""The commands of `genie`, one a file."""
