"""The vocabulary of the pictures: what each mark stands for, what each role means, and what things are called.

One file for all pages, so that a square is the same thing on each. Marks are made in scene.py and drawn in drawing.py;
the style sheet site/assets/style/scene.css styles the roles as this file says, and a test reads both.
"""

from dataclasses import dataclass

MARKS = {
    "tokens": "a square with its text is a token, a row a completion; nothing else is drawn as a square with text",
    "trays": "a tray is a group; in it a completion has round ends, a check if right, and its advantage's tone",
    "tray": "one tray, where trays are thrown away or brought in",
    "frame": "the tray of a group where groups change their size; that of a live one, or of a wrong verdict, is dark",
    "answers": "a square is an answer, filled if correct; an arrow in it says how hard it is pushed up, if it is",
    "hundred": "a probability is a hundred dots",
    "piles": "what answers say or use: a dot an answer, in piles; it moves to another pile and stays one answer",
    "blocks": "a wide cell with its slots is a block of a cache; its owner is written outside or beside, never in it",
    "holes": "a circle is a hole of a verifier: struck out if found, faint if closed, double if open and shared",
    "parts": "an answer too long for squares: equal parts of it, each toned by what lands on its tokens",
    "bars": "how far something has come, on a line of its own",
    "rail": "a quantity from left to right, on which tokens stand",
    "hop": "a step that a token makes along its rail, from where it stood to where it lands",
    "arrows": "a push, as long as the step that it makes",
    "fleet": "a cell in its server is a GPU, filled as its memory is; what does not fit stands on it in outline",
    "words": "what is written on the picture",
    "lanes": "work in rows over a time axis; a completion in a slot has round ends, so that the next one shows",
    "grip": "an upright line with a pill is dragged; a cross on it strikes out the row that it cuts",
    "tip": "a point at the end of dots: where it would have ended, filled if right, outlined if wrong",
    "counts": "large numbers below a picture: what a reader would count in it",
    "boxes": "many boxes of one kind that stay: frames of memories, time in which slots wait",
    "doors": "a door is a check before which a text stands; it is filled if the check pays, and says how much",
    "gates": "a post is a check; a completion's thread ends at the post that stops it, or in a filled square if paid",
    "picks": "a cell is a completion, filled if correct; a ring is the pick, wine if rewarded and wrong",
    "forks": "a fork is a step; a branch is as wide as the share of a hundred runs on it, and a dot is one run",
    "cuts": "a row is a text: its tokens in squares on the left, the finished text with its reward beyond a line",
    "number table": "what a model answers for each row and column; filled where the number is correct",
    "wall": "a limit that ends whatever reaches it",
    "outline": "a region of a map, shaded: where people like completions better than the start's average",
    "oval": "a policy on a map: the ring around half of its completions, or a point where their middle is",
    "needle": "the way in which a reward rises on a map",
    "comparison": "answers in words; a sheet with writing is one that was chosen, with a heading if it is styled",
    "ring": "look here: wine for what is broken, ink for what is only pointed at; at most six words",
}


@dataclass(frozen=True)
class Role:
    """Its meaning, and its colors as named in the style sheet; "" is none."""

    says: str
    fill: str = ""
    edge: str = ""
    ink: str = "ink"


ROLES = {
    # tokens
    "yes": Role("a token of a correct completion", "q2"),
    "no": Role("a token of a wrong completion", "paper", "edge", "ink2"),
    "stop": Role("the stop of a correct completion", "d1", ink="on1"),
    "astray": Role("a stop in the wrong place", "edge", ink="paper"),
    "rival": Role("what takes the place of what is wanted", "d2", ink="on2"),
    "hmm": Role("a hmm that leads to no right answer, and their share", "d4", ink="on1"),
    "after": Role("what is written after that, at a quarter of its strength", "paper", "rule", "ink3"),
    "up": Role("a token that is wanted", "q2", "d1"),
    "down": Role("a token that is unwanted", "v4", "d2"),
    "silent": Role("a token with no push of its own", "paper", "d8", "ink3"),
    "past": Role("the part of a rail past a bound", "panel"),
    # completions in trays, parts of a long answer and its first token: a quantity that may lie above or below 0
    "level": Role("next to nothing", "v5", "rule"),
    "above-1": Role("a little above 0", "v6", "rule"),
    "above-2": Role("above 0", "v7", "rule"),
    "above-3": Role("far above 0", "v8", "rule", "on1"),
    "above-4": Role("farther above 0", "v9", "rule", "on1"),
    "below-1": Role("a little below 0", "v4", "rule"),
    "below-2": Role("below 0", "v3", "rule"),
    "below-3": Role("far below 0", "v2", "rule", "on1"),
    "below-4": Role("farther below 0", "v1", "rule", "on1"),
    # answers that are compared in groups
    "hit": Role("a correct answer", "d1", ink="on1"),
    "miss": Role("a wrong answer beside a correct one", "q2"),
    "mute": Role("a wrong answer in a group that is all wrong", "paper", "rule", "ink3"),
    # answers in words, and their sheets
    "plain": Role("an answer that says it and no more", "paper", "d1"),
    "styled": Role("an answer with a heading and a sure tone", "v4", "d2"),
    # dots
    "followed": Role("the share that is followed", "d1"),
    "against": Role("the share of its rival", "d2"),
    "rest": Role("the share of all others", "q3"),
    # blocks of a cache, and bars of how far a sequence has come
    "held": Role("a block with an owner; hatched: paid for, and no token there", "d1"),
    "open": Role("a part of a memory that holds tokens, and is free otherwise", "d1"),
    "shared": Role("a block in several tables: a double frame", "d1"),
    "free": Role("a block without an owner", "paper"),
    "lost": Role("a block that was taken from its owner", "paper"),
    "given": Role("what a sequence begins with", "q3"),
    "written": Role("what it has written", "d1"),
    "to-come": Role("what it will write", "q1"),
    # what generates and what trains: memory of GPUs, and their work
    "generates": Role("weights of an engine, and its work", "d1", ink="on1"),
    "cache": Role("keys and values of sequences", "q3"),
    "trains": Role("training state, and an update", "d2", ink="on2"),
    "passes": Role("what a pass of training needs for a while, and log-probs", "v4"),
    # spans of work in lanes
    "work": Role("work on what the page follows", "d1", ink="on1"),
    "other": Role("work on other batches or completions", "q3"),
    "waits": Role("paid for and waiting: hatched", "", "edge"),
    "ghost": Role("as it was, or as it would have been: dashed", "", "ink2"),
    "path": Role("what the step waits for: underlined", "ink"),
    "right": Role("a correct completion: filled", "d1", "d1", "on1"),
    "wrong": Role("a wrong completion: outlined", "paper", "d1"),
}

OF_ALL = {  # what a color means on every page
    "navy": "what the page follows",
    "pale": "its context",
    "amber": "its rival, named on the picture",
    "wine": "what is broken: a ring, a leader, overflow",
    "petrol": "what can be turned or followed",
    "violet": "hmm, and nothing else",
    "hatch": "paid for, and unused or waiting",
    "double frame": "shared",
}

NAMES = {  # {what a thing is called: what it is never called}
    "reward": ("score", "points"),  # what a completion earns
    "factor": ("weight",),  # what multiplies a push; a weight is a parameter
    "before training": ("at the start",),
    "last setting": ("previous run",),
    "stop": ("eos", "end token"),
}
OVERLAPS = ("synchronous", "partial rollout", "one-step off-policy", "asynchronous")  # the ways to overlap
RING_WORDS = 6


def toned(step: int) -> str:
    """The role of a quantity `step` steps above 0 or, if negative, below it; at most four."""
    return f"{'above' if step > 0 else 'below'}-{abs(step)}" if step else "level"
