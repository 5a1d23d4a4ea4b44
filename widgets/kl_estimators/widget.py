"""What a KL penalty built on k1, k2 or k3 pulls towards, what it costs in noise, and where training under it ends."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sim.estimators import kl
from sim.words import counted
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import band, bars, both, by_update, dots, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "Three estimators of the KL, as numbers to log and as penalties to train on"
COST = "5 runs of 80 updates"

PAIRS = dict(
    near=([0.5, 0.3, 0.2], [0.25, 0.25, 0.5]),
    drifted=([0.1, 0.1, 0.8], [0.5, 0.3, 0.2]),
    confident=([0.9, 0.09, 0.01], [0.4, 0.35, 0.25]),
)
# the bandit that is trained: only the third token is paid
REF, REWARD = np.array([0.5, 0.3, 0.2]), np.array([0.0, 0.0, 1.0])
UPDATES, RUNS, LEARNING_RATE = 80, 4, 2.0
MARGIN = 0.1  # nats beyond the optimum that count as broken
CUT = "; cut off at the axis"
STREAM = 4096
DISTANCES = np.arange(0.1, 3.01, 0.1)
PROVEN = dict(k1="reward", k2="loss", k3="loss × ratio")  # the placement that gives each the reverse-KL gradient


@dataclass(frozen=True)
class Knobs:
    estimator: str = choice("Estimator", "k1", ["k1", "k2", "k3"])
    placement: str = choice("Place of the penalty", "reward", list(kl.PLACEMENTS))
    beta: float = slider("KL coefficient", 0.3, low=0.05, high=2.0, step=0.05, symbol="β")
    pair: str = choice("Policy and reference", "drifted", [*PAIRS, "Gaussian"])
    mu: float = slider("Distance from the reference", 1.0, low=0.1, high=3.0, step=0.1, symbol="d")
    samples: int = ladder("Samples per batch", 64, [1, 4, 16, 64, 256, 1024, 4096], symbol="n")
    gap: float = slider("Age of the samples", 0.0, low=0.0, high=1.0, step=0.1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "PPO, RLOO": Knobs(),
    "TRL 1.16": Knobs(estimator="k3", placement="loss × ratio"),
    "GRPO paper": Knobs(estimator="k3", placement="loss"),
    "k1 as a loss": Knobs(placement="loss"),
    "k3 in the reward": Knobs(estimator="k3"),
    "Old samples": Knobs(gap=0.5),
}


@dataclass(frozen=True)
class Result:
    kl: float  # exact, of the pair shown
    moments: kl.Moments  # under the samples' policy
    pulls: dict  # name: minus the gradient, one number a parameter
    cosine: float  # of the penalty's gradient and the reverse KL's
    trained: np.ndarray  # KL to the reference, (updates + 1, runs); the last run is the one without a penalty
    unpaid: np.ndarray  # probability of the two tokens that are not paid, (updates + 1, runs)
    best_unpaid: float  # what the optimum of E[R] − β KL(π‖ref) leaves of them
    best: float  # KL of the optimum of E[R] − β KL(π‖ref), and of the forward one
    best_forward: float
    stream: np.ndarray  # running means of k1, k2, k3, (3, places)
    noise: np.ndarray  # std of one sample of k1, k2, k3 at each distance, (3, distances)


PLACES = np.unique(np.geomspace(1, STREAM, 45).astype(np.int64))


def run(k):
    policy, ref, score = setting(k.pair, k.mu)
    old = kl.between(policy, ref, k.gap)
    reverse = kl.reverse_kl_gradient(policy, ref, score)
    chosen = kl.penalty_gradient(policy, ref, old, score, k.estimator, k.placement)
    pulls = dict(chosen=-chosen, reverse=-reverse, forward=-kl.forward_kl_gradient(policy, ref, score))
    price = np.array([[k.beta]] * RUNS + [[0.0]])
    policies = kl.train(
        REWARD,
        REF,
        price,
        k.estimator,
        k.placement,
        k.gap,
        k.samples,
        LEARNING_RATE,
        UPDATES,
        RUNS + 1,
        np.random.default_rng(k.seed),
    )
    best, best_forward = (
        kl.divergence(optimum(REWARD, REF, k.beta), REF) for optimum in (kl.reverse_kl_optimum, kl.forward_kl_optimum)
    )
    unpaid = REWARD.max() > REWARD
    yield Result(
        kl.divergence(policy, ref),
        kl.k_moments(policy, ref, old),
        pulls,
        kl.cosine(chosen, reverse),
        kl.divergence(policies, REF),
        policies[:, :, unpaid].sum(axis=2),
        kl.reverse_kl_optimum(REWARD, REF, k.beta)[unpaid].sum(),
        best,
        best_forward,
        running_means(policy, ref, old, np.random.default_rng(k.seed)),
        noise_by_distance(k.pair),
    )


def setting(pair, mu):
    """Policy, reference and ∇log π of a named pair, the policy moved to `mu` times its distance on the geometric
    path.
    """
    if pair == "Gaussian":
        x, policy = kl.gaussian_table(mu)
        return policy, kl.gaussian_table(0.0)[1], kl.gaussian_score(x, mu)
    end, ref = (np.array(p) for p in PAIRS[pair])
    policy = kl.between(end, ref, 1 - mu)
    return policy, ref, kl.softmax_score(policy)


def running_means(policy, ref, old, rng):
    tokens = rng.choice(len(old), STREAM, p=old)
    k = np.array([value(np.log(policy), np.log(ref))[tokens] for value in kl.VALUE.values()])
    return np.cumsum(k, axis=1)[:, PLACES - 1] / PLACES


@cache
def noise_by_distance(pair):
    if pair == "Gaussian":
        return np.sqrt(kl.gaussian_moments(DISTANCES).variance)
    policies = (setting(pair, mu)[:2] for mu in DISTANCES)
    return np.sqrt([kl.k_moments(policy, ref, policy).variance for policy, ref in policies]).T


def ended(r):
    """Mean KL of the penalized runs over the last quarter of training, and of the run without a penalty."""
    last = r.trained[-UPDATES // 4 :]
    return last[:, :RUNS].mean(), last[:, RUNS].mean()


def left(r):
    """Probability of the unpaid tokens over the last quarter, mean of the penalized runs."""
    return r.unpaid[-UPDATES // 4 :, :RUNS].mean()


def figure(k, r):
    return [*train_tab(k, r), *token_tab(k), *log_tab(k, r)]


def train_tab(k, r):
    update = np.arange(0, UPDATES + 1, 2)
    first, *others = r.trained[::2, :RUNS].T
    yield by_update(
        "KL to the reference while training",
        f"nats, exact; {RUNS} runs with 3 tokens, {sampled(k)}",
        line(update, first, "run 1"),
        each_run(update, others, "other runs"),
        line(update, r.trained[::2, RUNS], name="no penalty", series=8, role="reference"),
        label(48, r.trained[48, RUNS], "β = 0", 8),
        line([0, UPDATES], [r.best] * 2, name="best, reverse KL", series=2, role="exact"),
        line([0, UPDATES], [r.best_forward] * 2, name="best, forward KL", series=3, role="exact"),
        *optimum_labels(r),
        threshold(r.best + MARGIN, f"breaks above {r.best + MARGIN:.2f} nats", edge=1.8),
        updates=UPDATES,
        y_range=[0, 1.8],
        tab="Train",
        front=True,
    )
    low, high = (-4.0, 10.0) if k.pair == "Gaussian" else (-1.0, 1.0)
    beyond = any((pull < low).any() or (pull > high).any() for pull in r.pulls.values())
    names, tall = ["mean", "log σ"] if k.pair == "Gaussian" else ["token 1", "token 2", "token 3"], high - low
    yield panel(
        "Pull on each parameter",
        f"minus its gradient, nats; “{k.pair}” at {k.mu:g}{CUT * beyond}",
        *(bars(names, r.pulls[name], name=words, series=i) for i, (name, words) in enumerate(series(k).items(), 1)),
        *(label(names[0], low + (1.01 - 0.06 * i) * tall, words, i) for i, words in enumerate(series(k).values(), 1)),
        x="parameter of the policy",
        y_range=[low, high],
        tab="Train",
    )


def optimum_labels(r):
    """Words under the two lines, in one where they would lie on each other; above the threshold where there is no room
    below.
    """
    if abs(r.best - r.best_forward) < 0.12:
        lower = min(r.best, r.best_forward)
        return [
            label(30, lower, "best, either KL", below=True)
            if lower > 0.2
            else label(12, r.best + MARGIN, "best, either KL")
        ]
    return [
        label(30, r.best, "best, reverse KL", 2, below=True),
        label(30, r.best_forward, "best, forward KL", 3, below=True),
    ]


def series(k):
    return dict(chosen=setting_words(k), reverse="−∇KL(π‖ref)", forward="−∇KL(ref‖π)")


def setting_words(k):
    return f"{k.estimator} in the reward" if k.placement == "reward" else f"{k.estimator}, {k.placement}"


def token_tab(k):
    r = np.linspace(-3, 3, 41)
    values = [value(r, 0.0) for value in kl.VALUE.values()]
    yield panel(
        "Estimate from one token",
        "nats",
        *(line(r, v, name=name, series=i) for i, (name, v) in enumerate(zip(kl.VALUE, values), 1)),
        label(-2.9, -1.9, "k1", 1),
        label(2.3, 3.6, "k2", 2, "right"),
        label(-1.9, 4.6, "k3", 3),
        x="log-ratio ℓ = log π − log π_ref, nats",
        x_range=[-3, 3],
        y_range=[-3, 6],
        tab="One token",
    )
    old = (1 - k.gap) * r
    weight = kl.gradient_weight(r, 0.0, old, k.estimator, k.placement)
    yield panel(
        "Push on that token",
        "weight on ∇log π; positive pushes it down",
        line(r, weight, name=setting_words(k)),
        label(-2.9, 5.2, setting_words(k), 1),
        line(r, r, name="ℓ", series=2, role="exact"),
        label(2.9, 2.9, "ℓ, which descends KL(π‖ref)", 2, "right"),
        line([-3, 3], [0, 0], name="no push", series=8, role="reference"),
        x="log-ratio ℓ = log π − log π_ref, nats",
        x_range=[-3, 3],
        y_range=[-6, 6],
        tab="One token",
    )


def log_tab(k, r):
    chosen = list(kl.VALUE).index(k.estimator)
    middle, spread = r.moments.mean[chosen] / r.kl, np.sqrt(r.moments.variance[chosen] / PLACES) / r.kl
    yield panel(
        "Running mean of the logged estimates",
        "as a multiple of the exact KL, one stream; band: ± 1 standard deviation",
        *(line(PLACES, mean / r.kl, name=name, series=i) for i, (name, mean) in enumerate(zip(kl.VALUE, r.stream), 1)),
        band(PLACES.tolist(), (middle - spread).tolist(), (middle + spread).tolist(), series=chosen + 1),
        *(label(STREAM, 2.45 - 0.55 * i, name, i + 1, "right") for i, name in enumerate(kl.VALUE)),
        line([1, STREAM], [1, 1], name="exact KL", series=8, role="reference"),
        line([k.samples] * 2, [-1, 3], name="n", series=8, role="reference"),
        label(k.samples, -0.95, f"n = {k.samples:,}", 8, "right" if k.samples > 100 else "left"),
        x="samples averaged",
        x_range=[1, STREAM],
        y_range=[-1, 3],
        log="x",
        tab="Many tokens",
    )
    ratio = r.noise / r.noise[0]
    yield panel(
        "Noise of one sample",
        "standard deviation over that of k1, exact",
        *(line(DISTANCES, row, name=name, series=i) for i, (name, row) in enumerate(zip(kl.VALUE, ratio), 1)),
        *(
            label(DISTANCES[-5], ratio[i, -5], name, i + 1, "right", below=name == "k1")
            for i, name in enumerate(kl.VALUE)
        ),
        line([k.mu] * 2, [0.01, 100], name="d", series=8, role="reference"),
        label(k.mu, 0.012, f"d = {k.mu:g}", 8, "left" if k.mu < 2 else "right"),
        x="distance d from the reference",
        x_range=[0, 3],
        y_range=[0.01, 100],
        log="y",
        tab="Many tokens",
    )


def readouts(k, r):
    far, _ = ended(r)
    bias = r.moments.mean[list(kl.VALUE).index(k.estimator)] - r.kl
    return [
        Readout("KL at the end of training", far, "nats", kl.train, "violated" if broken(k, r) else ""),
        Readout("KL of the best policy at this β", r.best, "nats", kl.reverse_kl_optimum),
        Readout("Cosine of pull and −∇KL(π‖ref)", told(r.cosine), source=kl.cosine),
        Readout("Bias of the logged estimate", 0.0 if abs(bias) < 1e-12 else bias, "nats", kl.k_moments),
        Readout("Final share of tokens without reward", 100 * left(r), "%", kl.train),
    ]


def told(cosine):
    """Rounded, since elsewhere a cosine of 1 is a last bit less; below 1e-6 the sums over a grid are not exact."""
    return "no pull" if np.isnan(cosine) else 0.0 if abs(cosine) < 1e-6 else round(float(cosine), 12)


def watched(k, r):
    beyond = ended(r)[0] - r.best
    return Gauge(
        "KL beyond the best policy’s",
        0.0 if abs(beyond) < 1e-3 else beyond,
        MARGIN,
        "nats",
        expression=f"KL_end - KL_best > {MARGIN:g}",
    )


def seen_at(k, r, cause):
    return At("KL to the reference while training", None, None, "farther than the best policy", "run 1")


def broken(k, r):
    far, free = ended(r)
    if far - r.best <= MARGIN:
        return None
    ends = f"The KL ends at {far:.2f} nats (best policy: {r.best:.2f}, no penalty: {free:.2f})."
    blamed = cause(k)
    return Break(Said(f"{ends} {why(k, blamed)}.", claims(k, r, blamed)), fix(k), CAUSES[blamed])


PLACE, ALIKE, AGE, NOISE, SEVERAL = "place", "alike", "age", "noise", "several"
CAUSES = {
    ALIKE: "the same pull on every token",
    PLACE: "a push down on fallen tokens",
    AGE: "samples from an older policy",
    NOISE: "noise that outweighs the pull",
    SEVERAL: "several faults at once",
}


def undone(k):
    """{possible cause: the knobs without it}"""
    knobs = {}
    if misplaced(k):
        knobs[ALIKE if (k.estimator, k.placement) == ("k1", "loss") else PLACE] = dict(placement=PROVEN[k.estimator])
    if k.gap > 0 and k.placement != "loss × ratio":
        knobs[AGE] = dict(gap=0.0)
    return knobs | {NOISE: dict(samples=STREAM)}


def cause(k):
    """The first possible cause that mends the run when it alone is undone."""
    return next((possible for possible, knobs in undone(k).items() if mended(k, **knobs)), SEVERAL)


def mended(k, **turned):
    """Whether the setting with these knobs turned would not be broken."""
    r = end(run, replace(k, **turned))
    return ended(r)[0] - r.best <= MARGIN


def claims(k, r, blamed):
    """What the sentence of a break asserts of its mechanism, and that undoing it mends."""
    if blamed == SEVERAL:
        return {"together they mend": lambda: mended(k, **fix(k)), "there are several": lambda: len(fix(k)) > 1}

    def pushes_down_the_fallen():
        fallen = np.array([-1.5 if k.placement == "reward" else -2.5])  # nats
        return kl.gradient_weight(fallen, 0.0, fallen, k.estimator, k.placement)[0] > 0

    def pulls_the_same_without_a_reference():
        policy, ref, score = setting(k.pair, k.mu)
        old = kl.between(policy, ref, k.gap)
        gradient = kl.penalty_gradient(policy, policy, old, score, k.estimator, k.placement)
        return np.allclose(-gradient, r.pulls["chosen"])

    mends = {"undoing it mends": lambda: mended(k, **undone(k)[blamed])}
    if blamed == PLACE:
        return mends | {"a fallen token is pushed down": pushes_down_the_fallen}
    if blamed == ALIKE and k.gap == 0:
        return mends | {"it pulls nowhere": lambda: np.abs(r.pulls["chosen"]).max() < 1e-9}
    if blamed == ALIKE:
        return mends | {"whatever the reference says": pulls_the_same_without_a_reference}
    return mends


def misplaced(k):
    """Whether the penalty pulls nowhere or pushes fallen tokens down: there neither more nor fresh samples help."""
    pushes_the_fallen = (k.placement == "reward" and k.estimator != "k1") or (
        (k.estimator, k.placement) == ("k2", "loss × ratio")
    )
    return (k.estimator, k.placement) == ("k1", "loss") or pushes_the_fallen


def why(k, blamed):
    if blamed == ALIKE:
        if k.gap == 0:
            return "As a loss, k1 has an expected gradient of zero, so the penalty pulls nowhere"
        return "As a loss, k1 pulls every token alike, whatever the reference says"
    if blamed == SEVERAL:
        aged = ", all from an older policy" if k.gap > 0 else ""
        return f"The penalty is {in_words(k)}, with {sampled(k)}{aged}"
    return {
        PLACE: f"With {in_words(k)}, the penalty pushes down tokens that have fallen"
        + " by over 2 nats" * (k.placement != "reward"),
        AGE: f"With {in_words(k)}, the charge comes from an older policy"
        if k.placement == "reward"
        else f"The samples come from an older policy, and {in_words(k)} does not correct for it",
        NOISE: f"With {sampled(k)}, noise outweighs the pull of the penalty",
    }[blamed]


def in_words(k):
    places = {"reward": "in the reward", "loss": "as a loss", "loss × ratio": "times the ratio"}
    return f"{k.estimator} {places.get(k.placement, f'as {k.placement}')}"


def sampled(k):
    return f"{counted(k.samples, 'sample')} per update"


def fix(k):
    """The proven place if it is misplaced, fresh samples if they are old, and more of them if they are few."""
    home = PROVEN[k.estimator] if misplaced(k) else k.placement
    values = dict(placement=home) if misplaced(k) else {}
    if k.gap > 0 and home != "loss × ratio":
        values |= dict(gap=0.0)
    if k.samples < 64:
        values |= dict(samples=64)
    return values


def worse(k, r):
    """Nearer than the best policy by as much as would be a break on the other side."""
    far, _ = ended(r)
    if far - r.best >= -MARGIN:
        return None
    return Said(
        f"The KL ends at {far:.2f} nats, below the best policy’s {r.best:.2f}. Tokens without a reward keep "
        f"{100 * left(r):.0f} % instead of {100 * r.best_unpaid:.0f} %.",
        {
            "no matter of noise": lambda: ended(end(run, replace(k, samples=4096)))[0] < r.best - MARGIN / 2,
            "more is left of them": lambda: left(r) > r.best_unpaid,
        },
    )


def holds(k, r):
    far, free = ended(r)
    return Said(
        f"The KL ends at {far:.2f} nats. The best policy at this β has {r.best:.2f}, and a run without a penalty ends "
        f"at {free:.2f}.",
        {
            "near the best": lambda: abs(r.trained[-20:, :RUNS].mean() - r.best) <= MARGIN,
            "the last run is free": lambda: free == r.trained[-20:, -1].mean(),
        },
    )


GUESS = Guess(
    "With k3 as a loss and β = 0.3, the best policy is 1.06 nats away. How far away does training end?",
    ("about 0.8", "about 1.06", "about 1.6"),
    Knobs(estimator="k3", placement="loss"),
    0,
    lambda k, r: (
        f"It ends at {ended(r)[0]:.2f} nats. The penalty holds the policy, but closer to the reference than is best."
    ),
)


# ── the first screen ──
TWO_RUNS = "KL in the reward", "KL in the loss"


def opened(plain, other):
    """The share of the tokens that earn nothing, and the KL to the reference, means of four runs."""
    update = np.arange(UPDATES + 1)
    unpaid = [100 * r.unpaid[:, :RUNS].mean(axis=1) for r in (plain, other)]
    far = [r.trained[:, :RUNS].mean(axis=1) for r in (plain, other)]
    return [
        by_update(
            "Share of the two tokens without a reward",
            f"%, logarithmic; the best policy keeps {100 * plain.best_unpaid:.1f} %",
            *both(TWO_RUNS, update, *unpaid),
            dots([0], unpaid[1][:1], "the same start", 1),
            label(UPDATES, 1.15 * unpaid[0][-1], TWO_RUNS[0], 8, "right"),
            label(UPDATES, 1.15 * unpaid[1][-1], TWO_RUNS[1], 1, "right"),
            updates=UPDATES,
            y_range=(0.2, 100),
            log="y",
        ),
        by_update(
            "KL to the reference",
            "nats, exact",
            *both(TWO_RUNS, update, *far),
            label(UPDATES, far[0][-1] + 0.06, TWO_RUNS[0], 8, "right"),
            label(UPDATES, far[1][-1] + 0.06, TWO_RUNS[1], 1, "right"),
            updates=UPDATES,
            y_range=(0, 1.9),
        ),
    ]


OPENING = Opening(Knobs(), Knobs(placement="loss"), opened, kl.train, TWO_RUNS)
