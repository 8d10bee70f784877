"""Requests asked as one job of Ray Data LLM, of a server or by engines on GPUs, and replies in files of a folder."""
