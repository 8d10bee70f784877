"""The options that documents are measured by, and what readers and judges set in their requests."""

import json
import re
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.model._model import init_active_model, init_model_roles  # as an evaluation does
from tests.scripted import saying

from genie_inspect.engines.embedders import CachedEmbedder, embedder, static_token_count
from genie_inspect.errors import FitError, TemplateError, UnknownChoiceError
from genie_inspect.graders.cache import Cache
from genie_inspect.graders.cost import unbatched
from genie_inspect.graders.embedding_judge import shipped_fit
from genie_inspect.graders.instrument import MODES, OFFLINE, Instrument, cache_for, mode_of
from genie_inspect.graders.list_judge import CHUNK, LIST
from genie_inspect.graders.logit_judge import LOGIT
from genie_inspect.graders.merging import Mode, numbered_tokens, parts_in
from genie_inspect.graders.offline_judge import OfflineReader
from genie_inspect.graders.pairwise_judge import PAIRWISE, PairwiseJudge
from genie_inspect.graders.reader import READ
from genie_inspect.graders.stand_ins import rehearsed
from genie_inspect.populations.schema import Feature
from genie_inspect.prompting.templates import Instruction, instruction_of, unfenced

JUDGES = [*MODES, OFFLINE]
PAIR_JUDGES = [name for name, mode in MODES.items() if mode.asks_pairs]


@pytest.mark.parametrize("judge", ["", "List", "offline ", "embedding/", "pairwise/fit.json", "offline/fit.json"])
def test_an_unknown_judge_is_refused_with_its_value_and_what_would_work(judge: str) -> None:
    with pytest.raises(UnknownChoiceError) as caught:
        Instrument(judge)
    assert repr(judge) in str(caught.value)
    assert ", ".join(JUDGES) in str(caught.value)


@pytest.mark.parametrize("instruction", [mode.instruction for mode in MODES.values()], ids=MODES)
def test_a_template_with_other_blanks_is_refused_whatever_the_judge(instruction: Instruction, tmp_path: Path) -> None:
    (tmp_path / f"{instruction.name}.md").write_text("Compare $this with $that.", encoding="utf-8")
    message = f"{instruction.name}.md has the blanks ['that', 'this'], expected {sorted(instruction.blanks)}"
    with pytest.raises(TemplateError, match=re.escape(message)):
        Instrument("list", templates=str(tmp_path))


OTHERS = ["a fox", 'a "hen"', "```"]


@pytest.mark.parametrize("judge", PAIR_JUDGES)
def test_a_mode_reads_of_its_own_requests_and_replies_what_it_put_in_them(judge: str) -> None:
    mode = MODES[judge]
    parts = [("Who?", "an owl", OTHERS[: mode.chunk]), ("Where?", "at sea", ["in a barn"])][: 2 if mode.alone else 1]
    data = unfenced(mode.request(mode.instruction.template(), parts))
    assert parts_in(data) == parts
    known = instruction_of(data)
    assert known
    assert known.keys == mode.instruction.keys == data.keys()
    if mode.said:
        said = mode.said(rehearsed(data), [("2", 0.0)], parts)
        ratings = [{text: judged.rating for text, judged in each.items()} for each in said]
        assert ratings == [dict.fromkeys(others, 2) for _, _, others in parts]


def test_a_mode_of_ones_own_judges_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(PairwiseJudge):
        name = "mine"

    monkeypatch.setitem(MODES, "mine", replace(PAIRWISE, name="mine", judge=Mine))
    _, rater = Instrument("mine").reader_and_judge(saying("").model())
    assert rater.signature.startswith("mine(mockllm/model@")


def test_the_grader_reads_and_embedding_judge() -> None:
    features = [Feature(name=name, definition="What of it.") for name in ("plot", "pace")]
    reader, rater = Instrument("embedding").reader_and_judge(saying("").model(), features)
    assert reader.signature.startswith("grader(mockllm/model@")
    assert rater.signature.startswith(f"embedding({embedder().identity},fit={shipped_fit().digest},")
    assert rater.signature.endswith(",pooled=pace)")


def test_an_embedder_without_a_fit_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(FitError, match=r"judge=embedding/fit\.json"):
        Instrument("embedding", "openai/small")


def test_the_offline_reader_knows_the_words_of_each_feature() -> None:
    plot = Feature(name="plot", definition="What happens.", words=("rain",))
    reader, _ = Instrument("offline").reader_and_judge(None, [plot])
    assert isinstance(reader, OfflineReader)
    assert reader.words == {"plot": ("rain",)}


@pytest.mark.parametrize("judge", PAIR_JUDGES)
def test_templates_of_the_users_reach_the_reader_and_the_judge(judge: str, tmp_path: Path) -> None:
    for instruction in (READ, MODES[judge].instruction):
        blanks = " ".join(f"${blank}" for blank in instruction.blanks)
        (tmp_path / f"{instruction.name}.md").write_text(f"MINE {blanks}", encoding="utf-8")
    model = saying("").model()
    reader, rater = Instrument(judge).reader_and_judge(model)
    own_reader, own_rater = Instrument(judge, templates=str(tmp_path)).reader_and_judge(model)
    assert own_reader.signature != reader.signature
    assert own_rater.signature != rater.signature
    assert reader.signature.startswith("grader(mockllm/model@")
    assert rater.signature.startswith(f"{judge}(mockllm/model@")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"embedder": "word2vec"}, "embedder is 'word2vec', expected static"),
        ({"embedder": 5}, "embedder is 5, expected a name or a path"),
        ({"cache": "no"}, "cache is 'no', expected true or false"),
        ({"min_coverage": 1.1}, "min_coverage is 1.1, expected 0 to 1"),
        ({"min_coverage": True}, "min_coverage is True, expected 0 to 1"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused_when_the_instrument_is_made(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnknownChoiceError, match=re.escape(message)):
        Instrument("list", **options)


def test_several_wordings_are_an_instrument_each_and_no_two_ask_the_same(tmp_path: Path) -> None:
    (tmp_path / "rate_pair.md").write_text("Mine: $data", encoding="utf-8")
    jury = Instrument("pairwise", templates=["original", "terse", str(tmp_path)], ratings=6)
    assert [each.templates for each in jury.wordings] == ["original", "terse", str(tmp_path)]
    assert {each.ratings for each in jury.wordings} == {6}
    assert Instrument("pairwise").wordings == (Instrument("pairwise"),)
    with pytest.raises(UnknownChoiceError, match="one wording here, not several"):
        Instrument("list", templates="original,terse").reader_and_judge(saying("").model())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"templates": "terse,terse"}, "answer_length=concise terse and terse ask the same"),
        ({"templates": "original,full", "judge": "logit", "answer_length": "free"}, "original and full ask the same"),
        ({"templates": "original,full", "judge": "offline"}, "one wording: judge=offline asks no model"),
    ],
)
def test_wordings_that_would_count_twice_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownChoiceError, match=re.escape(message)):
        Instrument(**{"judge": "list", **options})


def test_templates_are_read_once_and_what_becomes_of_the_files_later_does_not_matter(tmp_path: Path) -> None:
    read = tmp_path / "read.md"
    read.write_text("READ $count\n$data", encoding="utf-8")
    instrument = Instrument("list", templates=str(tmp_path))
    before, _ = instrument.reader_and_judge(saying("").model())
    read.write_text("Another $blank", encoding="utf-8")
    after, _ = instrument.reader_and_judge(saying("").model())
    assert after.signature == before.signature
    with pytest.raises(TemplateError, match="blanks"):
        Instrument("list", templates=str(tmp_path))


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("logit", "^grader for judge=logit is 'bundled/grader', expected a provider with log probabilities: .*vllm$"),
        ("pairwise/2", "^judge is 'pairwise/2', expected one of NAMES, none$"),
        ("list/", "^judge is 'list/', expected one of NAMES, none$"),
        ("list/ten", "^judge is 'list/ten', expected how many answers list is shown per call, such as list/10$"),
    ],
)
def test_a_judge_that_cannot_work_ends_a_run_in_one_line_before_anything_is_generated(judge: str, said: str) -> None:
    roles = {"grader": "bundled/grader"}
    with pytest.raises(PrerequisiteError) as caught:
        evaluate(
            "genie_inspect/synthetic_prompts", task_args={"judge": judge}, model="bundled/inventive", model_roles=roles
        )
    assert re.fullmatch(said.replace("NAMES", ", ".join(JUDGES)), str(caught.value.message))


def test_a_replay_is_not_kept_and_what_any_other_model_says_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache_for(get_model("bundled/grader"), cache) is None
    assert cache_for(saying("").model(), cache) is cache
    assert cache_for(saying("").model(), None) is None


def test_a_list_judge_says_in_its_signature_how_many_answers_it_is_shown() -> None:
    model = saying("").model()
    few, usual = (Instrument(judge).reader_and_judge(model)[1].signature for judge in ("list/10", "list"))
    assert few == usual.replace("chunk=50", "chunk=10") != usual
    assert (mode_of("list/10").name, mode_of("list/10").chunk) == ("list/10", 10)
    assert mode_of("list").chunk == 50


@pytest.mark.parametrize(
    ("mode", "chunk", "tokens"),
    [
        (LIST, CHUNK, lambda: [static_token_count("1:0 2:0 3:0"), numbered_tokens(3) + 3]),
        (PAIRWISE, 1, lambda: [30, 30]),
        (LOGIT, 1, lambda: [1, 1]),
    ],
)
def test_a_reply_is_counted_as_a_line_or_as_json(mode: Mode, chunk: int, tokens: Callable[[], list[int]]) -> None:
    assert [mode.reply_tokens(3, as_json) for as_json in (False, True)] == tokens()
    assert (mode.chunk, mode.asks_pairs) == (chunk, True)
    assert numbered_tokens(3) == static_token_count(json.dumps({"1": "", "2": "", "3": ""}))


def test_an_instrument_asks_anew_in_another_cache_when_it_is_told_to(tmp_path: Path) -> None:
    model, cache = saying("").model(), Cache(tmp_path)
    plain: Any = Instrument("list").reader_and_judge(model)
    own: Any = Instrument("list", cache=False).reader_and_judge(model, anew=True, cache=cache)
    assert [one.memo.cache.path for one in plain] == [Cache().path] * 2
    assert [one.memo.cache for one in own] == [cache, cache]
    assert (plain[1].memo.anew, own[1].memo.anew) == (False, True)
    assert Instrument("list", cache=False).cache_for(model) is None
    screen: Any = Instrument("embedding").reader_and_judge(model)[1]
    assert isinstance(screen.embedder, CachedEmbedder)
    assert [Instrument(judge).is_smoke_test for judge in ("offline", "pairwise")] == [True, False]


def test_a_jury_of_which_one_is_batched_is_told_how_to_batch_all() -> None:
    batched, plain = (get_model("mockllm/model", config=GenerateConfig(batch=size)) for size in (7, None))

    def told(graders: list[Model], *roles: str) -> str:
        init_active_model(batched, GenerateConfig())
        init_model_roles({"grader": graders})
        return unbatched(roles)

    # in contexts of their own: what an evaluation sets would stay set for the tests behind
    alone, both = copy_context(), copy_context()
    way_out = "--model-role 'grader=[{model: mockllm/model, batch: 7}, {model: mockllm/model, batch: 7}]'"
    assert alone.run(told, [batched, plain], "grader").endswith(way_out)
    assert both.run(told, [batched, batched], "grader", "preference") == ""
