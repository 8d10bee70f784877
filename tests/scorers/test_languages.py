"""What each measure makes of a text in six scripts, as docs/bring_your_own.md has it in a table."""

import re
from pathlib import Path

import pytest
from inspect_ai.scorer import Score, Scorer
from tests.every_scorer import scorer_of
from tests.scripted import OWL, QUESTIONS, grading, is_unscored, saying, scored, small_population

ROOT = Path(__file__).parents[2]
# three stories of each: a keeper lights his lamp; a chemist spills a liquid and the paper sings; brothers sell a goat
TEXTS = {
    "German": (
        "Der alte Wärter stieg die Treppe des Leuchtturms hinauf, während der Sturm gegen die Felsen schlug. Er "
        "zündete die Lampe an und wartete auf die Schiffe.",
        "Eine junge Chemikerin verschüttete die blaue Flüssigkeit über ihre Notizen, und am Morgen hatte das Papier "
        "singen gelernt.",
        "Zwei Brüder stritten auf dem ganzen Weg zum Markt über den Preis einer Ziege und verkauften das falsche Tier.",
    ),
    "Russian": (
        "Старый смотритель поднялся по лестнице маяка, пока буря билась о скалы. Он зажёг лампу и стал ждать корабли.",
        "Молодая женщина-химик пролила синюю жидкость на свои записи, и к утру бумага научилась петь.",
        "Два брата всю дорогу до рынка спорили о цене козы и продали не то животное.",
    ),
    "Arabic": (
        "صعد الحارس العجوز درج المنارة بينما كانت العاصفة تضرب الصخور. أشعل المصباح وانتظر السفن.",
        "سكبت كيميائية شابة السائل الأزرق على أوراقها، وفي الصباح تعلم الورق الغناء.",
        "تجادل أخوان حول ثمن ماعز طوال الطريق إلى السوق، ثم باعا الحيوان الخطأ.",
    ),
    "Hindi": (
        "बूढ़ा रखवाला प्रकाशस्तंभ की सीढ़ियाँ चढ़ा जबकि तूफ़ान चट्टानों से टकरा रहा था। उसने दीपक जलाया और जहाज़ों की प्रतीक्षा की।",
        "एक युवा रसायनशास्त्री ने नीला द्रव अपने काग़ज़ों पर गिरा दिया, और सुबह तक काग़ज़ गाना सीख चुका था।",
        "दो भाई बाज़ार के पूरे रास्ते बकरी के दाम पर झगड़ते रहे और ग़लत जानवर बेच आए।",
    ),
    "Chinese": (
        "老看守爬上灯塔的楼梯，风暴拍打着下面的岩石。他点亮了灯，等待着远方的船只。",
        "一位年轻的化学家把蓝色液体洒在笔记上，到了早晨，纸张学会了唱歌。",
        "两兄弟一路上为一只山羊的价钱争吵，最后卖错了牲口。",
    ),
    "Thai": (
        "ผู้เฝ้าประภาคารชราปีนบันไดขณะที่พายุซัดโขดหินเบื้องล่าง เขาจุดตะเกียงและรอคอยเรือ",
        "นักเคมีสาวทำของเหลวสีน้ำเงินหกใส่สมุดบันทึก และรุ่งเช้ากระดาษก็ร้องเพลงเป็น",
        "พี่น้องสองคนเถียงกันเรื่องราคาแพะตลอดทางไปตลาด แล้วขายสัตว์ผิดตัว",
    ),
}


def scorer(name: str, folder: str) -> Scorer:
    """A measure with the options that the page's table names beside it."""
    options = dict(re.findall(r"`(\w+)=(\w+)`", name)) | ({"equivalence": "embedding"} if "partition" in name else {})
    return scorer_of(name.split("`")[1], folder, **options)


def score_of(name: str, text: str, others: tuple[str, ...], folder: Path) -> Score:
    population = small_population(folder / "population", {OWL: others}, {OWL: QUESTIONS[OWL]})
    return scored(scorer(name, str(population.folder)), saying(text), grading(), folder / "logs")


def verdict(score: Score) -> str:
    if is_unscored(score):
        return "no number"
    return "a number with a warning" if "Warning: the embedder" in (score.explanation or "") else "a number"


def cells() -> list[tuple[str, str, str]]:
    page = (ROOT / "docs" / "bring_your_own.md").read_text(encoding="utf-8")
    section = page.partition("## Other languages\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return [
        (measure, language, said)
        for measures, *verdicts in rows[2:]
        for languages, said in zip(rows[0][1:], verdicts, strict=True)
        for measure in measures.split(", ")
        for language in languages.split(", ")
    ]


def test_the_page_names_every_language_and_most_measures() -> None:
    assert {language for _, language, _ in cells()} == set(TEXTS)
    assert len(cells()) == 7 * len(TEXTS)


@pytest.mark.parametrize(("name", "language", "said"), cells())
def test_a_measure_does_in_a_language_what_the_page_says(name: str, language: str, said: str, tmp_path: Path) -> None:
    text, *others = TEXTS[language]
    assert verdict(score_of(name, text, tuple(others), tmp_path)) == said


def test_a_short_text_in_another_language_may_be_a_refusal_and_says_so(tmp_path: Path) -> None:
    refusal = (
        "Es tut mir leid, aber dabei kann ich leider nicht helfen. Ich schreibe gern über ein anderes Thema, sag mir "
        "nur welches."
    )
    found = score_of("`compression`", refusal, TEXTS["German"], tmp_path)
    assert "the rule for refusals knows English only" in (found.explanation or "")
