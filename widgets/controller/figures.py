"""The small figures of lesson 07: what each stage hands on, rewards on the wrong rows, eight faults and their lamps."""

from functools import cache

import numpy as np

from sim.algorithms import grpo
from sim.experiments import faults
from sim.experiments.standard_runs import add_run
from sim.framework import iteration
from sim.words import plural
from sim.worlds import tinylm
from widgets.frame.drawing.marks import cell, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.written import signed

ROWS, WARM_UP = 4, 2
AFTER = {
    1: "Stage 1, the controller: the prompt, once for each of its completions.",
    2: "Stage 2, rollout: tokens, each with its log-probability when sampled, and the version of the weights.",
    3: "Stage 3, env.verify: one reward for each row.",
    4: "Stage 4, the reference: the same tokens, with their log-probability under the start.",
    5: "Stage 5, the algorithm: an advantage for every token, from a comparison with the prompt's other rows.",
    6: "Stage 6, the trainer: new weights. The cells show how much each log-probability has changed.",
    7: "Stage 7, weight sync: rollout gets the new weights and will sample the next batch with them.",
}


# ── one iteration ──
@cache
def third():
    """The batch of the third iteration of a run with a reference, and its tokens' log-prob after the step."""
    run = add_run(grpo, hyper=dict(beta=0.1, inner_epochs=1))
    for event, batch in faults.stages(run, WARM_UP + 1):
        if (event.iteration, event.stage) == (WARM_UP, 7):
            logp, _, _ = run.trainer.policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
            return batch, logp, run.rollout.version


def shown_rows():
    """Four of the first prompt's completions, right and wrong ones."""
    batch = third()[0]
    right = np.flatnonzero(batch.accuracy[: batch.K] > 0)[:2]
    wrong = np.flatnonzero(batch.accuracy[: batch.K] == 0)[:2]
    return np.sort(np.concatenate([right, wrong]))


def stage(n):
    batch, logp, version = third()
    rows = [[f"row {i + 1}", *row(n, i, batch, logp, version)] for i in shown_rows()]
    prompt = tinylm.decode(batch.prompt[0].tolist())
    return [grid(rows, f"Four of the eight completions of {prompt}", "Fin. is the token Final:", diverging=n > 4)]


def row(n, i, batch, new_logp, version):
    """The cells of one row after stage n, and the words at its right."""
    if n == 1:
        return [cell(tinylm.TEXT[token], "", 0.0) for token in batch.prompt[i]], ""
    cells = []
    for t in range(int(batch.response_mask[i].sum())):
        token = tinylm.brief(batch.tokens[i, t])
        logp = batch.ref_logp[i, t] if n == 4 else batch.old_logp[i, t]
        if n <= 4:
            cells.append(cell(token, f"{round(logp, 2) + 0:.2f}".replace("-", "−"), float(np.exp(logp))))
        elif n == 5:
            cells.append(cell(token, signed(batch.advantage[i, t]), float(np.clip(batch.advantage[i, t] / 2, -1, 1))))
        else:
            change = new_logp[i, t] - batch.old_logp[i, t]
            cells.append(cell(token, signed(change), float(np.clip(change, -1, 1))))
    paid = f"reward {batch.reward[i]:.0f}"
    return cells, {2: f"version {batch.version[i]}", 7: f"next: version {version}"}.get(n, paid)


# ── rewards on the wrong rows ──
PAID = np.array([1.0, 0, 1, 0, 0, 1, 0, 0])  # chosen, not drawn: two prompts of four rows


def moved(shift):
    reward = np.roll(PAID, shift).reshape(2, 4)
    return reward, grpo.advantage(reward, grpo.HP, None)


def shift(n):
    _, A = moved(n)
    right = PAID.reshape(2, 4)
    rows = [
        [
            f"prompt {p + 1}",
            [cell(("no", "ok")[int(right[p, i])], signed(A[p, i]), float(A[p, i]) / 1.6) for i in range(4)],
            f"sum {abs(A[p].sum()):.0f}",
        ]
        for p in range(2)
    ]
    return [grid(rows, "Advantage of each row", "ok: the row is correct", diverging=True)]


def praised(n):
    _, A = moved(n)
    right, pushed = PAID > 0, A.ravel() > 0
    right_and_pushed = int((right & pushed).sum())
    are = plural(right_and_pushed, "is", "are")
    place = ("With the rewards in place", "One row too far", "Two rows too far")[n]
    return (
        f"{place}, {right_and_pushed} of {right.sum()} correct rows {are} pushed up, and {(~right & pushed).sum()} of "
        f"{(~right).sum()} wrong ones. The mean reward is still {PAID.mean():g}."
    )


# ── eight faults ──
FAULTS = {
    "no weight sync": (faults.no_sync, {}),
    "rewards shifted": (faults.reward_shift, {}),
    "rewards shuffled": (faults.reward_shuffle, {}),
    "sign flipped": (faults.sign_flip, {}),
    "wrong groups": (faults.wrong_groups, {}),
    "padding in the loss": (faults.mask_off, {}),
    "reference aliased, β = 0.1": (faults.ref_alias, dict(beta=0.1)),
    "ratio pinned, 4 passes": (faults.old_recomputed, dict(passes=4)),
}
LAMPS = {
    "stage 3": {"rows": "row", "mask": "mask"},
    "stage 4": {"reference": "ref."},
    "stage 5": {"centered": "sum", "upward": "up", "first_ratio": "ρ=1"},
    "stage 6": {"later_ratios": "ρ≠1"},
    "stage 7": {"versions": "vers"},
}


@cache
def followed(name):
    """The run with a fault, and the healthy one of the same setting."""
    fault, setting = FAULTS[name]
    return faults.followed(fault, **setting), faults.followed(None, **setting)


def eight(name):
    spoiled, healthy = followed(name)
    apart = spoiled.trainer[-1] - spoiled.rollout[-1] > 0.02
    who = "trainer" if apart else "with it"
    lamps = [
        [
            words,
            [
                cell(short, *(("out", None) if name_ in spoiled.violated else ("on", 0.25)))
                for name_, short in row.items()
            ],
            "",
        ]
        for words, row in LAMPS.items()
    ]
    return [
        panel(
            "Pass rate",
            "exact; [s8] no fault",
            line(healthy.at, healthy.trainer, "no fault", 8, "reference"),
            line(spoiled.at, spoiled.trainer, "trainer", 1),
            line(spoiled.at, spoiled.rollout if apart else [np.nan] * len(spoiled.at), "sampler", 2),
            label(99, beside(spoiled.trainer[-1]), f"{who}: {spoiled.trainer[-1]:.2f}", 1, "right"),
            label(99, 0.2, f"sampler: {spoiled.rollout[-1]:.2f}" if apart else "", 2, "right"),
            x="iteration",
            x_range=(0, 100),
            y_range=(0, 1.05),
        ),
        grid(lamps, "What must hold", "in each iteration, by stage"),
    ]


def beside(end):
    """Where the word of a curve stands that ends here: below it, where it ends high."""
    return end - 0.2 if end > 0.8 else end + 0.06


def told(name):
    spoiled, healthy = followed(name)
    end, best = min(spoiled.trainer[-1], spoiled.rollout[-1]), healthy.trainer[-1]
    lamps = len(spoiled.violated)
    out = {1: "One lamp is out", 2: "Two lamps are out"}[lamps]
    shows = "the curve shows it too" if end < best - 0.1 else "the curve does not show it"
    return f"The weaker copy ends at {end:.2f}; without a fault it ends at {best:.2f}. {out}, and {shows}."


FIGURES = {
    "iteration": Figure(
        stage,
        iteration.carried,
        Handle("After stage", tuple(AFTER), start=4, words=tuple(f"{n} of 7" for n in AFTER)),
        AFTER.get,
    ),
    "shift": Figure(
        shift,
        faults.reward_shift,
        Handle("Shift of the rewards, in rows", (0, 1, 2), start=1, words=("0", "1", "2")),
        praised,
    ),
    "faults": Figure(eight, faults.followed, Handle("Fault", tuple(FAULTS), start=5, words=tuple(FAULTS)), told),
}
