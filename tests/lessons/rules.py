"""The limits of a lesson, as CONTRIBUTING.md says them under "A lesson"; test_anatomy.py holds both to them."""

FRONT_MATTER = dict(  # field: what it holds
    question="the one question of the page, which ends in a question mark",
    needs="a list of the lessons to be read before, by file name without .md; [] for none",
    code="the module of sim/ that the page is about",
    also="a list of other words under which the page is looked for, and must be found first",
    loop='"A: …", "B: …" or "C: the policy changes"; left out where no loop runs',
    believe="what the reader may believe until now, and is shown to be wrong",
    see="what the page shows instead, without giving it away",
    time="minutes with the instrument, taken by someone who did it",
    extension="true where the page may be skipped; left out otherwise",
)
OPTIONAL = {"loop", "extension", "time"}
LOOPS = r"A: .+|B: .+|C: the policy changes"
WORDS = 1200, 3300  # without code, formulas and fences
LINKS, LINKS_BEFORE_THE_WIDGET = 4, 2
QUESTIONS = 3
SOURCES = 3
KINDS = ["production", "replication", "ablation", "theory", "paper", "docs"]
FORBIDDEN = ["simply", "obviously", "Let's", "just like that", "delve", "leverage"]
ORDER = ["```widget", "## In production", "!!! errata", "## The code", "## Check yourself", "## Sources"]

# ── the second edition: a page with a fence `opening` ──
MAIN_PATH = 900, 1300  # words before *Going further*, without code and formulas
BEFORE_A_FIGURE = 250  # words
FIGURES = 2, 4
SEE_WORDS, TAKE_WORDS = 25, 30
TAKE_LINES = 3
DEPTH = [
    "```opening",
    "```figure",
    "## The instrument",
    "```widget",
    "## What it means",
    "## Take with you",
    "## Check yourself",
    "## Going further",
    "!!! errata",
    "## The code",
    "## Sources",
]
DEEPER = ["derivation", "figure", "experiment", "production", "evidence", "code"]  # what a fold may be
UNFINISHED = "TODO"  # what `python build.py new lesson` leaves for its author
