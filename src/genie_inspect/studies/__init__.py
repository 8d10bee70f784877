"""Slices that serve one study each: command, statistics and files together. The core imports none of them."""
