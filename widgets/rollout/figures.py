"""The small figures of lesson 02: what a language model writes with two settings, the record of five answers, one word
in two spellings, four tokens at a temperature, a group read at another one, and batches whose groups are all alike.
"""

from functools import cache

import numpy as np

from sim.experiments import uniform_groups, written_sums
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import spelling, tasks, tinylm
from sim.worlds.scorer import outcome
from widgets.frame.drawing import scene, sums, trays
from widgets.frame.drawing.marks import bars, cell, grid, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.frame.drawing.written import signed

GROUP = 8
TEMPERATURES = (0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)


# ── the opening: what the language model writes, with two settings ──
SETTINGS = ("both at 1.5", "trainer at 1")
HOT = 1.5  # what both are sampled at
UPDATES = (0, 1, 2, 3, 4, 6, 9, 12, 15, 18, 24, 30, 36, 42, 48, 54, 60)


@cache
def followed(setting):
    """{update: what is written then}"""
    read_at = None if setting == SETTINGS[0] else 1.0
    return written_sums.followed(written_sums.training(temperature=HOT, trainer_temperature=read_at), UPDATES)


def ruined(written):
    """Whether at least twice as many answers as before training are cut off."""
    return written.endless >= 2 * followed(SETTINGS[0])[0].endless


def answers_to_sums(setting, update):
    before, written = followed(setting)[0], followed(setting)[update]
    return [
        scene.scene(
            "Eight sums with the model’s answers",
            "correct: “Final:”, the sum, a stop; [rival] tokens that belong in no answer",
            sums.view("n", "", written, ruined(written), True),
            [
                sums.of_a_hundred("h", "100 before training", before, named=False),
                sums.of_a_hundred("m", f"100 {after(update)}", written),
            ],
        )
    ]


def after(update):
    return f"after update {update}" if update else "before training"


OPENING = Figure(
    answers_to_sums,
    written_sums.followed,
    Handle("Run", SETTINGS, start=1),
    None,
    Time(
        "Update",
        UPDATES,
        tuple(f"update {update} of 60" for update in UPDATES),
        start=len(UPDATES) - 1,
        ticks={UPDATES.index(at): str(at) for at in (0, 4, 12, 24, 36, 48, 60)},
        strip=Strip(
            "Correct answers, of 100",
            lambda: [[followed(setting)[update].right for update in UPDATES] for setting in SETTINGS],
            lambda setting, update: sums.count(followed(setting)[update].right),
        ),
        milliseconds=350,
        holds={0: 1500, UPDATES.index(18): 1500, UPDATES.index(36): 1500},
    ),
    stills=((1, 0), (1, UPDATES.index(18)), (0, len(UPDATES) - 1)),
)


# ── the record of five answers to one sum ──
RECORDED, SHOWN = 75, (0, 1, 2, 4, 6)  # 7 + 5, and which of its first draws
VERDICT = dict(ok="correct", wrong_answer="wrong", bad_format="no format", truncated="cut off")


@cache
def recorded():
    batch, _ = RolloutEngine(tasks.checkpoint("add")).generate(
        tasks.Add(), np.array([RECORDED]), GROUP, np.random.default_rng(0)
    )
    return Verifier(tasks.Add()).verify(batch).rows(list(SHOWN))


def record(quantity):
    """A cell a token: what the sampler wrote down beside it; padding has cells without a value."""
    batch = recorded()
    value_at = {
        "log-prob": lambda at: (signed(batch.old_logp[at]), float(np.exp(batch.old_logp[at]))),
        "who wrote it": lambda at: ("policy", 0.35),
        "version": lambda at: (str(batch.version[at[0]]), 0.0),
    }[quantity]
    padding = ("", None)
    rows = [
        [
            VERDICT[outcome(detail["reason"], ended)],
            [
                cell(sums.text(token), *value_at((i, t))) if own else cell("pad", *padding)
                for t, (token, own) in enumerate(zip(tokens, batch.response_mask[i]))
            ],
            "stopped" if ended else "limit",
        ]
        for i, (tokens, detail, ended) in enumerate(zip(batch.tokens.tolist(), batch.details, batch.finished))
    ]
    return [grid(rows, title="Five answers to 7 + 5, as the sampler records them")]


SAID = {
    "log-prob": "Each token’s log-probability when it was sampled: 0 is certain, −0.86 is 42 in a hundred.",
    "who wrote it": "The mask is 1 for tokens that the policy wrote, and 0 for padding, which fills up the rows.",
    "version": "How many updates the weights had seen when they sampled the token: none yet.",
}


# ── one group, read at other temperatures than it was drawn ──
READ_AT = (1.5, 1.45, 1.4, 1.35, 1.3, 1.25, 1.2, 1.15, 1.1, 1.05, 1.0)
ASKED, DECIDES = 26, tinylm.FINAL  # 2 + 6, and the token after which its one digit stands


@cache
def reading(temperature):
    """The group, its right answers last."""
    group = written_sums.first_group(ASKED, HOT, temperature)
    order = np.argsort(group.right, kind="stable")
    return written_sums.Group(*(tuple(column[i] for i in order) for column in vars(group).values()))


def role(group, row, place):
    if group.removed[row][place]:
        return "silent"
    return "up" if group.right[row] else "down"


def deciding():
    """(row, place) of the digit that makes the last answer, a right one, right."""
    group = reading(HOT)
    row = len(group.right) - 1
    return row, group.tokens[row].tolist().index(DECIDES) + 1


def lost(temperature):
    """(tokens without a push, all) of the right answers, and of the wrong ones."""
    group = reading(temperature)
    removed = [np.concatenate([g for g, r in zip(group.removed, group.right) if r == right]) for right in (True, False)]
    return [(int(tokens.sum()), len(tokens)) for tokens in removed]


def gap(temperature):
    group, (row, place) = reading(temperature), deciding()
    longest = max(map(len, group.tokens))
    wall = FIRST + longest * scene.WORD
    marks = [scene.word("eight answers to 2 + 6", (0, 0.55), "strong")]
    for i, right in enumerate(group.right):
        marks.append(scene.word("correct" if right else "wrong", (0, TOP + i + 0.66), "sum yes" if right else "sum no"))
    rows = [[(sums.text(t), role(group, i, at)) for at, t in enumerate(each)] for i, each in enumerate(group.tokens)]
    ratio, silent = group.ratio[row][place], bool(group.removed[row][place])
    marks += [
        scene.tokens("g", rows, longest, (FIRST, TOP), wide=True),
        scene.ring(
            "r",
            (FIRST + scene.WORD * place, TOP + row),
            f"×{ratio:.2f}: no push left" if silent else f"×{ratio:.2f}",
            size=(scene.WORD, 1),
            role="look",
        ),
    ]
    (up, praised), (down, blamed) = lost(temperature)
    view = scene.view(
        "v",
        wall + 0.4,
        TOP + len(rows) + 1.2,
        f"Read at {temperature:g}, {up} of {praised} tokens in correct answers have no push, and {down} of {blamed} in "
        "wrong answers.",
        *marks,
    )
    return [
        scene.scene(
            "One group of the first batch, before any step",
            "[above-2] pushed up, [below-2] pushed down, dotted: no push",
            view,
            [
                after_final("d", "sampled at 1.5", group.drawn[row][place]),
                after_final("m", f"read at {temperature:g}", group.read[row][place]),
            ],
        )
    ]


FIRST, TOP = 2.2, 1.0  # where the tokens of the group begin


def after_final(key, title, logp):
    p = float(np.exp(logp))
    return scene.view(
        key,
        7.4,
        5.75,
        f"{title.capitalize()}, an 8 comes next {sums.count(p)} times in a hundred.",
        scene.word(f"8 next, {title}", (0, 0.55), "strong", key=f"{key}t"),
        scene.hundred(key, [("followed", p), ("rest", 1 - p)], (0, 0.95)),
        scene.word(sums.count(p), (5, 2.1), "count yes", key=f"{key}y"),
        scene.word("of 100", (5, 2.7), "head"),
    )


def silenced(temperature):
    (up, praised), (down, blamed) = lost(temperature)
    if temperature == HOT:
        return "At the sampler’s own temperature, every ratio is 1, and every token keeps its push."
    return (
        f"Read at {temperature:g}, {up} of {praised} tokens in correct answers have no push left, and {down} of "
        f"{blamed} in wrong answers."
    )


GAP = Figure(
    gap,
    written_sums.first_group,
    None,
    silenced,
    Time(
        "The trainer computes at",
        READ_AT,
        tuple(f"temperature {at:g}" for at in READ_AT),
        start=len(READ_AT) - 1,
        ticks={i: f"{READ_AT[i]:g}" for i in (0, 5, 10)},
        holds={0: 1500},
    ),
    stills=((0, 0),),
)


# ── one text, two rows of tokens ──
def spelled():
    def ids(tokens):
        return [cell(token, f"id {spelling.VOCABULARY.index(token)}", 0.35) for token in tokens]

    drawn = ("HAV", "ING")
    assert list(drawn) in spelling.spellings("HAVING")
    return [
        grid(
            [["sampled", ids(drawn), ""], ["read", ids(spelling.encode("HAVING")), ""]],
            title="The same text in different tokens",
            note="from a toy vocabulary",
        )
    ]


# ── four tokens ──
LOGITS = np.array([2.0, 1.0, 0.0, -1.0])
TOKENS = ("logit 2", "logit 1", "logit 0", "logit −1")


def probabilities(temperature):
    return np.exp(tinylm.log_softmax(LOGITS / temperature))


def four(temperature):
    p = probabilities(temperature)
    return [
        panel(
            "Four tokens, one set of logits",
            "probability of being sampled; [s8] at τ = 1",
            bars(TOKENS, probabilities(1.0), "at 1", 8),
            bars(TOKENS, p, "probability", 1, text=[f"{one:.3f}" for one in p]),
            y_range=(0, 1.08),
        )
    ]


def often(temperature):
    times = np.exp(1 / temperature)
    many = "more than 500" if times > 500 else f"{times:.1f}"
    return f"A token whose logit is higher by 1 is sampled {many} times as often."


# ── groups, batch by batch ──
BATCHES = (1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 60)
COLD = ("τ = 1", "τ = 0.05")
SIXTEEN = [("sixteen groups of eight", range(8)), ("", range(8, 16))]


@cache
def drawn(setting):
    return written_sums.batches(written_sums.training(temperature=float(setting[4:])), BATCHES)


def groups_of(setting, number):
    """(16, 8) each: advantages, and whether the completion is right."""
    batch = drawn(setting)[number]
    return [np.asarray(each).reshape(-1, GROUP) for each in (batch.advantage[:, 0], batch.accuracy > 0)]


def live(setting, number):
    right = groups_of(setting, number)[1]
    return int((right.any(axis=1) & ~right.all(axis=1)).sum())


def batch_by_batch(setting, number):
    A, right = groups_of(setting, number)
    return [
        scene.scene(
            "A batch and its pushes",
            "a check: correct; [above-2] pushed up, [below-2] pushed down, [level] no push",
            trays.view(
                "b",
                f"Batch {number} at {setting}, with correct and wrong answers in {live(setting, number)} of 16 groups.",
                SIXTEEN,
                trays.sums(drawn(setting)[number].example[::GROUP]),
                A,
                right,
                (trays.lowest_alike(right) * GROUP, trays.ALIKE) if live(setting, number) <= 2 else None,
                across=GROUP,
            ),
        )
    ]


def compared(setting, number):
    many, right = live(setting, number), groups_of(setting, number)[1]
    words = {0: "no group has", 1: "one group has"}.get(many, f"{many} of 16 groups have")
    return f"Batch {number} at {setting}: {right.sum()} of 128 answers are correct, and {words} both kinds of answers."


GROUPS = Figure(
    batch_by_batch,
    written_sums.batches,
    Handle("Sampled at", COLD, start=1, words=COLD),
    compared,
    Time(
        "Batch",
        BATCHES,
        tuple(f"batch {number} of 60" for number in BATCHES),
        start=1,
        ticks={i: str(number) for i, number in enumerate(BATCHES)},
        strip=Strip(
            "Live groups, of 16",
            lambda: [[live(setting, number) / 16 for number in BATCHES] for setting in COLD],
            lambda setting, number: str(live(setting, number)),
        ),
        milliseconds=900,
        holds={0: 1500, 1: 2400},
    ),
    stills=((1, 0),),
)


def silent():
    return [
        panel(
            "Share of dead groups",
            "all correct or all wrong; before training, exact, 100 prompts",
            line(TEMPERATURES, [uniform_groups.share(at, GROUP) for at in TEMPERATURES], "dead groups"),
            x="temperature τ",
            x_range=(0.04, 3.4),
            y_range=(0, 0.65),
            log="x",
            ticks=dict(tickvals=[0.05, 0.25, 1, 3], ticktext=["0.05", "0.25", "1", "3"]),
        )
    ]


def ladder(start):
    return Handle(
        "Temperature",
        TEMPERATURES,
        start=TEMPERATURES.index(start),
        words=tuple(f"{at:g}" for at in TEMPERATURES),
        symbol="τ",
    )


FIGURES = {
    "opening": OPENING,
    "record": Figure(
        record, RolloutEngine.generate, Handle("Shown in each cell", tuple(SAID), start=0, words=tuple(SAID)), SAID.get
    ),
    "gap": GAP,
    "spelled": Figure(spelled, spelling.encode),
    "temperature": Figure(four, tinylm.log_softmax, ladder(0.5), often),
    "groups": GROUPS,
    "silent": Figure(silent, uniform_groups.share),
}
