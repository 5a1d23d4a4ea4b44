"""Sixty iterations of the whole loop, or of a loop with one of its arrows cut: what the log counts, what the model
writes, how often one completion is right, and the best of K.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.experiments import cut_arrows, running_batch
from sim.framework.env import Verifier
from sim.framework.weight_sync import WeightSync
from sim.words import counted
from sim.worlds import modsum
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import answers, scene
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Played

TITLE = "The policy and its batches over sixty iterations"
COST = f"{cut_arrows.GROUPS} groups of K completions and one step of plain SGD per iteration; one seed"
ITERATIONS, EVERY = 60, 5
LEARNT = 0.01  # less than this gained in sixty iterations is not learning
WELL = 0.7  # right below this at the end is clearly less than the default, 0.92
DEAR = 0.7  # nats of KL cost so much that sixty iterations of single completions may end below the start
APART, LAST = 0.2, 10  # weights that are right this much more often than the last batches never reached the sampler


@dataclass(frozen=True)
class Knobs:
    cut: str = choice("Missing arrow", "none", ["none", *cut_arrows.ARROWS])
    K: int = ladder("Completions per prompt", 8, [1, 2, 4, 8, 16, 32, 64], symbol="K")
    beta: float = slider("KL coefficient", 0.1, 0.0, 1.0, 0.05, symbol="β")
    seed: int = slider("Seed", 0, 0, 99, 1)


PRESETS = {
    "Whole loop": Knobs(),
    "No KL penalty": Knobs(beta=0.0),
    "No weight sync": Knobs(cut="weight sync"),
    "Best of 64": Knobs(cut="loss_fn", K=64),
    "No reward": Knobs(cut="+reward"),
}


@dataclass(frozen=True)
class Run:
    pass_rate: np.ndarray  # (iterations + 1, 4) exact, by the trainer's weights, the start first
    kl: np.ndarray  # (iterations + 1,) nats, mean of the prompts
    measured: np.ndarray  # (iterations,) share of right completions in each batch; nan if nobody looked
    behind: int  # optimizer steps
    twins: cut_arrows.Twins  # what both copies of the weights write for one prompt

    @property
    def done(self):
        return len(self.measured)

    @property
    def gained(self):
        return self.pass_rate[-1].mean() - self.pass_rate[0].mean()

    @property
    def counted(self):
        """Share right in the last batches, which are those of the sampler's weights."""
        return self.measured[-LAST:].mean()

    @property
    def apart(self):
        return self.pass_rate[-1].mean() - self.counted


def run(k):
    start = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]
    pass_rate, kl, measured = [start], [0.0], []
    controller = cut_arrows.run_without(k.cut, K=k.K, beta=k.beta, seed=k.seed, iterations=ITERATIONS)
    for frame in cut_arrows.frames(controller, k.cut, ITERATIONS):
        pass_rate.append(frame.exact["pass_rate"])
        kl.append(frame.exact["kl_reference"].mean())
        measured.append(frame.accuracy)
        if len(measured) % EVERY == 0:
            twins = cut_arrows.twins(controller, running_batch.PROMPT)
            yield Run(np.array(pass_rate), np.array(kl), np.array(measured), frame.lag, twins)


def progress(k, r):
    return ["iteration", r.done, ITERATIONS]


def figure(k, r):
    x, at = list(range(r.done + 1)), min(r.done, ITERATIONS // 3)
    right, best = r.pass_rate.mean(axis=1), cut_arrows.best_of(r.pass_rate, k.K).mean(axis=1)
    return [
        two_copies(k, r),
        panel(
            CURVE,
            "mean of four prompts; dots: in the batch",
            line(x, right, "one completion", 1),
            line(x, best, f"best of {k.K}", 2),
            dots(x[1:], r.measured, "in the batch", 3),
            label(x[at], right[at], "one completion", 1, below=True),
            *([label(x[at], best[at], f"best of {k.K}", 2, below=True)] if k.K > 1 else []),
            x="iteration",
            x_range=(0, ITERATIONS),
            y_range=(0, 1.08),
            tab="Answers",
        ),
        panel(
            "KL of the policy from its start",
            "nats per completion, mean of four prompts, exact",
            line(x, r.kl, "KL", 1),
            x="iteration",
            x_range=(0, ITERATIONS),
            y_range=(0, 4),
            tab="Distance",
        ),
    ]


WRITTEN, CURVE = "Answers of both copies of the weights to one prompt", "Pass rate"
OLD, SAME = "the untrained model wrote these", "no better than before training"
ONE = "Pass rate, one completion"


def two_copies(k, r):
    """What rollout's weights write for the log, and what the trainer's weights would write."""
    log, model = (
        answers.view(key, title, rows, running_batch.PROMPT, "", key == "m", answers.SHORT, answers.judged)
        for key, title, rows in (
            ("l", "answers in the log", r.twins.sampled),
            ("m", "answers of the model", r.twins.trained),
        )
    )
    break_ = broken(k, r)
    return scene.scene(
        WRITTEN,
        f"digits that add up to 5, 12, 19, …, then stop; after iteration {r.done}",
        answers.around_rewards(answers.unpaid(log) if k.cut == "trajs" else log, OLD if stayed_old(r) else ""),
        answers.around_rewards(model, SAME if break_ and break_.cause in CAUSES.values() else ""),
        tab="Answers",
        front=True,
        data=[
            bars(["in the log", "of the model"], [r.twins.sampled_rate, r.twins.trained_rate], "pass rate, this prompt")
        ],
    )


def readouts(k, r):
    return [
        Readout(ONE, r.pass_rate[-1].mean(), source=modsum.exact, state="violated" if learned_nothing(r) else ""),
        Readout("Pass rate, best of K", cut_arrows.best_of(r.pass_rate[-1], k.K).mean(), source=cut_arrows.best_of),
        Readout(
            f"Pass rate in the last {LAST} batches",
            r.counted,
            source=Verifier.verify,
            state="violated" if stayed_old(r) else "",
        ),
        Readout("KL from the start", r.kl[-1], "nats", modsum.exact_kl),
        Readout("Lag of rollout behind the trainer", r.behind, "steps", WeightSync.push),
    ]


def learned_nothing(r):
    return r.done == ITERATIONS and r.gained < LEARNT


def stayed_old(r):
    """The weights are better and what is sampled is not."""
    return r.done == ITERATIONS and r.apart > APART  # false where nobody counted


def watched(k, r):
    if stayed_old(r):
        return Gauge(
            f"{ONE} − pass rate in the last {LAST} batches",
            r.apart,
            APART,
            expression=f"pass_rate[-1] - mean(counted[-{LAST}:]) > {APART}",
        )
    return Gauge(
        "Gain in pass rate",
        r.gained,
        LEARNT,
        below=True,
        expression=f"pass_rate[{ITERATIONS}] - pass_rate[0] < {LEARNT}",
    )


HAPPENED = {  # to the completions, after "… were sampled,"
    "trajs": "and none was ever scored",
    "+reward": "but no score reached the algorithm",
    "loss_fn": "but the trainer never got a loss",
}

CAUSES = {
    "trajs": "a verifier that gets no completions",
    "+reward": "an algorithm that gets no score",
    "loss_fn": "a trainer that gets no loss",
}


def seen_at(k, r, cause):
    if stayed_old(r):
        return At(WRITTEN, None, None, OLD)
    if cause in CAUSES.values():
        return At(WRITTEN, None, None, SAME)
    return At(CURVE, None, None, SAME, "one completion")


def broken(k, r):
    sampled = f"{ITERATIONS * cut_arrows.GROUPS * k.K:,} completions were sampled"
    if stayed_old(r):
        why = Said(
            f"The trainer's weights reach a pass rate of {100 * r.pass_rate[-1].mean():.0f} %, the last {LAST} batches "
            f"only {100 * r.counted:.0f} %. {sampled}, all with the old weights.",
            {
                "no step reached the sampler": lambda: r.behind == ITERATIONS,
                "the batches count what the start is worth": lambda: counted_by(r.pass_rate[:1], k, r),
                "with the sync they count what the weights are worth": lambda: not stayed_old(whole(k)),
            },
        )
        return Break(why, reconnected(k), "a rollout with old weights")
    if not learned_nothing(r):
        return None
    now, before = (f"{100 * r.pass_rate[at].mean():.0f} %" for at in (-1, 0))
    if k.cut not in HAPPENED:
        why = Said(
            f"The pass rate went from {before} to {now}. With {counted(k.K, 'completion')} per prompt and "
            f"β = {k.beta:g}, there was more noise than learning.",
            {
                "nats are charged": lambda: k.beta > 0 and k.cut not in ("tokens", "ref_logp"),
                "eight a prompt learn at this price": lambda: of_eight(k).gained > LEARNT,
                "the noise is larger": lambda: abs(r.gained - of_eight(k).gained) > of_eight(k).gained - LEARNT,
            },
        )
        return Break(why, recovery.different(k, dict(K=8)), "more noise than signal")
    why = Said(
        f"The pass rate is {now}, as before training. {sampled}, {HAPPENED[k.cut]}.",
        {
            "no weight has moved": lambda: bool((r.pass_rate == r.pass_rate[0]).all()) and r.kl[-1] == 0,
            "they were scored, or nobody looked": lambda: bool(np.isnan(r.measured).all()) == (k.cut == "trajs"),
            "the arrow alone is missing": lambda: whole(replace(k, K=max(k.K, 2))).gained > LEARNT,
        },
    )
    return Break(why, reconnected(k), CAUSES[k.cut])


def reconnected(k):
    """The whole loop, with more completions where single ones may be too noisy for it."""
    return recovery.different(k, dict(cut="none") | (dict(K=8) if k.K == 1 and k.beta > DEAR else {}))


def whole(k):
    return end(run, replace(k, cut="none"))


def of_eight(k):
    return end(run, replace(k, K=8))


def counted_by(weights, k, r):
    """Whether the last batches count what these weights are worth, (versions, prompts), within five standard errors
    and, where nearly all of a few are right, three completions.
    """
    p, many = weights.mean(), LAST * cut_arrows.GROUPS * k.K
    return abs(r.counted - p) < 5 * np.sqrt(p * (1 - p) / many) + 3 / many


def worse(k, r):
    now = r.pass_rate[-1].mean()
    if r.done < ITERATIONS or now >= WELL:
        return None
    return Said(
        f"The pass rate went from {100 * r.pass_rate[0].mean():.0f} % to {100 * now:.0f} %. The policy learns, but far "
        "less than it could.",
        {
            "it learns": lambda: r.pass_rate[ITERATIONS // 2 :].mean() > r.pass_rate[0].mean(),
            "the default learns far more": lambda: end(run, Knobs(seed=k.seed)).pass_rate[-1].mean() > now + 0.1,
        },
    )


def holds(k, r):
    now, before = (r.pass_rate[at].mean() for at in (-1, 0))
    return Said(
        f"The pass rate rose from {100 * before:.0f} % to {100 * now:.0f} %, and the log shows it: "
        f"{100 * r.counted:.0f} % in the last {LAST} batches.",
        {
            "it has learned": lambda: r.pass_rate[-1].mean() > r.pass_rate[0].mean(),  # one prompt may have lost
            "the batches count what the weights are worth": lambda: counted_by(r.pass_rate[-1 - LAST : -1], k, r),
        },
    )


GUESS = Guess(
    "Nothing is trained, and one answer is correct 0.22 of the time. How often is the best of 64 answers correct?",
    ("about 0.35", "about 0.6", "above 0.9"),
    Knobs(cut="loss_fn", K=64),
    2,
    lambda k, r: (
        f"The best of {k.K} is correct {cut_arrows.best_of(r.pass_rate[-1], k.K).mean():.3f} of the time, but a single "
        f"completion only {r.pass_rate[-1].mean():.3f}, as before."
    ),
)


DARE = "Can you make the log and the model disagree?"


OPENING = Played(Knobs(), Knobs(cut="weight sync"), "opening")
