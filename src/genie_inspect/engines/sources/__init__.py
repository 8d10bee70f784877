"""Where prompts, tables and reference stories come from."""
