"""The `bundled/...` models: recorded stories and recorded readings, so that the instrument runs anywhere."""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="bundled")
def bundled() -> type[ModelAPI]:
    """Replays what is on record: `ordinary`, `inventive` and `researcher` write, `grader` reads and judges."""
    from genie_inspect.providers.replay import BundledAPI

    return BundledAPI
