"""Tasks on texts that exist: nothing is generated, any `--model` will do."""
