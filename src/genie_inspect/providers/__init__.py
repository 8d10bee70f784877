"""Model providers of our own, for Inspect's `--model`; what they import comes with the first that is asked for."""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="bundled")
def bundled() -> type[ModelAPI]:
    """Replays what is on record: `ordinary`, `inventive` and `researcher` write, `grader` reads and judges."""
    from genie_inspect.providers.replay import BundledAPI

    return BundledAPI


@modelapi(name="conformative")
def conformative() -> type[ModelAPI]:
    """`conformative/<base>+<instruct>`: next token by base_weight * base + (1 - base_weight) * instruct, locally."""
    from genie_inspect.providers.joint_decoding import ConformativeAPI

    return ConformativeAPI
