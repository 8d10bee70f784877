"""A run in batches whose graders are asked one request at a time: Inspect's `--batch` does not reach a role."""

from inspect_ai.model import Model, get_model, model_roles

from genie_inspect.inspect_private import resolved_settings


def unbatched(roles: tuple[str, ...]) -> str:
    """What would batch the models of these roles too, where the run batches and one of them does not; else empty.

    Args:
        roles: Those that judge; one that is not bound does not count.
    """
    size = resolved_settings(get_model()).batch
    if not size:
        return ""
    # a whole number is the size; the other settings of a batch are for a file
    batch = f"{size:d}" if isinstance(size, int) and not isinstance(size, bool) else "true"
    bound = {role: model_roles()[role] for role in roles if role in model_roles()}
    models = {role: one if isinstance(one, list) else [one] for role, one in bound.items()}
    options = [_option(role, each, batch) for role, each in models.items() if not all(map(_is_batched, each))]
    if not options:
        return ""
    return f"--batch reaches the model under evaluation alone; for the judges too: {' '.join(options)}"


def _is_batched(model: Model) -> bool:
    return bool(resolved_settings(model).batch)


def _option(role: str, models: list[Model], batch: str) -> str:
    named = [f"{{model: {model}, batch: {batch}}}" for model in models]
    value = named[0] if len(named) == 1 else f"[{', '.join(named)}]"
    return f"--model-role '{role}={value}'"
