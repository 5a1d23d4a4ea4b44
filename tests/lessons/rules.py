"""The limits of a lesson, as CONTRIBUTING.md says them under "A lesson"; test_anatomy.py holds both to them."""

FRONT_MATTER = dict(  # field: what it holds
    question="the one question of the page, which ends in a question mark",
    needs="a list of the lessons to be read before, by file name without .md; [] for none",
    code="the module of sim/ that the page is about",
    loop='"A: …", "B: …" or "C: the policy changes"; left out where no loop runs',
    believe="what the reader may believe until now, and is shown to be wrong",
    see="what the page shows instead, without giving it away",
    breaks="the break, in at most six words",
    extension="true where the page may be skipped; left out otherwise",
)
OPTIONAL = {"loop", "extension"}
LOOPS = r"A: .+|B: .+|C: the policy changes"
BREAK_WORDS = 6
WORDS = 1200, 3300  # without code, formulas and fences
LINKS, LINKS_BEFORE_THE_WIDGET = 4, 2
QUESTIONS = 3
SOURCES = 3
KINDS = ["production", "replication", "ablation", "theory", "paper", "docs"]
FORBIDDEN = ["simply", "obviously", "Let's", "just like that", "delve", "leverage"]
ORDER = ["```widget", "## In production", "!!! errata", "## The code", "## Check yourself", "## Sources"]
UNFINISHED = "TODO"  # what `python build.py new lesson` leaves for its author
