"""What a language model writes while it is trained on its own answers, and what happens when the record is not of the
policy that drew, or when all completions of a group are alike.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sim.estimators import attempts, kl, surrogate
from sim.experiments import uniform_groups, written_sums
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine, nucleus
from sim.worlds import tasks, tinylm
from sim.worlds.scorer import outcome
from sim.worlds.tinylm import PAD, word
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene, sums, trays
from widgets.frame.drawing.marks import bars, by_update, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "A tiny language model that learns from its own answers to sums"
UPDATES, GROUPS, GROUP, EVERY = 60, 16, written_sums.GROUP, 6
COST = f"{UPDATES * GROUPS * GROUP:,} completions a run"
DRAWN = 64  # completions of the one prompt, of which the first are shown
FAR = 0.05  # a mean |log ratio| before the first step to which a broken run is put down
HALF = 0.5  # a run that ends with fewer right completions than this is broken; the default leads to 0.83 to 0.87
WELL = 0.8  # below this is clearly less than the default nearly always reaches
NEAR = 2.0  # points by which two runs of a seed may differ and be as good
COLD = 0.15  # a temperature from which down so many groups are all alike that this alone loses the run, or nearly
LATE = 10  # batches, the last of a run
TEMPERATURES = [0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0]
STORED, ONCE = "stored when sampled", "recomputed before the update"
SAME, ONE = "as the sampler", "1"


@dataclass(frozen=True)
class Knobs:
    temperature: float = ladder("Temperature of the sampler", 1.0, TEMPERATURES, symbol="τ")
    trainer: str = choice("Temperature of the trainer", SAME, [SAME, ONE])
    top_p: float = slider("Top-p of the sampler", 1.0, low=0.1, high=1.0, step=0.05)
    old: str = choice("Recorded log-probs", STORED, [STORED, ONCE])
    shown: int = slider("Completions shown", 8, low=2, high=16, step=1)
    a: int = slider("First digit", 7, low=0, high=9, step=1)
    b: int = slider("Second digit", 5, low=0, high=9, step=1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "τ 1, top-p 1": Knobs(),
    "Cold, τ 0.05": Knobs(temperature=0.05),
    "Hot, τ 2": Knobs(temperature=2.0),
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
    written: written_sums.Written  # what it writes now, at temperature 1
    batch: tuple  # of the last one: the prompts (16,), advantages and right completions (16, 8)


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
    outcomes = [outcome(d["reason"], ended) for d, ended in zip(batch.details, batch.finished)]
    raw, processed = policy.prefill(batch.prompt), policy.prefill(batch.prompt, k.temperature)
    apart = np.array(
        [away(nucleus(processed(batch.tokens, t), k.top_p), raw(batch.tokens, t)) for t in range(task.T)]
    ).T
    own = batch.response_mask
    rows = [(batch.tokens[i], batch.old_logp[i], outcomes[i]) for i in range(k.shown)]
    return rows, int(batch.accuracy.sum()), np.round((apart * own).sum() / own.sum(), 9) + 0.0


def away(sampled, raw):
    """KL(sampled‖raw) of log-probs, (N, V) -> (N,); a token that is never sampled adds nothing, and 0 log 0 would be
    nan.
    """
    p, q = np.exp(sampled), np.exp(raw)
    return kl.divergence(np.where(p > 0, p, 1), np.where(p > 0, q, 1))


def trained(k):
    """What `Result` holds from `updates` on, now and then."""
    run = written_sums.training(k.seed, k.temperature, None if k.trainer == SAME else 1.0)
    run.rollout.generate = partial(run.rollout.generate, top_p=k.top_p)
    pass_rate, off, removed, live = [(0, tasks.exact_pass(run.start).mean())], [], [], []
    for event in run.iterate(UPDATES):
        update = event.iteration + 1
        if event.stage == 3:
            batch = event.summary["batch"]
            recomputed = run.trainer.policy.token_logp(
                batch.prompt, batch.tokens, batch.response_mask, run.trainer_temperature
            )[0]
            if k.old == ONCE:
                batch.old_logp = recomputed
        if event.stage == 5:
            own = batch.response_mask > 0
            off.append(np.round(np.abs(recomputed - batch.old_logp)[own].mean(), 9))
            ratio = np.exp(recomputed - batch.old_logp)
            removed.append(surrogate.removed(ratio, batch.advantage, 0.2, 0.2)[own].mean())
        if event.stage == 7:
            live.append(event.summary["frame"].live_groups)
        if event.stage == 7 and (update % EVERY == 0 or update == 1):
            pass_rate.append((update, tasks.exact_pass(run.trainer.policy).mean()))
            by_group = [np.asarray(each).reshape(GROUPS, GROUP) for each in (batch.advantage[:, 0], batch.accuracy > 0)]
            written = written_sums.written(run.trainer.policy)
            last_batch = (batch.example[::GROUP], *by_group)
            yield update, list(pass_rate), list(off), list(removed), list(live), written, last_batch


def progress(k, r):
    return ["update", r.updates, UPDATES]


def figure(k, r):
    return [rows(r), last_batch(r), *curves(r), *prompt_tab(k, r)]


ANSWERS, BATCH = "Eight sums with the model’s answers", "The last batch and its pushes"


def rows(r):
    """What the model writes now: as many rows are right, and as many cut off, as of all its answers."""
    shares = [100 * float(share) for share in r.written.shares]
    return scene.scene(
        ANSWERS,
        f"correct: “Final:”, the sum, a stop; {sums.count(r.pass_rate[-1][1])} of 100 are correct",
        sums.view("n", f"after update {r.updates}", r.written, endless(r)),
        tab="Training",
        front=True,
        data=[bars(["correct", "wrong", "cut off"], shares, "of a hundred answers")],
    )


def endless(r):
    """Whether two rows or more are cut off: before training it is one."""
    return r.written.kinds.count(written_sums.ENDLESS) >= 2


def last_batch(r):
    """Half of its groups: of those that are live, all right and all wrong, half of each."""
    chosen = half(r.batch[2])
    example, advantage, right = (each[chosen] for each in r.batch)
    return scene.scene(
        BATCH,
        trays.WHAT,
        trays.view(
            "b",
            f"Batch {r.updates}, with both correct and wrong answers in {r.live[-1]} of {GROUPS} groups.",
            [(f"batch {r.updates}: eight of its groups", range(8))],
            trays.sums(example),
            advantage,
            right,
            (trays.lowest_alike(right) * GROUP, trays.ALIKE) if r.live[-1] <= FEW else None,
            across=GROUP,
        ),
        tab="Training",
        data=[bars([str(i + 1) for i in range(GROUPS)], r.batch[2].sum(axis=1), "correct completions in each group")],
    )


def half(right):
    """Eight rows of right (16, 8), in order: of each kind of group as many as is its share."""
    kind = np.where(right.all(axis=1), 1, np.where(right.any(axis=1), 0, 2))
    counts = written_sums.largest_remainders([np.mean(kind == of) for of in range(3)], 8)
    return np.sort(np.concatenate([np.flatnonzero(kind == of)[:many] for of, many in enumerate(counts)]))


FEW = 2  # groups that hold right and wrong: so few are pointed at


def curves(r):
    at, pass_rate = np.array(r.pass_rate).T
    update = np.arange(1, r.updates + 1)
    yield by_update(
        "Pass rate of the model",
        "exact, at temperature 1, all 100 prompts",
        line(at, pass_rate, "pass rate"),
        line([0, UPDATES], [pass_rate[0]] * 2, "before training", 8, "reference"),
        label(UPDATES, pass_rate[0], "before training", 8, "right"),
        threshold(HALF, f"broken if it ends below {HALF:g}", 0.0),
        updates=UPDATES,
        tab="Curves",
    )
    yield by_update(
        "Gap between record and trainer",
        "mean |log-prob difference| per token, nats",
        line(update, r.off, "difference"),
        line([0, UPDATES], [FAR, FAR], "small", 8, "reference"),
        label(UPDATES, FAR, f"{FAR:g}: no longer small", 8, "right"),
        updates=UPDATES,
        y_range=(-0.03, 1.0),
        tab="Curves",
    )


WORDS = dict(ok="correct", wrong_answer="wrong", bad_format="no format", truncated="cut off")


def record(k, r):
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
        "Completions of one prompt",
        "each cell is a token, shaded by minus its log-prob, 0 to 10 nats; right: the verdict",
        heat(np.arange(1, T + 1), row, surprise, "nats", 0.0, 10.0),
        *cells,
        *verdicts,
        x_range=(0.4, T + 2.4),
        y_range=(0.4, k.shown + 0.6),
        bare=True,
        tab="One prompt",
    )


def prompt_tab(k, r):
    yield record(k, r)
    many = np.arange(1, DRAWN + 1)
    unbiased = [attempts.pass_at_k(DRAWN, r.right, int(i)) for i in many]
    words = f"pass@1 {unbiased[0]:.2f}, pass@{k.shown} {unbiased[k.shown - 1]:.2f}"
    yield panel(
        "Chance that one of k attempts is correct",
        "from 64 completions; dotted: exact at top-p 1",
        line(many, unbiased, "unbiased"),
        line(many, 1 - (1 - r.p) ** many, "exact", 2, "exact"),
        dots([k.shown], [unbiased[k.shown - 1]], "shown", 1, "here"),
        label(DRAWN, 0.03, words, 1, "right"),
        x="attempts k",
        x_range=(0, DRAWN),
        y_range=(0, 1.05),
        tab="One prompt",
    )


def damaged(r):
    return r.updates == UPDATES and r.pass_rate[-1][1] < HALF


TWO, ALIKE, BOTH = "a record of a different distribution", "eight equal answers", "equal answers and a wrong record"


def cause(k, r):
    """What is behind a damaged run: a record that is not of the policy that drew, or groups without a difference."""
    if not any(r.live) or r.off[0] <= FAR:
        return ALIKE
    return BOTH if k.temperature <= COLD else TWO


def late(r):
    """Share of the groups of the last batches whose completions were all right or all wrong, %."""
    return 100 * (1 - np.mean(r.live[-LATE:]) / GROUPS)


def readouts(k, r):
    blamed = cause(k, r) if damaged(r) else ""
    two, alike = ("violated" if blamed in (fault, BOTH) else "" for fault in (TWO, ALIKE))
    return [
        Readout("Pass rate after training", r.pass_rate[-1][1], "", tasks.exact_pass, "violated" if blamed else ""),
        Readout("Gap before the first step", r.off[0], "nats", tinylm.Policy.token_logp, two),
        Readout("Tokens clipped by the gap", 100 * r.removed[0], "%", surrogate.removed, two),
        Readout("Dead groups at the end", late(r), "%", Verifier.verify, alike),
        Readout("KL of samples to temperature 1", r.apart, "nats/token", kl.divergence),
    ]


def watched(k, r):
    return Gauge(
        f"Pass rate after {UPDATES} updates",
        r.pass_rate[-1][1],
        HALF,
        below=True,
        expression=f"pass rate < {HALF:g} after {UPDATES} updates",
    )


def seen_at(k, r, cause):
    right = f"{sums.count(r.pass_rate[-1][1])} of 100 correct"
    return At(BATCH, None, None, trays.ALIKE) if cause == ALIKE else At(ANSWERS, None, None, right)


def broken(k, r):
    if not damaged(r):
        return None
    blamed, (before, final) = cause(k, r), (100 * r.pass_rate[at][1] for at in (0, -1))
    claims = {"undoing it mends": lambda: end(run, replace(k, **undone(k, blamed))).pass_rate[-1][1] >= HALF}
    if blamed == TWO:
        why = (
            f"Before any step, the record was {r.off[0]:.2f} nats per token off, and the clip mistook that for progress"
        )
    elif blamed == BOTH:
        why = f"The temperature was {k.temperature:g}, and the record was {r.off[0]:.2f} nats per token off"
    elif not any(r.live):
        why = f"No group of {GROUP} ever had both correct and wrong completions, so there was nothing to compare"
        claims |= {"nothing has moved": lambda: r.pass_rate[-1][1] == r.pass_rate[0][1]}
    else:
        why = f"In the end, {late(r):.0f} % of the groups are all correct or all wrong"
        claims |= {"the default has fewer": lambda: late(end(run, Knobs(seed=k.seed))) < late(r) - 20}
    happened = f"The pass rate went from {before:.0f} % to {final:.0f} %."
    return Break(Said(f"{happened} {why}.", claims), fix(k), blamed)


def undone(k, blamed):
    """Knobs without this cause; together with groups all alike the record is undone too, for they would hide it."""
    if blamed == TWO:
        return dict(trainer=SAME, top_p=1.0)
    return dict(trainer=SAME, temperature=max(k.temperature, 1.0), top_p=1.0)


def fix(k):
    values = dict(trainer=SAME) if k.trainer == ONE and k.temperature != 1 else {}
    if k.temperature < 0.7:
        values |= dict(temperature=1.0)
    if k.top_p < 1:
        values |= dict(top_p=1.0)
    return recovery.different(k, values or dict(temperature=1.0))


def worse(k, r):
    if r.updates < UPDATES or r.pass_rate[-1][1] >= WELL:
        return None
    final, before = 100 * r.pass_rate[-1][1], 100 * r.pass_rate[0][1]
    usual = 100 * end(run, Knobs(seed=k.seed)).pass_rate[-1][1]
    if final > usual - NEAR:  # the default of this seed is no better
        return None
    return Said(
        f"The pass rate rose from {before:.0f} % to only {final:.0f} %. The default reaches {usual:.0f} %.",
        {"it learns": lambda: final > before + 10, "the default learns more": lambda: usual > final + 1},
    )


def holds(k, r):
    final, before = 100 * r.pass_rate[-1][1], 100 * r.pass_rate[0][1]
    ends = f"After {r.updates} updates, the pass rate is {final:.0f} %, up from {before:.0f} %"
    return Said(
        f"{ends}. Before the first step, record and trainer differed by {r.off[0]:.2g} nats per token.",
        {
            "it learns": lambda: r.updates < UPDATES or final > before + 30,
            "they are apart only where two distributions were set": lambda: (
                r.off[0] == 0 or k.top_p < 1 or (k.trainer == ONE and k.temperature != 1)
            ),
        },
    )


GUESS = Guess(
    "If both programs use a temperature of 1.5, what is the pass rate after 60 updates?",
    ("0.33, as before training", "about 0.6", "0.83, as at 1"),
    Knobs(temperature=1.5),
    2,
    lambda k, r: f"It is {r.pass_rate[-1][1]:.2f}, as at 1, because the trainer computes at 1.5, too.",
)
DARE = "Can you make the model answer worse than before training?"


OPENING = Played(Knobs(temperature=1.5), Knobs(temperature=1.5, trainer=ONE), "opening")
