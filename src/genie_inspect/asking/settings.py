"""The settings of a model's requests as Inspect resolves them."""

from inspect_ai.model import GenerateConfig, Model


def resolved_settings(model: Model) -> GenerateConfig:
    """What a model's role, and what of the run reaches it, add to every request; a request's own settings beat these.

    Inspect has no public way to it: the role's own settings stand in `model.config`, the run's `--max-connections`,
    `--max-retries` and, where the model is the one under evaluation, all others reach it in `generate` alone.
    """
    return model._resolve_config(GenerateConfig())
