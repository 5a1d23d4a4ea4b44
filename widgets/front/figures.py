"""The pictures of the front page: the addition table as two models fill it in, and one batch of answers in five
arrangements, one for each Part of the book.
"""

import re
from functools import cache

from sim.experiments import deleted_line, one_batch
from sim.synthesis import budget
from sim.words import counted
from sim.worlds import tinylm
from widgets.frame.drawing import number_table, scene, vocabulary
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

# ── the addition table, twice ──
RUNS = {"Full code": False, "One line missing": True}  # whether a line is missing
UPDATES = 20
LETTERS = 8  # of a text that is no number: it is there to be seen, not to be read
NUMBER = re.compile(r"(?:hmm )*Final: (\d\d?)")
DIGITS = "0123456789"


@cache
def sums(name):
    return deleted_line.run(RUNS[name], UPDATES)


def many(name, i):
    return sum(sums(name)[i].right)


def text(tokens):
    return "".join(tinylm.TEXT[token] for token in tokens if token != tinylm.EOS).strip()


def cell(tokens, right):
    """(role, what stands in the cell) of one answer: its number, or else the beginning of what was written."""
    said = text(tokens)
    if (number := NUMBER.fullmatch(said)) and tokens[-1] == tinylm.EOS:
        return ("correct" if right else "mistaken"), number[1]
    return "astray", said.replace("Final: ", "")[:LETTERS].strip() or "–"


def after(i):
    return f"after {counted(i, 'update')}" if i else "before training"


def filled(key, name, i):
    update = sums(name)[i]
    alt = f"{name}: the addition table, {many(name, i)} of 100 sums correct {after(i)}."
    return number_table.table(key, name, alt, DIGITS, DIGITS, list(map(cell, update.rows, update.right)))


def tables(i):
    return [
        scene.scene(
            "Two models learn to add. One is missing a line of training code.",
            "",
            *(filled(key, name, i) for key, name in zip("ab", RUNS)),
        )
    ]


def which_is_ahead(i):
    full, missing = (many(name, i) for name in RUNS)
    if full == missing:
        return f"{after(i).capitalize()}, both models answer {full} of 100 sums correctly."
    if not missing:
        first = next(n for n in range(UPDATES + 1) if not many("One line missing", n))
        return f"From update {first} on, the model with the missing line answers no sum correctly."
    ahead = "full code" if full > missing else "missing line"
    return (
        f"{after(i).capitalize()}, the model with the {ahead} is ahead, {max(full, missing)} to {min(full, missing)}."
    )


TABLES = Figure(
    tables,
    deleted_line.run,
    None,
    which_is_ahead,
    Time(
        "Update",
        range(UPDATES + 1),
        tuple(map(after, range(UPDATES + 1))),
        start=UPDATES,
        ticks={i: str(i) for i in range(0, UPDATES + 1, 4)},
        strip=Strip(
            "Correct answers, of 100",
            lambda: [[many(name, i) / 100 for i in range(UPDATES + 1)] for name in RUNS],
            names=tuple(RUNS),
        ),
        milliseconds=600,
        holds={0: 1200, 2: 2400, 3: 1500, 4: 2400},
    ),
    stills=((0, 2), (0, 4)),
)

# ── one batch, five ways ──
WIDE, HIGH = 26.0, 19.0  # squares
LEFT, STEP, ROW = 4.2, 2.18, 1.86  # where the answers to a sum begin, from one to the next, from one sum to the next
BOX = 2.04, 1.66
PUSH = 0.29  # squares for an advantage of 1
TOKEN = 0.72  # squares that a token is long in a slot
SLOT, ROUND_GAP = 0.74, 0.75  # from one slot to the next; between two rounds
GPU, SERVER_GAP = 2.9, 1.6  # from one GPU to the next; between two servers
FLOOR, TALL = 17.9, 14.4  # where a memory begins; squares that the fullest is high
WAYS = ("text", "pushes", "slots", "memory", "time")
PART = 1.75, 1.1  # of a step: from one column of its boxes to the next, and what more there is between two roles
SPENT = {  # of a step: (roles of sim/synthesis/budget.py, how it is drawn)
    "generate": (("rollout",), "generates"),
    "wait": (("tail",), "waits"),
    "train": (("train",), "trains"),
    "all else": (("reference", "sync", "verify", "other"), "passes"),
}
SAID = {
    "text": "Ten answers to each of ten sums. The filled ones are correct, and “hmm” marks an answer without a number.",
    "pushes": (
        "GRPO pushes each answer up or down. The rarer an outcome is among the ten answers, the harder the push."
    ),
    "slots": (
        "The same answers in the 25 slots of an engine. A round ends with its longest answer; hatched slots wait."
    ),
    "memory": "The memory that each answer takes on eight GPUs. One wire connects the two servers.",
    "time": (
        "Each box is now a hundredth of the time of one step, with assumed shares. "
        "The hatched ones wait for the last answers."
    ),
}


@cache
def batch():
    return one_batch.batch()


@cache
def boxes(way):
    """[(x, y, width, height, role)] of the hundred answers."""
    return list(map(dict(text=as_text, pushes=pushed, slots=slotted, memory=stored, time=spent)[way], range(100)))


def verdict(i):
    return "right" if batch().right[i] else "wrong"


def as_text(i):
    row, column = divmod(i, one_batch.EACH)
    return LEFT + STEP * column, ROW * row + 0.2, *BOX, verdict(i)


def pushed(i):
    row, column = divmod(i, one_batch.EACH)
    advantage = float(batch().advantage[i])
    level = ROW * row + 1.0
    tone = vocabulary.toned(round(max(-4, min(4, 2 * advantage))))
    return LEFT + STEP * column, level - PUSH * advantage - 0.2, BOX[0], 0.4, tone


@cache
def starts():
    """Where each round begins and ends, in squares."""
    rounds = one_batch.rounds(batch().lengths)
    return [(TOKEN * start + ROUND_GAP * n, TOKEN * end + ROUND_GAP * n) for n, (start, end) in enumerate(rounds)]


def slotted(i):
    n, slot = divmod(i, one_batch.SLOTS)
    return starts()[n][0], SLOT * slot + 0.1, TOKEN * batch().lengths[i] - 0.06, SLOT - 0.16, verdict(i)


def waiting():
    """The part of each slot in which it waits for the longest answer of its round."""
    for i in range(100):
        x, y, wide, high, _ = slotted(i)
        if (end := starts()[i // one_batch.SLOTS][1]) > x + wide + 0.1:
            yield x + wide, y, end - x - wide, high


def gpu_at(gpu):
    return 0.5 + GPU * gpu + SERVER_GAP * (gpu >= one_batch.GPUS // 2)


def stored(i):
    gpu, below = places()[i]
    token = TALL / max(below + long for (_, below), long in zip(places(), batch().lengths))
    high = token * batch().lengths[i]
    return gpu_at(gpu), FLOOR - token * below - high, GPU - 0.6, high - 0.07, verdict(i)


@cache
def places():
    return one_batch.spread(batch().lengths)


def hundredths():
    """[(words, share of a step in hundredths, role, where its columns begin)]."""
    shares, x = dict(zip(budget.ROLES, budget.SHARES)), 0.3
    for words, (roles, role) in SPENT.items():
        share = round(100 * sum(shares[each] for each in roles))
        yield words, share, role, x
        x += PART[0] * -(-share // 10) + PART[1]


def spent(i):
    for _, share, role, x in hundredths():
        if i < share:
            return x + PART[0] * (i // 10), 1.55 * (i % 10) + 0.2, PART[0] - 0.2, 1.38, role
        i -= share


def short(i):
    """What stands on an answer: its number, or the word that it goes on with."""
    said = text(batch().rows[i])
    number = re.search(r"(\d+)$", said)
    return number[1] if number else "hmm"


def off(seen):
    return "" if seen else "off"


def written(way):
    """The words and lines of all arrangements; those of the others are not seen."""
    for row, pair in enumerate(one_batch.SUMS):
        role = "strong" if way == "text" else off(way == "pushes")
        yield scene.word(f"{pair // 10} + {pair % 10} =", (LEFT - 0.4, ROW * row + 1.2), role, "end", f"s{row}")
    levels = [(LEFT, ROW * row + 0.98, STEP * one_batch.EACH, 0.04) for row in range(len(one_batch.SUMS))]
    yield scene.boxes("l", levels, "rail", way == "pushes")
    yield scene.boxes("w", list(waiting()), "waits", way == "slots")
    ends = [(end + 0.06, 0.0, 0.08, SLOT * one_batch.SLOTS + 0.2) for _, end in starts()]
    yield scene.boxes("e", ends, "path", way == "slots")
    half = one_batch.GPUS // 2
    top = FLOOR - TALL - 0.2
    servers = [(gpu_at(first) - 0.4, top - 0.4, GPU * half + 0.2, TALL + 1) for first in (0, half)]
    yield scene.boxes("u", servers, "server", way == "memory")
    gpus = [(gpu_at(gpu) - 0.1, top, GPU - 0.4, TALL + 0.3) for gpu in range(one_batch.GPUS)]
    yield scene.boxes("g", gpus, "memory", way == "memory")
    wire = [(gpu_at(half - 1) + 1, 1.7, gpu_at(half) - gpu_at(half - 1), 0.12)]
    wire += [(x + 1, 1.7, 0.12, top - 2.1) for x in (gpu_at(half - 1), gpu_at(half))]
    yield scene.boxes("r", wire, "path", way == "memory")
    for n, (words, share, _, x) in enumerate(hundredths()):
        yield scene.word(str(share), (x, 17.2), f"count {off(way == 'time')}", key=f"n{n}")
        yield scene.word(words, (x, 18.4), off(way == "time"), key=f"h{n}")


def arranged(way):
    drawn = boxes(way)
    answers = [scene.bar(f"a{i}", box[:2], box[2], box[4], box[3]) for i, box in enumerate(drawn)]
    numbers = [
        scene.word(
            short(i), (x + BOX[0] / 2, y + 1.1), f"in {verdict(i)}" if way == "text" else "in off", "middle", f"t{i}"
        )
        for i, (x, y, *_) in enumerate(boxes("text"))
    ]
    return [
        scene.scene(
            "One batch of answers, five ways to look at it",
            "",
            scene.view("v", WIDE, HIGH, SAID[way], *written(way), *answers, *numbers),
        )
    ]


BATCH = Figure(arranged, one_batch.batch, Handle("Part", WAYS, words=WAYS), SAID.get)

FIGURES = {"tables": TABLES, "batch": BATCH}
