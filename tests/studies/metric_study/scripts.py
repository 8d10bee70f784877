"""A model that edits, paraphrases, screens, reads and rates by what stands in a request."""

from collections.abc import Callable

from tests.scripted import Data, Script, numbered

from genie_inspect.prompting.fence import unfenced


def editing(
    edit: Callable[[Data], str] = lambda data: f"{data['text']} Now {data['value']}.",
    verdict: Callable[[Data], str] = lambda data: "keep",
    value: Callable[[Data], str] = lambda data: "yes",
    answer: Callable[[str, str], str] = lambda document, question: f"{question} {document}"[:60],
) -> Script:
    """Edits by appending the new value, unless told otherwise."""

    def reply(request: str) -> str:
        data = unfenced(request)
        if "questions" in data:
            return numbered({number: answer(data["document"], asked) for number, asked in data["questions"].items()})
        if "others" in data:
            same = {number: 4 if data["answer"] == other else 1 for number, other in data["others"].items()}
            return numbered(same)
        if "changed" in data:
            return numbered({1: verdict(data)})
        if "version" in data:
            return f"{data['text']} Again {data['version']}."
        if "count" in data:
            return numbered({number: f"{data['feature']} {number}" for number in range(1, data["count"] + 1)})
        return edit(data) if "reader" in data else numbered({1: value(data)})

    return Script(reply)
