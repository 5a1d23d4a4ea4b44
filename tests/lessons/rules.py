"""What a page must have, by its kind, as data: test_anatomy.py holds the pages to it, and CONTRIBUTING.md says it."""

from dataclasses import dataclass

FRONT_MATTER = dict(  # field: what it holds
    kind="lesson (which may be left out), exercise, essay, lab or reference",
    title="the name of a page without a number",
    question="the one question of the page, which ends in a question mark",
    needs="a list of the lessons to be read before, by file name without .md; [] for none",
    code="the module of sim/ that the page is about",
    also="a list of other words under which the page is looked for, and must be found first",
    believe="what the reader may think until now: the simulator shows where it is wrong",
    see="the sentence under the title: what the picture shows, and what goes wrong",
    time="minutes with the simulator, taken by someone who did it",
    extension="true where the page may be skipped; left out otherwise",
    home="true on the front page",
    hide="parts of the theme that the page does not show",
)


@dataclass(frozen=True)
class Kind:
    fields: tuple  # of the front matter
    optional: tuple
    order: tuple  # what the page has, in this order
    words: tuple  # least and most, without code, formulas and fences
    also: tuple = ()  # what it has besides, anywhere
    main_path: tuple = ()  # words before *Going further*, where the page has two depths
    figures: tuple = ()  # small figures on the main path, those in the margin not counted
    questions: int = 0
    sources: int = 0


KINDS = dict(
    lesson=Kind(
        fields=("question", "needs", "code", "also", "believe", "see", "time"),
        optional=("kind", "extension"),
        order=(
            "```opening",
            "```figure",
            "## The simulator",
            "```widget",
            "## What it means",
            "## Takeaways",
            "## Check your understanding",
            "## Going further",
            "!!! errata",
            "## The code",
            "## Sources",
        ),
        words=(1200, 3600),
        also=("??? pause", "??? deeper", "```source"),
        main_path=(900, 1500),
        figures=(2, 4),
        questions=3,
        sources=3,
    ),
    exercise=Kind(
        fields=("kind", "question", "needs", "code", "also"),
        optional=("time", "extension"),
        order=("## The task", "```own", "## What to look for", "## Sources"),
        words=(150, 1500),
        sources=1,
    ),
    essay=Kind(
        fields=("kind", "question", "needs", "also"),
        optional=("code", "believe", "see", "extension"),
        order=("## Takeaways", "## Sources"),
        words=(600, 3300),
        sources=3,
    ),
    lab=Kind(
        fields=("kind", "question", "needs", "also", "believe", "see", "time"),
        optional=(),
        order=(
            "```opening",
            "## 1 ·",
            "## 2 ·",
            "## What it was",
            "## Takeaways",
            "## Check your understanding",
            "## Your note",
            "```note",
            "## Going further",
            "## Sources",
        ),
        words=(600, 2000),
        also=("??? deeper",),
        main_path=(350, 800),
        sources=1,
    ),
    reference=Kind(fields=("kind", "title"), optional=("home", "hide"), order=("\n# ",), words=(0, 3300)),
)
# What a lesson may have at most; those that were there before this was asked are slimmed when they are touched.
BUDGET = {
    "files": 6,  # of its own; a module of sim/ and its test are not counted
    "knobs": 6,  # of its own; those of the reader's job and the seed are not counted
    "panels": 4,
    "tabs": 2,
    "scenes": 1,
    "causes": 3,
    "small figures": 3,
    "functions to change": 1,
    "goals": 2,
    "folds": 4,
}
LARGER = (  # numbers may be crossed out, and none added
    "00 01 02 03 03a 04 05 06 07 08 09 10 10a 11 12 13 13a 14 14a 15 15a 15b 16 16a 16b 17 17a 18 18a 18b 18c 19 19a "
    "20 21 22 22a 22b 22c 23 24 25 26 27 28"
)
BEFORE_A_FIGURE = 250  # words
SEE_WORDS, TAKE_WORDS = 25, 30
TAKE_LINES = 3
LAB_QUESTIONS = 2  # of a page of the Lab, which has no knobs
LINKS = 4  # that turn knobs, all of them after the widget
DEEPER = ["derivation", "figure", "experiment", "production", "evidence", "code"]  # what a fold may be
SOURCES = ["production", "replication", "ablation", "theory", "paper", "docs"]  # what a source may be
FORBIDDEN = ["simply", "obviously", "Let's", "just like that", "delve", "leverage"]
UNFINISHED = "TODO"  # what `python build.py new` leaves for its author
