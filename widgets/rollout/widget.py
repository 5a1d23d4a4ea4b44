"""What a sampler writes down, what a group of completions tells, and what happens to training when the record is not of
the policy that drew, or when all completions of a group are alike.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sim.algorithms import grpo
from sim.estimators import attempts, kl, surrogate
from sim.experiments import uniform_groups
from sim.experiments.standard_runs import add_run
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine, nucleus
from sim.worlds import tasks, tinylm
from sim.worlds.scorer import outcome
from sim.worlds.tinylm import PAD, word
from widgets.frame.exercises import Guess
from widgets.frame.knobs import choice, ladder, slider
from widgets.frame.marks import both, by_update, dots, heat, label, line, panel, threshold
from widgets.frame.readouts import Break, Gauge, Readout
from widgets.frame.small_figures import Opening

TITLE = "Sixty batches of rollouts from a tiny language model, and what training on them leads to"
UPDATES, GROUPS, GROUP, EVERY = 60, 16, 8, 6
COST = f"{UPDATES * GROUPS * GROUP:,} completions a run"
DRAWN = 64  # completions of the one prompt, of which the first are shown
FAR = 0.05  # a mean |log ratio| before the first step to which a broken run is put down
HALF = 0.5  # a run that ends with fewer right completions than this is broken; the default leads to 0.83 to 0.87
WELL = 0.8  # below this is clearly less than the default
LATE = 10  # batches, the last of a run
TEMPERATURES = [0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0]
STORED, ONCE = "stored when sampled", "recomputed before the update"
SAME, ONE = "as the sampler", "1"


@dataclass(frozen=True)
class Knobs:
    temperature: float = ladder("Temperature of the sampler", 1.0, TEMPERATURES, symbol="τ")
    trainer: str = choice("Temperature of the trainer", SAME, [SAME, ONE])
    top_p: float = slider("Top-p of the sampler", 1.0, low=0.1, high=1.0, step=0.05)
    old: str = choice("Log-probs of the record", STORED, [STORED, ONCE])
    shown: int = slider("Completions shown", 8, low=2, high=16, step=1)
    a: int = slider("First digit", 7, low=0, high=9, step=1)
    b: int = slider("Second digit", 5, low=0, high=9, step=1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "τ 1, top-p 1": Knobs(),
    "Nearly greedy": Knobs(temperature=0.05),
    "Creative, τ 2": Knobs(temperature=2.0),
    "Two temperatures": Knobs(temperature=1.5, trainer=ONE),
}


@dataclass(frozen=True)
class Result:
    rows: list  # (tokens, log-probs, outcome) of the first completions
    right: int  # of the 64 drawn
    p: float  # exact pass rate of the prompt at this temperature, top-p 1
    apart: float  # KL of what is sampled from the raw policy, nats a token
    updates: int
    pass_rate: list  # (update, exact pass rate at temperature 1)
    off: list  # of each batch, before the step: mean |recorded less recomputed log-prob| of a token, nats
    removed: list  # and the share of its tokens whose push the clip takes away
    live: list  # groups of each batch that hold a right and a wrong completion


def run(k):
    rows, right, apart = one_prompt(k)
    p = uniform_groups.pass_rates(k.temperature)[10 * k.a + k.b]
    for training in trained(k):
        yield Result(rows, right, p, apart, *training)


def one_prompt(k):
    policy, task, prompt = tasks.checkpoint("add"), tasks.Add(), np.array([10 * k.a + k.b])
    batch, _ = RolloutEngine(policy).generate(
        task, prompt, DRAWN, np.random.default_rng(k.seed), k.temperature, k.top_p
    )
    batch = Verifier(task).verify(batch)
    said = [outcome(d["reason"], ended) for d, ended in zip(batch.details, batch.finished)]
    raw, processed = policy.prefill(batch.prompt), policy.prefill(batch.prompt, k.temperature)
    apart = np.array(
        [away(nucleus(processed(batch.tokens, t), k.top_p), raw(batch.tokens, t)) for t in range(task.T)]
    ).T
    own = batch.response_mask
    shown = [(batch.tokens[i], batch.old_logp[i], said[i]) for i in range(k.shown)]
    return shown, int(batch.accuracy.sum()), np.round((apart * own).sum() / own.sum(), 9) + 0.0


def away(sampled, raw):
    """KL(sampled‖raw) of log-probs, (N, V) -> (N,); a token that is never sampled adds nothing, and 0 log 0 would be
    nan.
    """
    p, q = np.exp(sampled), np.exp(raw)
    return kl.divergence(np.where(p > 0, p, 1), np.where(p > 0, q, 1))


def trained(k):
    """What `Result` holds from `updates` on, now and then."""
    run = add_run(
        grpo,
        seed=k.seed,
        groups=GROUPS,
        K=GROUP,
        hyper=dict(inner_epochs=1, beta=0.0),
        temperature=k.temperature,
        trainer_temperature=None if k.trainer == SAME else 1.0,
        hooks=dict(weights=lambda mask, hp, batch: mask / mask.sum()),
        exact_every=UPDATES,
    )
    run.rollout.generate = partial(run.rollout.generate, top_p=k.top_p)
    pass_rate, off, removed, live = [(0, tasks.exact_pass(run.start).mean())], [], [], []
    for event in run.iterate(UPDATES):
        update = event.iteration + 1
        if event.stage == 3:
            batch = event.summary["batch"]
            now = run.trainer.policy.token_logp(
                batch.prompt, batch.tokens, batch.response_mask, run.trainer_temperature
            )[0]
            if k.old == ONCE:
                batch.old_logp = now
        if event.stage == 5:
            own = batch.response_mask > 0
            off.append(np.round(np.abs(now - batch.old_logp)[own].mean(), 9))
            removed.append(surrogate.removed(np.exp(now - batch.old_logp), batch.advantage, 0.2, 0.2)[own].mean())
        if event.stage == 7:
            live.append(event.summary["frame"].live_groups)
        if event.stage == 7 and (update % EVERY == 0 or update == 1):
            pass_rate.append((update, tasks.exact_pass(run.trainer.policy).mean()))
            yield update, list(pass_rate), list(off), list(removed), list(live)


def progress(k, r):
    return ["update", r.updates, UPDATES]


def figure(k, r):
    return [*training_tab(r), rollouts_tab(k, r), *groups_tab(k, r)]


def training_tab(r):
    at, pass_rate = np.array(r.pass_rate).T
    update = np.arange(1, r.updates + 1)
    yield by_update(
        "Right completions",
        "exact pass rate at temperature 1, all 100 prompts",
        line(at, pass_rate, "pass rate"),
        line([0, UPDATES], [pass_rate[0]] * 2, "at the start", 8, "reference"),
        label(UPDATES, pass_rate[0], "at the start", 8, "right"),
        threshold(HALF, f"broken if it ends below {HALF:g}", 0.0),
        updates=UPDATES,
        tab="Training",
        front=True,
    )
    yield by_update(
        "Recorded less recomputed",
        "|log-prob difference| of a token, nats",
        line(update, r.off, "difference"),
        line([0, UPDATES], [FAR, FAR], "small", 8, "reference"),
        label(UPDATES, FAR, f"{FAR:g}: no longer small", 8, "right"),
        updates=UPDATES,
        y_range=(-0.03, 1.0),
        tab="Training",
    )


WORDS = dict(ok="right", wrong_answer="wrong", bad_format="no format", truncated="cut off")


def rollouts_tab(k, r):
    """A row a completion, the first at the top."""
    T, row = tasks.Add.T, np.arange(k.shown, 0, -1)
    surprise = [[None if token == PAD else -p for token, p in zip(tokens, logp)] for tokens, logp, _ in r.rows]
    cells = [
        label(t + 1, y, word(token), 0, "center")
        for y, (tokens, _, _) in zip(row, r.rows)
        for t, token in enumerate(tokens)
        if token != PAD
    ]
    verdicts = [label(T + 0.7, y, WORDS[said]) for y, (_, _, said) in zip(row, r.rows)]
    for written in [*cells, *verdicts]:
        written["annotations"][0]["yanchor"] = "middle"
    return panel(
        "Completions of the prompt",
        "a cell a token; color: minus its log-prob, 0 to 10 nats; at the right, what the scorer says",
        heat(np.arange(1, T + 1), row, surprise, "nats", 0.0, 10.0),
        *cells,
        *verdicts,
        x_range=(0.4, T + 2.4),
        y_range=(0.4, k.shown + 0.6),
        bare=True,
        tab="Rollouts",
    )


def groups_tab(k, r):
    many = np.arange(1, DRAWN + 1)
    unbiased = [attempts.pass_at_k(DRAWN, r.right, int(i)) for i in many]
    words = f"pass@1 {unbiased[0]:.2f}, pass@{k.shown} {unbiased[k.shown - 1]:.2f}"
    yield panel(
        "One of k attempts is right",
        "probability, for the prompt shown, from 64 completions; dotted: exact at top-p 1",
        line(many, unbiased, "unbiased"),
        line(many, 1 - (1 - r.p) ** many, "exact", 2, "exact"),
        dots([k.shown], [unbiased[k.shown - 1]], "shown", 1, "here"),
        label(DRAWN, 0.03, words, 1, "right"),
        x="attempts k",
        x_range=(0, DRAWN),
        y_range=(0, 1.05),
        tab="Groups",
    )
    pass_rate = [uniform_groups.pass_rates(tau).mean() for tau in TEMPERATURES]
    silent = [uniform_groups.share(tau, GROUP) for tau in TEMPERATURES]
    here = np.interp(k.temperature, TEMPERATURES, silent)
    yield panel(
        "What the temperature does",
        f"shares before training, exact, mean of 100 prompts, top-p 1, groups of {GROUP}",
        line(TEMPERATURES, pass_rate, "right completions"),
        line(TEMPERATURES, silent, "dead groups", 2),
        *([dots([k.temperature], [here], "τ", 2, "here")] if k.top_p == 1 else []),
        label(3, 0.92, "right completions", 1, "right"),
        label(3, 0.82, "groups all right or all wrong", 2, "right"),
        x="temperature τ",
        x_range=(0.04, 3.4),
        y_range=(0, 1.02),
        log="x",
        tab="Groups",
        ticks=dict(tickvals=[0.05, 0.25, 1, 3], ticktext=["0.05", "0.25", "1", "3"]),
    )


def damaged(r):
    return r.updates == UPDATES and r.pass_rate[-1][1] < HALF


TWO, ALIKE = "two distributions", "one answer, eight times"


def cause(k, r):
    """What is behind a damaged run: a record that is not of the policy that drew, or groups without a difference."""
    return TWO if any(r.live) and r.off[0] > FAR else ALIKE


def late(r):
    """Share of the groups of the last batches whose completions were all right or all wrong, %."""
    return 100 * (1 - np.mean(r.live[-LATE:]) / GROUPS)


def readouts(k, r):
    found = cause(k, r) if damaged(r) else ""
    bad = lambda of: "violated" if found == of else ""
    return [
        Readout("Pass rate after training", r.pass_rate[-1][1], "", tasks.exact_pass, "violated" if found else ""),
        Readout("Recorded less recomputed, first batch", r.off[0], "nats", tinylm.Policy.token_logp, bad(TWO)),
        Readout("Tokens that get no push for it", 100 * r.removed[0], "%", surrogate.removed, bad(TWO)),
        Readout("Groups all alike, last ten batches", late(r), "%", Verifier.verify, bad(ALIKE)),
        Readout("KL of a sampled token from the raw policy", r.apart, "nats", kl.divergence),
    ]


def watched(k, r):
    return Gauge(
        f"Right after {UPDATES} updates",
        r.pass_rate[-1][1],
        HALF,
        below=True,
        expression=f"pass rate < {HALF:g} after {UPDATES} updates",
    )


def broken(k, r):
    if not damaged(r):
        return None
    found, (before, now) = cause(k, r), (100 * r.pass_rate[at][1] for at in (0, -1))
    if found == TWO:
        why = f"Before any step the record is {r.off[0]:.2f} nats a token off, so the loss compares with another policy"
    elif not any(r.live):
        why = f"Not one group of {GROUP} held a right and a wrong completion, so there was nothing to compare"
    else:
        why = f"In the end {late(r):.0f} % of the groups are all right or all wrong, with nothing to compare"
    return Break(f"{why}: {now:.0f} % are right, {before:.0f} % before.", fix(k), found)


def fix(k):
    values = dict(trainer=SAME) if k.trainer == ONE and k.temperature != 1 else {}
    if k.temperature < 0.7:
        values |= dict(temperature=1.0)
    if k.top_p < 1:
        values |= dict(top_p=1.0)
    return values or dict(temperature=1.0)


def worse(k, r):
    if r.updates < UPDATES or r.pass_rate[-1][1] >= WELL:
        return None
    now, before = 100 * r.pass_rate[-1][1], 100 * r.pass_rate[0][1]
    return (
        f"{now:.0f} % are right after {r.updates} updates, {before:.0f} % before: it learns, but far less "
        "than it could."
    )


def holds(k, r):
    now, before = 100 * r.pass_rate[-1][1], 100 * r.pass_rate[0][1]
    ends = f"{now:.0f} % are right after {r.updates} updates, {before:.0f} % before"
    return f"{ends}; before the first step record and trainer are {r.off[0]:.2g} nats a token apart."


GUESS = Guess(
    "The stored log-probs are thrown away, and computed again from the same weights just before the step. "
    "How many are right after sixty updates?",
    ("0.33, as before training", "about 0.6", "0.83, as if they were kept"),
    Knobs(old=ONCE),
    2,
    lambda k, r: f"{r.pass_rate[-1][1]:.2f}: the same weights give the same numbers, so nothing was lost.",
)


def opening(plain, other):
    """Right sums, and how far recorded and recomputed log-probs lie apart, of both settings."""
    right = [np.array(r.pass_rate).T * [[1], [100]] for r in (plain, other)]
    update = np.arange(1, UPDATES + 1)
    yield by_update(
        "Right answers of a language model",
        "of 100 sums, on average, over 60 updates",
        line(*right[0], "one setting", 8, "reference"),
        line(*right[1], "the other"),
        dots([0], right[1][1][:1], "the same start", 1),
        label(UPDATES, right[0][1][-1] + 2, "one setting", 8, "right"),
        label(UPDATES, right[1][1][-4:].max() + 3, "the other", 1, "right"),
        updates=UPDATES,
        y_range=(0, 104),
    )
    yield by_update(
        "A token's log-prob, recorded and recomputed",
        "mean difference before the step, nats",
        *both(update, plain.off, other.off),
        label(UPDATES, 0.01, "one setting: 0", 8, "right"),
        label(UPDATES, max(other.off) + 0.02, "the other", 1, "right"),
        updates=UPDATES,
        y_range=(-0.02, 0.6),
    )


OPENING = Opening(
    Knobs(temperature=1.5),
    Knobs(temperature=1.5, trainer=ONE),
    lambda *both: list(opening(*both)),
    tasks.exact_pass,
    "Same code, same seed. One setting differs between the two, and neither is the default.",
)
