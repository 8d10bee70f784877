"""The `genie` command: each verb is imported when it is called."""

import click

from genie_inspect.cli.group import VerbGroup

VERBS = {
    "demo": ("genie_inspect.cli.results:demo", "Evaluate the two bundled storytellers, offline."),
    "summary": ("genie_inspect.cli.results:summary", "Put logs into one table."),
    "cost": ("genie_inspect.cli.cost:cost", "Say what judging will cost before it is asked for."),
    "calibrate": ("genie_inspect.cli.calibrate:calibrate", "Measure how far judges and people rate alike."),
    "readings": ("genie_inspect.cli.readings:readings", "Hold a reader's answers against those on record."),
    "cache": ("genie_inspect.cli.cache:cache", "Look at, export or clear what models have said."),
    "requests": (
        "genie_inspect.cli.batch:requests",
        "Write what judging would ask as batch files, and say what is left.",
    ),
    "ray": (
        "genie_inspect.cli.batch:ray",
        "Ask what judging needs as one job on a Ray cluster, and import the replies.",
    ),
    "compare": ("genie_inspect.cli.compare:compare", "Say what a strategy changes against a baseline."),
    "study": ("genie_inspect.cli.study:study", "Say what a measure is sensitive to, and whether it is robust."),
    "lengths": (
        "genie_inspect.cli.lengths:lengths",
        "Hold scores by long answers against those by concise ones.",
    ),
    "report": (
        "genie_inspect.cli.results:report",
        "Put logs into one page: tables, charts, what stood out, methods.",
    ),
    "frame": ("genie_inspect.cli.results:frame", "Write scores as a table for pandas, R or a spreadsheet."),
    "show": ("genie_inspect.cli.show:show", "Show one document of a log, and why it got its numbers."),
    "agreement": ("genie_inspect.cli.agreement:agreement", "Hold a machine's scores against people's votes."),
    "ttcw": (
        "genie_inspect.studies.ttcw.commands:ttcw",
        "Count verdicts on stories anew: cutoffs, ways of asking, totals and words by writer.",
    ),
    "plots": (
        "genie_inspect.studies.ttcw.commands:plots",
        "Draw one-sentence plots from stories of your own, for the task ttcw.",
    ),
    "rater": (
        "genie_inspect.studies.personal.commands:rater",
        "Fit a judge of one's own to votes, and say what it is worth.",
    ),
    "close-reading": (
        "genie_inspect.studies.close_reading.commands:close_reading",
        "Hold close readings against n-gram novelty, and against people.",
    ),
    "index": ("genie_inspect.cli.population:index", "Build an infini-gram index of a folder of texts."),
    "population": (
        "genie_inspect.cli.population:population",
        "Build, import, check, merge, sample, measure and show populations.",
    ),
    "prompts": (
        "genie_inspect.cli.questions:prompts",
        "Make files of prompts: pairs of concepts of any domain, or samples of what people wrote.",
    ),
    "questions": (
        "genie_inspect.cli.questions:questions",
        "Write the questions of a population, and let people correct them.",
    ),
    "interventions": (
        "genie_inspect.studies.metric_study.commands:interventions",
        "Write edits and paraphrases by which a measure is tested, and check them.",
    ),
    "features": (
        "genie_inspect.cli.questions:features",
        "Find the features along which texts of a kind can differ.",
    ),
}


@click.group(cls=VerbGroup, verbs=VERBS)
@click.version_option(package_name="genie-inspect")
def main() -> None:
    """How novel is a model's writing, and where?

    \b
    genie demo                          the whole instrument on recorded stories, offline
    genie summary logs/                 the table of logs that you have
    genie compare logs/ --baseline X    what differs, and what of it holds
    genie study LOG                     whether a measure deserves trust: edits and paraphrases
    genie report logs/ -o report.html   the page of them
    genie frame logs/ -o scores.csv     their scores as a table for data analysis
    genie show LOG SAMPLE               one document of them
    genie agreement logs/ --votes FILE  how far the scores agree with people
    genie rater fit VOTES --scores LOG  a judge of your own, from your votes
    genie close-reading logs/           what a close reader finds where n-grams are new
    """
