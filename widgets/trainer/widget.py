"""One hundred optimizer steps of GRPO on sums of two digits: what the loss shows, what the pass rate does, and what
each token is asked to do.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.algorithms import dr_grpo, grpo
from sim.estimators import aggregation, microbatch, surrogate
from sim.experiments.standard_runs import add_run
from sim.experiments.token_gradient import TokenGradient, before_the_last_step, token_gradient
from sim.framework.algorithm import Algorithm
from sim.framework.trainer import Trainer
from sim.worlds import tasks, tinylm
from sim.worlds.optimizer import SGD, AdamW
from sim.worlds.policies import POLICIES, shared_rate
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import both, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening
from widgets.frame.drawing.written import figures

TITLE = "Training on one hundred batches of sums of two digits"
UPDATES, GROUPS, K = 100, 16, 8
COST = f"{UPDATES * GROUPS * K:,} completions a run"
WELL = 0.88  # a run that ends below this is worse than the default, which ends between 0.90 and 0.92
ASTRAY = 0.05  # a relative error of the gradient that is worth a word
EVERY, SLOW = 8, 2  # updates between two pictures, and of the transformer, which takes longer
ROWS = 16  # completions drawn: the first two prompts of the batch
COUNTS = [1, 2, 4, 8, 16]


RIGHT = "Pass rate on sums"


@dataclass(frozen=True)
class Knobs:
    mode: str = choice("Average in the loss", "seq-mean-token-mean", list(aggregation.MODES))
    learning_rate: float = ladder("Learning rate", 0.02, [0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3])
    passes: int = ladder("Passes over each batch", 1, [1, 2, 4])
    minibatches: int = ladder("Mini-batches per pass", 1, [1, 2, 4, 8])
    micro: int = ladder("Micro-batches per step", 1, COUNTS)
    divisor: str = choice("Divisor of a micro-batch", "the batch's count", ["the batch's count", "its own count"])
    by_length: bool = toggle("Completions sorted by length", True)
    eps_low: float = slider("Lower clip range", 0.2, low=0.05, high=0.5, step=0.05, symbol="ε_low")
    eps_high: float = slider("Upper clip range", 0.2, low=0.05, high=0.5, step=0.05, symbol="ε_high")
    max_norm: str = choice("Limit on gradient norm", "1", ["off", "0.1", "1"])
    optimizer: str = choice("Optimizer", "AdamW", ["AdamW", "SGD"])
    advantage: str = choice("Advantage", "z-score", ["z-score", "reward − mean"])
    scale: float = ladder("Reward for a correct answer", 1.0, [1.0, 10.0])
    policy: str = choice("Policy (transformer: rate ÷ 10)", "window", list(POLICIES))
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LOCAL = dict(micro=4, divisor="its own count")
KNOB_GROUPS = {
    "The batch": ("passes", "minibatches", "micro", "divisor", "by_length"),
    "The step": ("eps_low", "eps_high", "max_norm", "optimizer", "advantage"),
    "The run": ("scale", "policy", "seed"),
}
PRESETS = {
    "GRPO": Knobs(),
    "DAPO's token mean": Knobs(mode="token-mean"),
    "Dr.GRPO": Knobs(mode="seq-mean-token-sum-norm", advantage="reward − mean"),
    "Learning rate 0.1": Knobs(learning_rate=0.1),
    "32 steps a batch": Knobs(passes=4, minibatches=8),
    "Accumulated": Knobs(mode="token-mean", **LOCAL),
}
AMPLIFIES = {  # 32 steps an update carry it into the first digits; the spread of nine starts 1e-12 apart
    "32 steps a batch": {
        "Pass rate": 0.3,
        "Largest |loss| so far": 0.3,
        "Gradient norm": 0.5,
        "Fraction of clipped tokens": 4.0,
    }
}


@dataclass(frozen=True)
class FirstBatch:
    """The first batch under the loss in force, before the last step that is made over it."""

    texts: list  # (16,) the completions drawn
    tokens: TokenGradient  # (16, T) of them
    # relative error of the gradient by number of micro-batches: what a local divisor does, sorted and as they come
    error: dict
    now: float  # that of the setting in force
    cosine: float


@dataclass(frozen=True)
class Trace:
    first: FirstBatch
    start: float  # exact pass rate before training
    updates: list  # those at which the next one was computed
    pass_rate: list  # exact, mean of 100 prompts
    loss: list  # from here on a number an update; the loss at the update's last step
    grad_norm: list
    entropy: list  # nats a token
    clipped: list  # share of the own tokens


def run(k):
    for start in POLICIES.values():  # before the first frame: the page's snapshot keeps what was read, no files
        start()
    controller = add_run(
        grpo,
        seed=k.seed,
        groups=GROUPS,
        K=K,
        hyper=dict(inner_epochs=k.passes, beta=0.0),
        hooks=hooks(k),
        optimizer=optimizer(k),
        policy=POLICIES[k.policy](),
        minibatches=k.minibatches,
    )
    start, first, frames = tasks.exact_pass(controller.start).mean(), None, []
    every = EVERY if k.policy == "window" else SLOW
    for event in controller.iterate(UPDATES):
        if event.stage == 3 and first is None:
            batch = event.summary["batch"]
        if event.stage == 5 and first is None:
            first = inspected(k, controller.start, batch)
        if event.stage == 7:
            frames.append(event.summary["frame"])
            if len(frames) in (1, UPDATES) or len(frames) % every == 0:
                yield trace(first, start, frames)


def idle(k):
    one_slice = dict(divisor="there is one micro-batch") if k.micro == 1 else {}
    one_step = dict.fromkeys(("eps_low", "eps_high"), "one step: every ratio is 1")
    return one_slice | (one_step if k.passes == k.minibatches == 1 else {})


def hooks(k):
    def two_sided(logp, old_logp, A, hp, batch):
        return surrogate.clipped(logp, old_logp, A, k.eps_low, k.eps_high)

    def scaled(reward, hp, batch):
        return k.scale * reward

    return dict(
        surrogate=two_sided,
        shape_reward=scaled,
        weights=lambda mask, hp, batch: weights(k, mask),
        advantage=(grpo if k.advantage == "z-score" else dr_grpo).advantage,
    )


def weights(k, mask):
    mean = aggregation.MODES[k.mode]
    if k.divisor == "the batch's count":
        return mean(mask)
    return microbatch.local_weights(mask, mean, microbatch.slices(mask, k.micro, k.by_length))


def optimizer(k):
    cut = None if k.max_norm == "off" else float(k.max_norm)
    return (AdamW if k.optimizer == "AdamW" else SGD)(rate(k), clip=cut)


def rate(k):
    return shared_rate(k.policy, k.learning_rate)


def inspected(k, start, batch):
    mean = aggregation.MODES[k.mode]
    right = Algorithm(grpo, dict(beta=0.0), {**hooks(k), "weights": lambda mask, hp, batch: mean(mask)})
    force = Algorithm(grpo, dict(beta=0.0), hooks(k))
    policy = before_the_last_step(
        start, optimizer(k), batch, force.compute_loss, k.passes, k.minibatches, np.random.default_rng(k.seed)
    )
    logp, _, cache = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    mask, truth = batch.response_mask, policy.backward(cache, right.compute_loss(logp, batch).dlogp)
    unweighted = right.compute_loss(logp, batch).dlogp / np.where(mask > 0, mean(mask), 1)

    def local(count, by_length):
        weights = microbatch.local_weights(mask, mean, microbatch.slices(mask, count, by_length))
        return policy.backward(cache, unweighted * weights)

    error = {
        by_length: [microbatch.relative_error(local(count, by_length), truth) for count in COUNTS]
        for by_length in (True, False)
    }
    tokens = token_gradient(force, logp, batch)
    in_force = policy.backward(cache, tokens.dlogp)
    texts = [
        tinylm.decode([*prompt, *(t for t in row if t != tinylm.PAD)])
        for prompt, row in zip(batch.prompt[:ROWS].tolist(), batch.tokens[:ROWS].tolist())
    ]
    return FirstBatch(
        texts,
        TokenGradient(*(getattr(tokens, name)[:ROWS] for name in ("advantage", "ratio", "clipped", "weight", "dlogp"))),
        error,
        microbatch.relative_error(in_force, truth),
        microbatch.cosine(in_force, truth),
    )


def trace(first, start, frames):
    exact = [f for f in frames if "pass_rate" in f.exact]
    return Trace(
        first,
        start,
        [f.step + 1 for f in exact],
        [f.exact["pass_rate"].mean() for f in exact],
        [f.loss for f in frames],
        [f.grad_norm for f in frames],
        [f.token_entropy for f in frames],
        [f.clip_fraction for f in frames],
    )


def seconds(k):
    """Measured: what is done once an update, and the steps on its batch; the transformer takes eight times as long."""
    return (0.9 + 0.21 * k.passes * k.minibatches) * (8 if k.policy == "transformer" else 1)


def progress(k, r):
    return ["update", len(r.loss), UPDATES]


def figure(k, r):
    x, edge = np.arange(1, len(r.loss) + 1), dict(x="update", x_range=(0, UPDATES))
    error = r.first.error[k.by_length]
    return [
        panel(
            RIGHT,
            "exact, 100 prompts, one seed",
            line([0, *r.updates], [r.start, *r.pass_rate], "pass rate"),
            threshold(r.start, "breaks below the start", 0),
            **edge,
            y_range=(0, 1.02),
            tab="Training",
            front=True,
        ),
        panel(
            "Policy loss",
            "at each update's last step, one seed; cut at 0.4",
            line(x, np.clip(r.loss, -0.4, 0.4), "loss"),
            **edge,
            y_range=(-0.42, 0.42),
            tab="Training",
        ),
        panel(
            "Gradient norm",
            "before the limit, logarithmic, one seed",
            line(x, np.maximum(r.grad_norm, 1e-4), "norm"),
            **edge,
            y_range=(1e-4, 10),
            log="y",
            tab="Gauges",
        ),
        panel(
            "Entropy and clipped tokens",
            "nats per token; share of tokens; one seed",
            line(x, r.entropy, "entropy"),
            line(x, r.clipped, "clipped", 2),
            label(UPDATES, 0.86, "entropy, nats per token", 1, "right"),
            label(UPDATES, 0.77, "share of clipped tokens", 2, "right"),
            **edge,
            y_range=(0, 0.95),
            tab="Gauges",
        ),
        tokens_of(r.first),
        panel(
            "Gradient error of micro-batches",
            "% of its length, first batch, own counts",
            line(COUNTS, 100 * np.array(error), "own counts"),
            dots([k.micro], [100 * r.first.now], "now", 1, "here"),
            x="micro-batches per step, logarithmic",
            x_range=(0.9, 18),
            y_range=(0, 60),
            log="x",
            ticks=dict(tickvals=COUNTS, ticktext=[str(n) for n in COUNTS]),
            tab="First batch",
        ),
    ]


def tokens_of(first):
    """A row a completion, the first on top; the sign says whether descent raises or lowers the token."""
    t, rows = first.tokens, range(ROWS - 1, -1, -1)
    push = -1000 * np.where(t.weight > 0, t.dlogp, np.nan)
    furthest = float(np.nanmax(np.abs(push))) or 1.0

    def words(i, j):
        if t.weight[i, j] == 0:
            return "no token"
        parts = (
            f"A {t.advantage[i, j]:.2f}, ratio {t.ratio[i, j]:.2f}, weight {1000 * t.weight[i, j]:.2f} "
            f"thousandths{', clipped' if t.clipped[i, j] else ''}"
        )
        return f"{first.texts[i].replace('<', '‹').replace('>', '›')}<br>token {j + 1}: {parts}"

    columns = range(push.shape[1])
    cells = heat(
        [str(j + 1) for j in columns], [f"y{i + 1}" for i in rows], push[::-1], "push", low=-furthest, high=furthest
    )
    hover = dict(hovertext=[[words(i, j) for j in columns] for i in rows], hovertemplate="%{hovertext}<extra></extra>")
    return panel(
        "Push on each token, −dL/dlogp",
        "thousandths; [above-3] raised, [below-2] lowered; 16 completions",
        {**cells, **hover},
        x="token of the completion",
        tab="First batch",
    )


def readouts(k, r):
    return [
        Readout("Pass rate", r.pass_rate[-1], "", tasks.exact_pass, "violated" if below(r) else ""),
        Readout("Largest |loss| so far", largest_loss(r), "", Algorithm.compute_loss),
        Readout("Gradient norm", r.grad_norm[-1] if r.grad_norm[-1] > 1e-12 else 0.0, "", Trainer.step),
        Readout("Fraction of clipped tokens", 100 * float(np.mean(r.clipped)), "%", Algorithm.compute_loss),
        Readout("Gradient error of the micro-batches", 100 * error_now(r), "%", microbatch.relative_error),
    ]


def largest_loss(r):
    loss = max(map(abs, r.loss))
    return loss if loss > 1e-12 else 0.0  # 7e-17 is rounding


def error_now(r):
    return r.first.now if r.first.now > 1e-12 else 0.0


def below(r):
    """Certain only at the end: a run may come back."""
    return len(r.loss) == UPDATES and r.pass_rate[-1] < r.start


def watched(k, r):
    return Gauge(
        "Pass rate", r.pass_rate[-1], round(r.start, 3), below=True, expression=f"pass_rate < {r.start:.3f} at the end"
    )


def seen_at(k, r, cause):
    return At(RIGHT, None, None, "ends below its start", "pass rate")


def broken(k, r):
    if not below(r):
        return None
    name = cause(k)
    why = Said(
        f"The pass rate ends at {r.pass_rate[-1]:.3f}, below its start of {r.start:.3f}. {reason(k, name)}.",
        {"undoing it mends": lambda: not below(end(run, replace(k, **undone(k)[name])))},
    )
    return Break(why, fix(k), name)


FAR, MANY, BOTH = "a step that is too long", "many steps on one batch", "many steps that are too long"


def cause(k):
    if k.passes * k.minibatches > 4 and k.learning_rate > 0.05:
        return BOTH
    return FAR if k.learning_rate > 0.05 or k.passes * k.minibatches == 1 else MANY


def undone(k):
    """{cause: the knobs without it}."""
    short, one = dict(learning_rate=min(k.learning_rate / 2, 0.02)), dict(passes=1, minibatches=1)
    return {FAR: short, MANY: one, BOTH: short | one}


def reason(k, name):
    steps = k.passes * k.minibatches
    if name == BOTH:
        return f"It took {steps} optimizer steps on each batch, at a learning rate of {rate(k):g}"
    if name == MANY:
        return f"It took {steps} optimizer steps on each batch of {GROUPS * K} completions"
    if k.optimizer == "AdamW":
        return f"AdamW's steps are as long as the learning rate, up to about {rate(k):g} per weight"
    return f"At a learning rate of {rate(k):g}, the steps are too long"


def fix(k):
    values = dict(learning_rate=0.02) if k.learning_rate > 0.03 else {}
    if k.passes * k.minibatches > 4:
        values |= dict(passes=1, minibatches=1)
    return recovery.different(k, values or dict(learning_rate=0.01))


def worse(k, r):
    if len(r.loss) < UPDATES or r.pass_rate[-1] >= WELL:
        return None
    return Said(
        f"The pass rate rose only from {r.start:.3f} to {r.pass_rate[-1]:.3f}. The default run ends above {WELL:g}.",
        {
            "the default does": lambda: end(run, Knobs(seed=k.seed)).pass_rate[-1] > WELL,
            "it is not below its start": lambda: r.pass_rate[-1] >= r.start,
        },
    )


def holds(k, r):
    rate = f"The pass rate went from {r.start:.3f} to {r.pass_rate[-1]:.3f}"
    learned = {"it learns": lambda: len(r.loss) < UPDATES or r.pass_rate[-1] > r.start + 0.3}
    if r.first.now > ASTRAY:
        return Said(
            f"{rate}. The first gradient was off by {100 * r.first.now:.0f} % of its length, and no curve shows it.",
            learned | {"by its own counts": lambda: k.divisor == "its own count" and k.micro > 1},
        )
    norm = r.grad_norm[-1] if r.grad_norm[-1] > 1e-12 else 0.0
    return Said(f"{rate}. The gradient norm was {figures(norm)} in the last step.", learned)


GUESS = Guess(
    "Micro-batches divide by their own counts, so the first gradient is over 20 % off. At which pass rate does it end?",
    ("below 0.5", "about 0.7", "about 0.9"),
    Knobs(mode="token-mean", **LOCAL),
    2,
    lambda k, r: (
        f"The run ends at {r.pass_rate[-1]:.2f}, although its first gradient is {100 * error_now(r):.0f} % off."
    ),
)


# ── the first screen ──
TWO_RUNS = "learning rate 0.02", "learning rate 0.1"


def opened(plain, other):
    """The exact pass rate of both runs, and their policy losses."""
    x = [[0, *r.updates] for r in (plain, other)]
    right = [[r.start, *r.pass_rate] for r in (plain, other)]
    step = np.arange(1, UPDATES + 1)
    edge = dict(x="update", x_range=(0, UPDATES))
    return [
        panel(
            RIGHT,
            "exact, mean of 100 prompts",
            line(x[0], right[0], TWO_RUNS[0], 8, "reference"),
            line(x[1], right[1], TWO_RUNS[1], 1),
            dots([0], [plain.start], "the same start", 1),
            label(UPDATES, right[0][-1] + 0.05, TWO_RUNS[0], 8, "right"),
            label(UPDATES, 0.26, TWO_RUNS[1], 1, "right"),
            **edge,
            y_range=(0, 1.05),
        ),
        panel(
            "Policy loss",
            "at every step of both runs",
            *both(TWO_RUNS, step, np.round(plain.loss, 12), np.round(other.loss, 12)),
            label(UPDATES, 0.005, "both: 0 at every step", 1, "right"),
            **edge,
            y_range=(-0.1, 0.1),
        ),
    ]


OPENING = Opening(Knobs(), Knobs(learning_rate=0.1), opened, Algorithm.compute_loss, TWO_RUNS)
