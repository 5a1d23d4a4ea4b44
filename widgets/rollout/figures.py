"""The small figures of lesson 02: the record of one batch, one word in two spellings, four tokens at a temperature, the
batch read at another one, and groups that are all alike.
"""

from functools import cache

import numpy as np

from sim.experiments import running_batch, uniform_groups
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum, spelling, tasks, tinylm
from widgets.frame.marks import bars, cell, dots, grid, heat, label, line, panel
from widgets.frame.small_figures import Figure, Handle
from widgets.frame.values import signed

GROUP = 8
TEMPERATURES = (0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
NAMES = ("1", "2", "3", "stop")
OTHER = 1.5  # the temperature at which the batch is read once more


# ── the batch ──
def batch(shown, diverging=False, padded=True):
    """The grid with `shown(row, place)` -> (words, tone) in each cell, and padding to the longest row."""
    longest = max(map(len, running_batch.ROWS))
    rows = [
        [
            ("wrong", "right")[int(reward)],
            [cell(NAMES[token], *shown((i, t))) for t, token in enumerate(row)]
            + [cell("pad", "", None)] * (longest - len(row)) * padded,
            f"sum {total} · reward {reward:.0f}",
        ]
        for i, (row, reward, total) in enumerate(zip(running_batch.ROWS, running_batch.RIGHT, running_batch.sums()))
    ]
    return [grid(rows, diverging=diverging)]


@cache
def logp(temperature):
    return running_batch.drawn_logp(modsum.Policy(), temperature)


def written(quantity):
    mask = running_batch.tokens()[1]
    return batch(
        {
            "log-prob": lambda at: (signed(logp(1.0)[at]), float(np.exp(logp(1.0)[at]))),
            "who wrote it": lambda at: ("policy", 0.35 * mask[at]),
            "version": lambda at: ("0", 0.0),
        }[quantity]
    )


SAID = {
    "log-prob": "Log-probability when it was drawn: 0 is certain, −1.28 is 28 in a hundred.",
    "who wrote it": "What the policy wrote gets 1 in the mask; padding, which fills the rows up, gets 0.",
    "version": "How many updates the weights had seen when they drew the token: none yet.",
}


# ── the batch, read at another temperature ──
def read(quantity):
    ratio = np.exp(logp(OTHER) - logp(1.0))
    return batch(
        {
            "recorded": lambda at: (signed(logp(1.0)[at]), float(np.exp(logp(1.0)[at]))),
            "read at 1.5": lambda at: (signed(logp(OTHER)[at]), float(np.exp(logp(OTHER)[at]))),
            "ratio": lambda at: (f"×{ratio[at]:.2f}", float(np.log(ratio[at]) / np.log(1.5))),
        }[quantity],
        diverging=quantity == "ratio",
    )


def apart():
    """Nats a token between the record and the same tokens at the other temperature."""
    return np.abs(logp(OTHER) - logp(1.0)).sum() / running_batch.tokens()[1].sum()


READ = {
    "recorded": lambda: "As the sampler drew them, at temperature 1.",
    "read at 1.5": lambda: f"The same weights and tokens, read at 1.5: {apart():.3f} nats a token away.",
    "ratio": lambda: "Nothing was learned, and yet right stops seem to have become rarer, wrong ones likelier.",
}


# ── one text, two rows of tokens ──
def spelled():
    drawn = ("HAV", "ING")
    assert list(drawn) in spelling.spellings("HAVING")
    ids = lambda tokens: [cell(token, f"id {spelling.VOCABULARY.index(token)}", 0.35) for token in tokens]
    return [
        grid(
            [["drawn", ids(drawn), ""], ["read", ids(spelling.encode("HAVING")), ""]],
            title="One text, other tokens",
            note="of a toy vocabulary",
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
            "probability to be drawn; gray: at τ = 1",
            bars(TOKENS, probabilities(1.0), "at 1", 8),
            bars(TOKENS, p, "probability", 1, text=[f"{one:.3f}" for one in p]),
            y_range=(0, 1.08),
        )
    ]


def often(temperature):
    times = np.exp(1 / temperature)
    return f"A logit higher by 1 is drawn {'more than 500' if times > 500 else f'{times:.1f}'} times as often."


# ── groups ──
PROMPTS = np.array([22, 52, 18, 75, 45, 81])  # a prompt is e // 10 + e % 10
SHORT = {tinylm.FINAL: "", tinylm.HMM: "…", tinylm.EOS: "", tinylm.PAD: ""}


@cache
def drawn(temperature):
    """(6, 8) whether each completion is right, and the answer of each as text, the same draws at every temperature."""
    sampled, _ = RolloutEngine(tasks.checkpoint("add")).generate(
        tasks.Add(), PROMPTS, GROUP, np.random.default_rng(3), temperature
    )
    answers = tasks.Add().answers(sampled.tokens, sampled.response_mask, sampled.finished)
    right = [said == f"Final: {e // 10 + e % 10}" for said, e in zip(answers, sampled.example)]
    texts = [said.removeprefix("Final: ")[:2] if said.startswith("Final: ") else "–" for said in answers]
    return np.array(right).reshape(-1, GROUP), np.array(texts).reshape(-1, GROUP)


def groups(temperature):
    right, texts = drawn(temperature)
    rows, columns = np.arange(len(PROMPTS), 0, -1), np.arange(1, GROUP + 1)
    words = [label(x, y, texts[i, x - 1], 0, "center") for i, y in enumerate(rows) for x in columns]
    names = [label(0.3, y, f"{e // 10} + {e % 10}", 0, "right") for e, y in zip(PROMPTS, rows)]
    for word in [*words, *names]:
        word["annotations"][0]["yanchor"] = "middle"
    return [
        panel(
            "Eight answers to each prompt",
            "filled: right; –: no answer in the form",
            heat(columns, rows, right * 0.55, "right", 0.0, 1.0),
            *words,
            *names,
            x_range=(-1.4, GROUP + 0.6),
            y_range=(0.4, len(PROMPTS) + 0.6),
            bare=True,
        ),
        panel(
            "Groups all right or all wrong",
            "share before training, exact, 100 prompts",
            line(TEMPERATURES, [uniform_groups.share(at, GROUP) for at in TEMPERATURES], "all alike"),
            dots([temperature], [uniform_groups.share(temperature, GROUP)], "here"),
            x="temperature τ",
            x_range=(0.04, 3.4),
            y_range=(0, 0.65),
            log="x",
            ticks=dict(tickvals=[0.05, 0.25, 1, 3], ticktext=["0.05", "0.25", "1", "3"]),
        ),
    ]


def counted(temperature):
    right, _ = drawn(temperature)
    dead = int((right.all(axis=1) | ~right.any(axis=1)).sum())
    return (
        f"Of these six groups {dead or 'none'} {'is' if dead == 1 else 'are'} all right or all wrong; "
        f"of all groups, a share of {uniform_groups.share(temperature, GROUP):.2f}."
    )


def ladder(start):
    return Handle(
        "Temperature",
        TEMPERATURES,
        start=TEMPERATURES.index(start),
        words=tuple(f"{at:g}" for at in TEMPERATURES),
        symbol="τ",
    )


FIGURES = {
    "batch": Figure(
        written, running_batch.drawn_logp, Handle("In each cell", tuple(SAID), start=0, words=tuple(SAID)), SAID.get
    ),
    "read": Figure(
        read,
        running_batch.drawn_logp,
        Handle("In each cell", tuple(READ), start=2, words=tuple(READ)),
        lambda quantity: READ[quantity](),
    ),
    "spelled": Figure(spelled, spelling.encode),
    "temperature": Figure(four, tinylm.log_softmax, ladder(0.5), often),
    "groups": Figure(groups, uniform_groups.share, ladder(0.05), counted),
}
