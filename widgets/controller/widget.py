"""The loop with one of its wires misconnected: what training becomes, which invariant tells, and what one iteration
hands from role to role.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from sim.algorithms import grpo
from sim.experiments import faults
from sim.experiments.standard_runs import add_run
from sim.framework import invariants, iteration
from sim.framework.controller import mean_k3
from sim.worlds import tasks, tinylm
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import bars, both, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "GRPO learns to add two digits in a loop with at most one wiring fault"
COST = "128 completions per iteration"
EVERY, PICTURE = 4, 12  # iterations from one exact evaluation to the next, and from one picture to the next
HALF, LONG = 0.5, 30  # a run of this many iterations that ends with fewer than half right is broken
WHOLE = 100  # iterations after which a run is compared with the default
WELL = 0.8  # below this it is clearly worse than the default, 0.92
HELD_OUT = np.random.default_rng(0).permutation(len(tasks.PAIRS))[:20]
FAULTS = {
    "none": None,
    "no weight sync": faults.no_sync,
    "rewards shifted by a row": faults.reward_shift,
    "rewards shuffled": faults.reward_shuffle,
    "sign flipped": faults.sign_flip,
    "wrong groups": faults.wrong_groups,
    "reference is the policy": faults.ref_alias,
    "old_logp recomputed": faults.old_recomputed,
    "padding in the loss": faults.mask_off,
}


@dataclass(frozen=True)
class Knobs:
    fault: str = choice("Wiring fault", "none", list(FAULTS))
    passes: int = ladder("Passes over each batch", 1, [1, 2, 4, 8])
    beta: float = slider("KL coefficient", 0.0, 0.0, 0.5, 0.05, symbol="β")
    iterations: int = ladder("Iterations", 100, [1, 10, 30, 100])
    stage: int = slider("Last stage of the run", 7, 1, 7, 1)
    groups: int = ladder("Prompts per iteration", 16, [4, 8, 16, 32], symbol="P")
    K: int = ladder("Completions per prompt", 8, [2, 4, 8, 16], symbol="K")
    held_out: bool = toggle("Holdout of 20 prompts", False)
    seed: int = slider("Seed", 0, 0, 99, 1)


PRESETS = {
    "Healthy": Knobs(),
    "Forgot to sync": Knobs(fault="no weight sync"),
    "Rewards off by one row": Knobs(fault="rewards shifted by a row"),
    "Reference is the policy": Knobs(fault="reference is the policy", beta=0.1),
    "old_logp recomputed": Knobs(fault="old_logp recomputed", passes=4),
    "Wrong groups": Knobs(fault="wrong groups"),
}


@dataclass(frozen=True)
class Run:
    """The state of the run after a stage."""

    iteration: int  # in progress, from 1
    stage: int  # the last one done
    at: list[int]  # iterations of the exact numbers, 0 is the start
    trainer: list[np.ndarray]  # (100,) pass rates by the trainer's weights
    rollout: list[np.ndarray]  # (100,) by the rollout's
    counted: list[float]  # share of right completions in each batch
    kl: list[float]  # of the sampling policy to the start, nats a token
    kl_logged: list[float]  # the same by the reference that the loop holds; nan without one
    violated: Counter  # iterations in which an invariant did not hold
    checked: frozenset  # invariants looked at so far
    clipped: float  # share of own tokens, last iteration
    batch: object  # the Batch as far as it is filled in
    policy: object  # the trainer's


def run(k):
    task = tasks.Add(np.setdiff1d(tasks.PAIRS, HELD_OUT)) if k.held_out else tasks.Add()
    c = add_run(
        grpo,
        task=task,
        seed=k.seed,
        groups=k.groups,
        K=k.K,
        hyper=dict(inner_epochs=k.passes, beta=k.beta),
        exact_every=k.iterations + 1,
    )
    start = tasks.exact_pass(c.start)
    at, trainer, rollout = [0], [start], [start]
    counted, kl, logged, clipped = [], [], [], 0.0
    violated, checked = Counter(), set()
    for event, batch in faults.stages(c, k.iterations, FAULTS[k.fault]):
        done = event.iteration + 1
        last = done == k.iterations
        if batch is None:  # stage 1 of the first iteration: the prompts are drawn, and nothing is there to be seen yet
            continue
        for name, holds in invariants.held(c, batch, event).items():
            violated[name] += not holds
            checked.add(name)
        if event.stage == 3:
            counted.append(float(batch.accuracy.mean()))
        if event.stage == 4 and (event.iteration % EVERY == 0 or last):
            kl.append(
                mean_k3(replace(batch, ref_logp=c.start.token_logp(batch.prompt, batch.tokens, batch.response_mask)[0]))
            )
            logged.append(mean_k3(batch))
        if event.stage == 6:
            clipped = event.summary["clip_fraction"]
        if event.stage == 7 and (done % EVERY == 0 or last):
            at.append(done)
            trainer.append(tasks.exact_pass(c.trainer.policy))
            rollout.append(
                trainer[-1] if invariants.versions_agree(c.rollout, c.trainer) else tasks.exact_pass(c.rollout.policy)
            )
        stop = last and event.stage >= max(k.stage, 2)
        if stop or k.iterations == 1 or (event.stage == 7 and (done == 1 or done % PICTURE == 0)):
            yield Run(
                done,
                min(event.stage, k.stage) if last else event.stage,
                [*at],
                [*trainer],
                [*rollout],
                [*counted],
                [*kl],
                [*logged],
                Counter(violated),
                frozenset(checked),
                clipped,
                batch,
                c.trainer.policy,
            )
        if stop:
            return


def progress(k, r):
    return ["iteration", r.iteration, k.iterations]


def figure(k, r):
    return [*training(k, r), *one_iteration(k, r), first_group(r)]


def learned(k):
    """The prompts that are trained on."""
    return np.setdiff1d(tasks.PAIRS, HELD_OUT) if k.held_out else tasks.PAIRS


def training(k, r):
    trainer, rollout = ([rates[learned(k)].mean() for rates in rows] for rows in (r.trainer, r.rollout))
    apart = k.fault == "no weight sync"  # two copies, even where both end alike
    marks = [
        line(r.at, trainer, "trainer's weights", 1),
        line(r.at, rollout, "rollout's weights", 2) if apart else line([], [], "rollout's weights", 2),
        dots(np.arange(1, len(r.counted) + 1, EVERY), r.counted[::EVERY], "counted in the batch", 3),
    ]
    if k.held_out:
        unseen = [rates[HELD_OUT].mean() for rates in r.trainer]
        marks += [
            line(r.at, unseen, "20 prompts kept out", 4),
            label(100, 0.16, f"kept out: {unseen[-1]:.3f}", 4, "right"),
        ]
    words = f"{'trainer' if apart else 'trainer and rollout'}: {trainer[-1]:.3f}"
    marks += [
        label(100, 1.01, words, 1, "right"),
        *([label(100, rollout[-1], f"rollout: {rollout[-1]:.3f}", 2, "right", below=True)] if apart else []),
        label(100, 0.01, "dots: counted in the batch", 3, "right"),
    ]
    sampled_at = np.minimum(1 + EVERY * np.arange(len(r.kl)), k.iterations)
    kl = [line(sampled_at, np.maximum(r.kl, FLOOR), "to the start", 1), label(100, 150, "to the start", 1, "right")]
    if k.beta > 0:
        kl += [line(sampled_at, np.maximum(r.kl_logged, FLOOR), "as logged", 2), label(0, 150, "as logged", 2)]
    return [
        panel(
            "Pass rate",
            "exact, mean over the prompts; one seed",
            *marks,
            threshold(floor(k, r), "broken if either copy ends below this", 0),
            x="iteration",
            x_range=(0, 100),
            y_range=(0, 1.12),
            tab="Training",
            front=True,
        ),
        panel(
            "KL of the sampling policy",
            f"nats per token, k3 over the batch, at least {FLOOR}",
            *kl,
            x="iteration",
            x_range=(0, 100),
            y_range=(FLOOR, 500),
            log="y",
            tab="Training",
        ),
    ]


FLOOR = 0.001
EDGES = dict(trajs=2, tokens=2, reward=3, ref_logp=4, loss_fn=5, sync=7)  # after which stage an edge has been crossed
SHORT = ["trajs", "tokens", "reward", "ref", "loss", "sync"]


def one_iteration(k, r):
    carried = iteration.carried(r.batch, r.policy)
    crossed = [edge for edge, stage in EDGES.items() if edge in carried and stage <= r.stage]
    weights = [iteration.weight(carried[edge]) if edge in crossed else 0 for edge in EDGES]
    shapes = [shape_words(edge, carried[edge]) if edge in crossed else "" for edge in EDGES]
    work = iteration.token_passes(r.batch, k.passes, k.beta > 0)
    done = [work[role] if stage <= r.stage else 0 for role, stage in (("rollout", 2), ("reference", 4), ("trainer", 6))]
    return [
        panel(
            "What each edge carries",
            "bytes, logarithmic; above the bar: the shape of its arrays",
            dict(bars(SHORT, weights, "bytes", 1, text=shapes), textposition="outside"),
            y_range=(30, 1e6),
            log="y",
            ticks=dict(tickvals=SHORT, ticktext=SHORT),
            tab="One iteration",
        ),
        panel(
            "Passes through the net",
            "tokens × passes; a backward pass counts twice",
            bars(["rollout", "reference", "trainer"], done, "passes", 2, text=[f"{n:,}" if n else "" for n in done]),
            y_range=(10, 3e5),
            log="y",
            tab="One iteration",
        ),
    ]


def shape_words(edge, arrays):
    shape = next(iter(arrays.values())).shape
    return f"{sum(array.size for array in arrays.values()):,}" if edge == "sync" else "×".join(map(str, shape))


ROWS, REWARD, ADVANTAGE = 8, 0.74, 1.0


def first_group(r):
    """The completions of the first prompt with what the roles have written beside them so far."""
    marks = [
        label(0, ROWS, f"{tinylm.decode(r.batch.prompt[0].tolist())}", 0),
        *([label(REWARD, ROWS, "reward", 0, "right")] * (r.stage >= 3)),
        *([label(ADVANTAGE, ROWS, "advantage", 0, "right")] * (r.stage >= 5)),
    ]
    for i in range(min(r.batch.K, ROWS) if r.stage >= 2 else 0):
        paid, y = r.batch.reward[i], ROWS - 1 - i
        advantage = None if r.batch.advantage is None else r.batch.advantage[i, 0]
        series = 1 if r.batch.details[i]["reason"] == "ok" else 0
        marks.append(label(0, y, said(r.batch, i), series))
        if r.stage >= 3:
            marks.append(label(REWARD, y, f"{paid:g}", 0, "right"))
        if r.stage >= 5:
            marks.append(
                label(ADVANTAGE, y, f"{advantage:+.2f}".replace("-", "−") if abs(advantage) > 1e-9 else "0", 0, "right")
            )
    return panel(
        "The first prompt and its completions",
        "at most eight; [s1] correct ones",
        bars([], []),
        *marks,
        x_range=(0, 1.02),
        y_range=(-0.3, ROWS + 1),
        tab="Its first rows",
        bare=True,
    )


def said(batch, i):
    """A completion in words; its thinking counted, since eight fillers are wider than the panel."""
    tokens = batch.tokens[i].tolist()
    if batch.finished[i]:
        tokens = tokens[: tokens.index(tinylm.EOS)]
    thoughts = next((n for n, token in enumerate(tokens) if token != tinylm.HMM), len(tokens))
    rest = tinylm.decode(tokens[thoughts:]).replace("<", "‹").replace(">", "›")
    return (
        " ".join(
            part
            for part in (
                f"hmm × {thoughts}" if thoughts else "",
                f"“{rest.strip()}”" if rest.strip() else "",
                "" if batch.finished[i] else "(cut off)",
            )
            if part
        )
        or "(nothing)"
    )


LAMPS = {
    "Stages 3 and 4: rows, mask, reference": (("rows", "mask", "reference"), invariants.held),
    "Stage 5: advantages add up to 0 and rise": (("centered", "upward"), invariants.groups_sum_to_zero),
    "Stage 6: ratios 1 at first, then not": (("first_ratio", "later_ratios"), invariants.first_ratio_is_one),
    "Stage 7: rollout has the trainer's version": (("versions",), invariants.versions_agree),
}


def readouts(k, r):
    """A lamp that is out is marked only where the run is broken too: what it guards may not have been needed."""

    def lamp(names):
        if any(r.violated[name] for name in names):
            return "violated"
        return "holds" if r.checked.issuperset(names) else "not yet checked"

    marked = {"holds"} | ({"violated"} if damaged(k, r) else set())
    states = {words: lamp(names) for words, (names, _) in LAMPS.items()}
    return [
        Readout("Pass rate, weaker copy", weaker(k, r), "", tasks.exact_pass, "violated" if damaged(k, r) else ""),
        *(
            Readout(words, states[words], "", source, states[words] if states[words] in marked else "")
            for words, (_, source) in LAMPS.items()
        ),
    ]


def weaker(k, r):
    """Pass rate on the trained prompts, of the trainer's or the rollout's weights, whichever is lower."""
    return min(rates[-1][learned(k)].mean() for rates in (r.trainer, r.rollout))


def floor(k, r):
    return HALF if k.iterations >= LONG else r.trainer[0].mean() / 2


def damaged(k, r):
    """Certain only at the end, and after a few iterations only where half of the start is lost."""
    return (r.iteration, r.stage) == (k.iterations, k.stage) and weaker(k, r) < floor(k, r)


def watched(k, r):
    return Gauge(
        "Pass rate, weaker copy",
        weaker(k, r),
        round(floor(k, r), 3),
        below=True,
        expression=f"min(trainer, rollout) < {floor(k, r):.3g} at the end",
    )


def seen_at(k, r, cause):
    if k.fault == "no weight sync":
        return At("Pass rate", None, None, "the sampler never improves", "rollout's weights")
    return At("Pass rate", None, None, "pass rate {y:.2f} at the end", "trainer's weights")


def broken(k, r):
    if not damaged(k, r):
        return None
    first, last = r.trainer[0].mean(), r.trainer[-1].mean()
    led = f"the pass rate went from {first:.3f} to {last:.3f}"
    if k.fault != "none" and fix(k) != WIRED:
        reused = numbers(k, r)["reused"]
        why = Said(
            f"With the fault “{k.fault}” and only {k.groups * k.K} completions per iteration{reused}, {led}.",
            {
                "both undone mend it": lambda: mended(k, **fix(k)),
                "the wire alone does not": lambda: damaged(k, end(run, replace(k, fault="none"))),
            },
        )
        return Break(why, fix(k), "a fault, and few completions")
    why = Said(WHY[k.fault].format(led=led, **numbers(k, r)), claims(k, r))
    return Break(why, fix(k), CAUSES[k.fault])


def mended(k, **turned):
    setting = replace(k, **turned)
    return not damaged(setting, end(run, setting))


def claims(k, r):
    """What is asserted of a break: the wire alone is to blame, or few completions alone, and what its sentence says."""
    if k.fault == "none":
        more = dict(groups=max(k.groups, 16), K=max(k.K, 8))
        return {"as many as usual mend it": lambda: mended(k, **more), "they are few": lambda: k.groups * k.K < 128}
    more = {
        "no weight sync": lambda: r.rollout[-1].mean() == r.rollout[0].mean(),
        "reference is the policy": lambda: k.beta > 0 and r.kl_logged[-1] < r.kl[-1] / 2,
        "old_logp recomputed": lambda: k.passes > 1 and r.clipped == 0,
    }
    return {
        "the wire alone is to blame": lambda: mended(k, fault="none"),
        "what is said of it": more.get(k.fault, lambda: True),
    }


WIRED = dict(fault="none")


def fix(k):
    """The wire alone, where that mends; more completions and fewer passes where the run is lost without them too."""
    more, once = dict(groups=max(k.groups, 16), K=max(k.K, 8)), dict(passes=1, beta=0.0)
    if k.fault == "none":
        return recovery.different(k, once | more)
    if k.groups * k.K >= 128 and k.passes < 8:  # then a right loop learns
        return WIRED
    remedies = [WIRED, WIRED | more, WIRED | more | once]
    return recovery.first_of(k, remedies, mended) or WIRED


def numbers(k, r):
    return dict(
        rows=k.groups * k.K,
        behind=r.violated["versions"] * k.passes,
        last=r.trainer[-1].mean(),
        rollout=r.rollout[-1].mean(),
        passes=k.passes,
        reused=f" for {k.passes} passes" if k.passes > 1 else "",
        beta=k.beta,
        kl=r.kl[-1] if r.kl else 0.0,
        logged=abs(r.kl_logged[-1]) if r.kl_logged else 0.0,
    )


WHY = {
    "none": "The wiring is correct, but {rows} completions per iteration are too few{reused}: {led}.",
    "no weight sync": "Rollout is {behind} optimizer steps behind. The trainer's weights reach a pass rate of "
    "{last:.3f}, but the weights that sample stay at {rollout:.3f}.",
    "rewards shifted by a row": "Every completion got the reward of its neighbor: {led}.",
    "rewards shuffled": "Every completion got the reward of a random completion, hardly ever its own: {led}.",
    "sign flipped": "Correct completions were pushed down and wrong ones up: {led}.",
    "wrong groups": "Completions were compared with those of other prompts: {led}.",
    "reference is the policy": "The reference moves with the policy. The log shows {logged:.3f} nats per token, "
    "although the policy is {kl:.3f} away from its start, so the coefficient {beta:g} restrains nothing.",
    "old_logp recomputed": "In {passes} passes, no ratio ever left 1, so the clip never acted: {led}.",
    "padding in the loss": "Padding counted as sampled text: {led}, and most of the {kl:.3g} nats per token come from "
    "tokens that were never sampled.",
}

CAUSES = {
    "none": "too few completions",
    "no weight sync": "rollout with the old weights",
    "rewards shifted by a row": "rewards of the neighboring row",
    "rewards shuffled": "rewards of other rows",
    "sign flipped": "a push in the wrong direction",
    "wrong groups": "a comparison with other prompts",
    "reference is the policy": "a reference that moves with the policy",
    "old_logp recomputed": "a ratio that is always 1",
    "padding in the loss": "padding that counts as text",
}


def worse(k, r):
    """A copy far behind the default, or a lamp that is out although the pass rate does not show it."""
    if (r.iteration, r.stage) != (k.iterations, k.stage):
        return None
    first, last = r.trainer[0][learned(k)].mean(), weaker(k, r)
    if last < (WELL if k.iterations >= WHOLE else first):
        words = "it learned less than it could" if last >= first else "it got worse"
        return Said(
            f"The pass rate of the weaker copy went from {first:.3f} to {last:.3f}: {words}.",
            {
                "so it does": lambda: (last < first) == ("worse" in words),
                "the default does better": lambda: last < first or weaker(k, end(run, Knobs(seed=k.seed))) > last,
            },
        )
    if any(r.violated.values()):
        return Said(
            f"A lamp is out, but the pass rate does not show it. It went from {first:.3f} to {last:.3f}.",
            {
                "it does not": lambda: weaker(k, r) >= r.trainer[0][learned(k)].mean(),
                "a lamp is": lambda: any(row.value == "violated" for row in readouts(k, r)[1:]),
            },
        )
    return None


def holds(k, r):
    first, last = r.trainer[0][learned(k)].mean(), weaker(k, r)
    looked = all(r.checked.issuperset(names) for names, _ in LAMPS.values())
    invariants = "Every invariant holds" if looked else "No invariant is violated so far"
    return Said(
        f"{invariants}, and the pass rate went from {first:.3f} to {last:.3f}.",
        {
            "as the lamps say": lambda: (
                {row.value for row in readouts(k, r)[1:]} <= ({"holds"} if looked else {"holds", "not yet checked"})
            ),
            "it has not fallen": lambda: r.iteration < k.iterations or r.stage < k.stage or last >= first,
        },
    )


GUESS = Guess(
    "The padding after each completion counts as sampled text. What happens to the run?",
    ("it raises an error", "it ends below 0.5", "it ends near 0.9"),
    Knobs(fault="padding in the loss"),
    2,
    lambda k, r: f"It ends at {weaker(k, r):.2f}. A healthy run ends near 0.91, so the pass rate hides the fault.",
)


# ── the first screen ──
TWO_RUNS = "rewards in place", "rewards one row off"


def opened(plain, other):
    """Right completions by the trainer's weights, and the errors of both runs: none, or they would not be here."""
    right = [[rates.mean() for rates in r.trainer] for r in (plain, other)]
    iterations = np.arange(other.iteration + 1)
    return [
        panel(
            "Pass rate",
            "exact probability, mean over a hundred sums",
            line(plain.at, right[0], TWO_RUNS[0], 8, "reference"),
            line(other.at, right[1], TWO_RUNS[1], 1),
            label(100, right[0][-1] + 0.03, f"{TWO_RUNS[0]}: {right[0][-1]:.2f}", 8, "right"),
            label(100, 0.06, f"{TWO_RUNS[1]}: {right[1][-1]:.3f}", 1, "right"),
            threshold(HALF, "too few at the end", 0),
            x="iteration",
            x_range=(0, 100),
            y_range=(0, 1.08),
        ),
        panel(
            "Errors raised",
            "so far, of any kind, including wrong shapes",
            *both(TWO_RUNS, iterations, 0 * iterations, 0 * iterations),
            label(100, 0.6, f"{TWO_RUNS[0]}: 0", 8, "right"),
            label(100, 0.15, f"{TWO_RUNS[1]}: 0", 1, "right"),
            x="iteration",
            x_range=(0, 100),
            y_range=(-0.3, 4),
        ),
    ]


OPENING = Opening(Knobs(), Knobs(fault="rewards shifted by a row"), opened, tasks.exact_pass, TWO_RUNS)
