"""README, docs, cards, help, the docstrings that users read, and messages: none of the words and turns that are out."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import reference_pages

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "genie_inspect"
PAGES = [
    *("README.md", "CHANGELOG.md"),
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")),
    *sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.glob("data/**/README.md")),
]
UNIT = "(?:call|document|prompt|rater|row|question|text|plot|story|model|run|pair|line|aspect|criterion|reply)"
ONE = "(?:call|row|line|dot|tick|request|number|column|file|story|vote|sample|panel)"
MANY = "(?:calls|requests|rows|votes|ratings|tokens|pairs|lines|hours|dots|documents|stories|words)"
OUT = {
    r"yardsticks?": "reference scores",
    r"judge[= ](?:vectors|embedded)": "judge=embedding, judge=offline",
    r"instruments?": "grader set-up",
    r"strateg(?:y|ies)|mitigations?": "prompting method",
    r"critics?|close readers?": "grader",
    r"interventions?": "edits and paraphrases",
    r"kinds?(?! of (?:text|stor))": "class, type",
    r"babbl\w+": "a reply that cannot be read",
    r"fore(?:tell|told|tells)": "predict",
    r"beware": "warning",
    r"due": "expected",
    r"holds?": "has, contains; of a result: is significant",
    r"stands?|stood": "is, are",
    r"nobody|anybody|whoever": "name who acts, or: no model calls",
    r"seldom|hitherto|thereby|whence|thereof|anew|aught|naught": "rarely, again",
    r"as (?:it|they) (?:stands?|comes?|came)": "unchanged",
    r"(?:is|are|was|were) none of": "is not one of",
    r"(?<!there )(?<!what )(?:is|are|was|were) no (?!longer|more|less|nearer)\w+": "negate the verb",
    r"(?:be|were|was) had": "available",
    rf"an? {ONE} an? {UNIT}|{MANY} an? {UNIT}|answers a call": "one ... per ...",
}
# at the beginning of a sentence: what it is about comes later
FRONTED = (
    r"(?:^|[.:;] |[*-] )((?:Of (?:the|each|its|these|those|all|every|what)|Below stands?|Beside|Behind)\b[^.\n]{0,40})"
)
# by a part of where it is, or "": what stays, with its reason
STAYS = {
    ("", "what stood out", "the title of a part of the report, and an idiom"),
    ("", "stand-in", "a noun of its own"),
    ("", '"kind": "original"', "the field of a file format"),
    ("charts.py", "datum.kind", "a field of a chart"),
    ("texts.py", "kind", "in a pattern of refusals"),
    ("quality.py", "It holds together", "in the example of an instruction, which is in signatures"),
}


def plain(text: str) -> str:
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)|https?://\S+", " ", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S))


def messages(tree: ast.AST) -> Iterator[str]:
    """The strings of a module that are sentences or parts of them; not docstrings, patterns and names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and " " in str(node.value):
            yield "" if re.search(r"\(\?|\\[wb]|\.\*", str(node.value)) else str(node.value)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield from messages(node)


@cache
def texts() -> dict[str, str]:
    found = {page: plain((ROOT / page).read_text(encoding="utf-8")) for page in PAGES}
    found |= {f"help and reference: {name}": plain(text) for name, text in reference_pages.pages().items()}
    found["help and reference: commands"] = reference_pages.pages()["commands"]
    for template in sorted((PACKAGE / "reports" / "templates").glob("*.j2")):
        found[f"the report's {template.name}"] = re.sub(
            r"\{\{.*?\}\}|\{[%#].*?[%#]\}|<[^>]*>", " ", template.read_text(encoding="utf-8")
        )
    for path in sorted(PACKAGE.rglob("*.py")):
        said = "\n\n".join(messages(ast.parse(path.read_text(encoding="utf-8"))))
        found[path.relative_to(ROOT).as_posix()] = plain(re.sub(r"\{\w+\}", "{}", said))
    return found


def breaches(text: str, where: str = "") -> Iterator[str]:
    """Each word and turn that is out, with what to write and the words around it."""
    for place, phrase, _ in STAYS:
        text = re.sub(re.escape(phrase), " ", text, flags=re.IGNORECASE) if place in where else text
    for pattern, better in OUT.items():
        for found in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
            around = " ".join(text[max(0, found.start() - 40) : found.end() + 40].split())
            yield f"{found[0]!r}, better {better}: {around}"
    for found in re.finditer(FRONTED, text, re.MULTILINE):
        yield f"begins with what it is not about: {found[1]}"


def test_what_users_read_has_none_of_the_words_and_turns_that_are_out() -> None:
    found = texts()
    assert len(found) > 200
    assert [f"{where}: {line}" for where, text in found.items() for line in breaches(text, where)] == []


def test_what_is_out_is_seen() -> None:
    texts = "Below stands the yardstick/a call a document/It is no measure of creativity/smell is none of plot, style"
    assert all(list(breaches(text)) for text in texts.split("/"))


def test_every_exception_is_needed() -> None:
    found = [(where, text.lower()) for where, text in texts().items()]
    for place, phrase, _ in STAYS:
        assert any(place in where and phrase.lower() in text for where, text in found), phrase
