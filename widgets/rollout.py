"""What a sampler writes down, what a group of completions tells, and what happens to training when the old log-probs
are not those of the sampler.
"""

from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from sim.algorithms import grpo
from sim.estimators import attempts, kl, surrogate
from sim.experiments.runs import add_run
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine, nucleus
from sim.framework.trainer import Trainer
from sim.worlds import tasks
from sim.worlds.scorer import outcome
from sim.worlds.tinylm import PAD, TEXT
from widgets.frame.contract import Break, Gauge, Readout, choice, ladder, slider
from widgets.frame.marks import dots, heat, label, line, panel, threshold

TITLE = "Sixty batches of rollouts from a tiny language model, and what the trainer remembers of them"
UPDATES, GROUPS, GROUP, EVERY = 60, 16, 8, 6
COST = f"{UPDATES * GROUPS * GROUP:,} completions a run"
DRAWN = 64  # completions of the one prompt, of which the first K are shown
FAR = 0.05  # a mean |log ratio| before the first step to which a broken run is put down
HALF = 0.5  # a run that ends with fewer right completions than this is broken; the record leads to 0.84 to 0.89
WELL = 0.8  # below this is clearly less than the default
TEMPERATURES = [0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0]
STORED, ONCE, EACH = "stored when sampled", "recomputed before the update", "recomputed before each pass"
SAME, ONE = "as the sampler", "1"


@dataclass(frozen=True)
class Knobs:
    K: int = slider("Completions shown", 8, low=2, high=16, step=1, symbol="K")
    temperature: float = ladder("Temperature of the sampler", 1.0, TEMPERATURES, symbol="τ")
    passes: int = ladder("Passes over each batch", 4, [1, 2, 4, 8])
    old: str = choice("Old log-probs", STORED, [STORED, ONCE, EACH])
    trainer: str = choice("Temperature of the trainer", SAME, [SAME, ONE])
    top_p: float = slider("Top-p of the sampler", 1.0, low=0.1, high=1.0, step=0.05)
    a: int = slider("First digit", 7, low=0, high=9, step=1)
    b: int = slider("Second digit", 5, low=0, high=9, step=1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "τ 1, top-p 1": Knobs(),
    "Nearly greedy": Knobs(temperature=0.05),
    "Creative, τ 2": Knobs(temperature=2.0),
    "Old log-probs forgotten": Knobs(old=EACH),
    "Two temperatures": Knobs(temperature=1.5, trainer=ONE, passes=1),
}
AMPLIFIES = {  # four passes an update carry it into the first digits; the spread of nine starts 1e-12 apart
    "τ 1, top-p 1": {"Pass rate after training": 0.02},
    "Creative, τ 2": {"Pass rate after training": 0.1, "Largest |log ratio| the loss saw": 0.6},
}


@dataclass(frozen=True)
class Result:
    rows: list  # (tokens, log-probs, outcome) of the first K completions
    right: int  # of the 64 drawn
    p: float  # exact pass rate of the prompt at this temperature, top-p 1
    apart: float  # KL of what is sampled from the raw policy, nats a token
    updates: int
    pass_rate: list  # (update, exact pass rate at temperature 1)
    first: list  # mean |log ratio| before the first step of an update, as the loss sees it; and the share it clips
    seen: list  # mean |log ratio| in the last pass, as the loss sees it
    moved: list  # the same against the log-probs of the policy before the update
    clipped: list  # share of the tokens whose gradient the clip removed in the last pass
    largest: float  # |log ratio| over all passes and updates so far, as the loss sees it
    live: list  # groups of each batch that hold a right and a wrong completion


def run(k):
    rows, right, apart = one_prompt(k)
    p = prompt_rates(k.temperature)[10 * k.a + k.b]
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
    shown = [(batch.tokens[i], batch.old_logp[i], said[i]) for i in range(k.K)]
    return shown, int(batch.accuracy.sum()), np.round((apart * own).sum() / own.sum(), 9) + 0.0


def away(sampled, raw):
    """KL(sampled‖raw) of log-probs, (N, V) -> (N,); a token that is never sampled adds nothing, and 0 log 0 would be
    nan.
    """
    p, q = np.exp(sampled), np.exp(raw)
    return kl.divergence(np.where(p > 0, p, 1), np.where(p > 0, q, 1))


def trained(k):
    """What `Result` holds from `updates` on, now and then."""

    def ratio_of_one(logp, old_logp, A, hp, batch):  # the log-probs of the moment in place of the recorded ones
        return grpo.surrogate(logp, logp, A, hp, batch)

    forgotten = dict(surrogate=ratio_of_one) if k.old == EACH else {}
    run = add_run(
        grpo,
        seed=k.seed,
        groups=GROUPS,
        K=GROUP,
        hyper=dict(inner_epochs=k.passes, beta=0.0),
        temperature=k.temperature,
        trainer_temperature=None if k.trainer == SAME else 1.0,
        hooks=dict(weights=lambda mask, hp, batch: mask / mask.sum(), **forgotten),
        exact_every=UPDATES,
    )
    run.rollout.generate = partial(run.rollout.generate, top_p=k.top_p)
    pass_rate, first, seen, moved, clipped, largest = [(0, tasks.exact_pass(run.start).mean())], [], [], [], [], 0.0
    live = []
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
            old = now if k.old == EACH else batch.old_logp
            ratio, own = np.exp(now - old), batch.response_mask > 0
            removed = surrogate.removed(ratio, batch.advantage, 0.2, 0.2)[own]
            first.append((np.round(np.abs(now - old)[own].mean(), 9), removed.mean()))
        if event.stage == 6:
            after = event.summary
            if k.old != EACH:
                largest = max(largest, np.round(max(np.log(after["ratio_max"]), -np.log(after["ratio_min"])), 9))
            moved.append(np.abs(after["log_ratio"]).mean())
            seen.append(0.0 if k.old == EACH else moved[-1])
            clipped.append(after["clip_fraction"])
        if event.stage == 7:
            live.append(event.summary["frame"].live_groups)
        if event.stage == 7 and (update % EVERY == 0 or update == 1):
            pass_rate.append((update, tasks.exact_pass(run.trainer.policy).mean()))
            yield update, list(pass_rate), list(first), list(seen), list(moved), list(clipped), largest, list(live)


@cache
def prompt_rates(temperature):
    """Exact pass rate of every prompt, (100,): dividing the last layer by the temperature is sampling at it."""
    policy = tasks.checkpoint("add")
    policy.params |= {name: policy.params[name] / temperature for name in ("W2", "b2")}
    return tasks.exact_pass(policy)


def without_signal(temperature, K):
    """Share of the groups whose completions are all right or all wrong, mean over the 100 prompts."""
    return 1 - attempts.informative(prompt_rates(temperature), K).mean()


def progress(k, r):
    return ["update", r.updates, UPDATES]


def figure(k, r):
    return [*training_tab(r), rollouts_tab(k, r), *groups_tab(k, r)]


def training_tab(r):
    at, pass_rate = np.array(r.pass_rate).T
    update = np.arange(1, r.updates + 1)
    yield panel(
        "Right completions",
        "exact pass rate at temperature 1, all 100 prompts",
        line(at, pass_rate, "pass rate"),
        line([0, UPDATES], [pass_rate[0]] * 2, "at the start", 8, "reference"),
        label(UPDATES, pass_rate[0], "at the start", 8, "right"),
        threshold(HALF, f"broken if it ends below {HALF:g}", 0.0),
        x="update",
        x_range=(0, UPDATES),
        y_range=(0, 1.02),
        tab="Training",
        front=True,
    )
    yield panel(
        "What the clip can see",
        "mean |log ratio| of a token, nats",
        line(update, r.moved, "moved in the last pass", 3),
        line(update, r.seen, "seen in the last pass", 1),
        line(update, [f for f, _ in r.first], "seen at the first gradient", 2),
        label(UPDATES, 1.28, "last pass, as the loss sees it", 1, "right"),
        label(UPDATES, 1.17, "last pass, in fact", 3, "right"),
        label(UPDATES, 1.06, "first gradient", 2, "right"),
        x="update",
        x_range=(0, UPDATES),
        y_range=(-0.03, 1.4),
        tab="Training",
    )


SHORT = {"Final: ": "Final", "hmm ": "hmm", "<eos>": "end", "<call>": "call", "<result>": "result", "<err>": "err"}
WORDS = dict(ok="right", wrong_answer="wrong", bad_format="no format", truncated="cut off")


def rollouts_tab(k, r):
    """A row a completion, the first at the top."""
    T, row = tasks.Add.T, np.arange(k.K, 0, -1)
    surprise = [[None if token == PAD else -p for token, p in zip(tokens, logp)] for tokens, logp, _ in r.rows]
    cells = [
        label(t + 1, y, SHORT.get(TEXT[token], TEXT[token]), 0, "center")
        for y, (tokens, _, _) in zip(row, r.rows)
        for t, token in enumerate(tokens)
        if token != PAD
    ]
    verdicts = [label(T + 0.7, y, WORDS[said]) for y, (_, _, said) in zip(row, r.rows)]
    for word in [*cells, *verdicts]:
        word["annotations"][0]["yanchor"] = "middle"
    return panel(
        "Completions of the prompt",
        "a cell a token; color: minus its log-prob, 0 to 10 nats; at the right, what the scorer says",
        heat(np.arange(1, T + 1), row, surprise, "nats", 0.0, 10.0),
        *cells,
        *verdicts,
        x_range=(0.4, T + 2.4),
        y_range=(0.4, k.K + 0.6),
        bare=True,
        tab="Rollouts",
    )


def groups_tab(k, r):
    many = np.arange(1, DRAWN + 1)
    unbiased = [attempts.pass_at_k(DRAWN, r.right, int(i)) for i in many]
    words = f"pass@1 {unbiased[0]:.2f}, pass@{k.K} {unbiased[k.K - 1]:.2f}"
    yield panel(
        "One of k attempts is right",
        "probability, for the prompt shown, from 64 completions; dotted: exact at top-p 1",
        line(many, unbiased, "unbiased"),
        line(many, 1 - (1 - r.p) ** many, "exact", 2, "exact"),
        dots([k.K], [unbiased[k.K - 1]], "K", 1, "here"),
        label(DRAWN, 0.03, words, 1, "right"),
        x="attempts k",
        x_range=(0, DRAWN),
        y_range=(0, 1.05),
        tab="Groups",
    )
    pass_rate = [prompt_rates(tau).mean() for tau in TEMPERATURES]
    silent = [without_signal(tau, k.K) for tau in TEMPERATURES]
    here = np.interp(k.temperature, TEMPERATURES, silent)
    yield panel(
        "What the temperature does",
        f"shares before training, exact, mean of 100 prompts, top-p 1, groups of {k.K}",
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


def cause(k, r):
    """What is behind a damaged run: no group with a difference, probabilities of another policy, a ratio pinned at 1,
    or none of them.
    """
    if not any(r.live):
        return "copies"
    if r.first[0][0] > FAR:
        return "another policy"
    if k.passes > 1 and r.largest == 0:
        return "pinned"
    return "the sampler"


def readouts(k, r):
    found = cause(k, r) if damaged(r) else ""
    return [
        Readout("Pass rate after training", r.pass_rate[-1][1], "", tasks.exact_pass, "violated" if found else ""),
        Readout(
            "Largest |log ratio| the loss saw", r.largest, "nats", Trainer.step, "violated" if found == "pinned" else ""
        ),
        Readout(
            "Mean |log ratio| at the first gradient",
            r.first[0][0],
            "nats",
            Trainer.step,
            "violated" if found == "another policy" else "",
        ),
        Readout(
            "Dead groups in the first batch",
            100 * (1 - r.live[0] / GROUPS),
            "%",
            Verifier.verify,
            "violated" if found == "copies" else "",
        ),
        Readout("KL, what is sampled from the raw policy", r.apart, "nats a token", kl.divergence),
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
    ends = f"{100 * r.pass_rate[-1][1]:.0f} % are right after {r.updates} updates"
    return Break(
        f"{said(cause(k, r), k, r)}: {ends}, {100 * r.pass_rate[0][1]:.0f} % before.", way_back(k), CAUSES[cause(k, r)]
    )


CAUSES = {
    "copies": "every group is of copies",
    "another policy": "probabilities of another policy",
    "pinned": "a ratio that is always 1",
    "the sampler": "almost every group is alike",
}


def said(found, k, r):
    if found == "copies":
        return f"Not one group of {GROUP} held a right and a wrong completion: there was nothing to compare"
    if found == "another policy":
        return (
            f"The loss compares with probabilities that were never the policy's, {r.first[0][0]:.2f} nats off "
            "before any "
            "step"
        )
    if found == "pinned":
        return (
            f"The ratio is pinned at 1, so in {k.passes} passes the clip never saw the policy move "
            f"{max(r.moved):.2f} nats a "
            "token"
        )
    return (
        f"In the end {np.mean(r.live[-10:]):.1f} of the {GROUPS} groups of a batch held a right and a wrong "
        "completion, at "
        f"temperature {k.temperature:g}"
    )


def way_back(k):
    told = {
        "Temperature of the trainer: as the sampler": k.trainer == ONE and k.temperature != 1,
        "Temperature of the sampler: 1": k.temperature < 0.7,
        "Top-p of the sampler: 1": k.top_p < 1,
        f"Old log-probs: {STORED}": k.old == EACH and k.passes > 1,
    }
    settings = [words for words, off in told.items() if off] or ["Passes over each batch: 4"]
    return f"{', '.join(settings)}."


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
    return f"{ends}; the largest |log ratio| that the loss saw is {r.largest:.2g} nats."
