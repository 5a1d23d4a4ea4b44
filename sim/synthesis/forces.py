"""Compute to a target as cost × variance ÷ signal², and which recipe takes the least of it where memory is limited.

For an L-smooth objective and a stochastic gradient with mean ρ g and variance V / n, the best step gains
ρ² |g|⁴ n / (2 L V) where noise dominates (the descent lemma, Bottou, Curtis and Nocedal, arXiv:1606.04838, section 4).
So the samples to a target go as V / ρ², and compute as C V / ρ² with C the cost of a sample. A model of choices made
before a run: every number of `Assumed` is assumed, and nothing is fitted to an outcome.
"""

from dataclasses import dataclass

from sim.cluster.memory import MEGATRON

BASELINES = ("group", "critic", "batch")
LEARNED = ("reward model", "judge")  # scorers that can be over-optimized
# bytes a weight: what trains, and a copy in bf16 that only reads or generates
TRAINED, FROZEN = float(MEGATRON.whole), 2.0
FORWARD, TRAIN = 2.0, 6.0  # operations a weight and token: one pass forward; forward and backward
JUDGING = 4.0  # assumed: a judge that reads and writes as much again


@dataclass(frozen=True)
class Assumed:
    """What a reader may set otherwise."""

    verifier: float = 0.02  # share of wrong labels, by source
    reward_model: float = 0.28
    judge: float = 0.30
    pairs: float = 0.28
    offline: float = 0.7  # what is left of the signal of pairs that another policy wrote
    hacked: float = 0.4  # what is left of a learned scorer's that no price of KL holds near its data
    between: float = 0.8  # share of the variance between prompts that a critic knows
    labels: float = 2.0  # price of people's labels, in the unit of FORWARD
    dropped: float = 120.0  # compute that a prompt without a reward is said to cost: what it would have taught
    a: float = 1.0  # the prompts' pass rates follow Beta(a, b)
    b: float = 1.0


ASSUMED = Assumed()


@dataclass(frozen=True)
class Source:
    """Where the reward of some prompts comes from, how it is compared, and whether KL anchors it."""

    signal: str
    baseline: str
    anchored: bool


@dataclass(frozen=True)
class Solution:
    """One recipe: compute to the target, bytes a weight, and its two sources. None where there are no such prompts, or
    where they are dropped."""

    compute: float
    memory: float
    unchecked: Source | None  # of the prompts without a verifier
    checked: Source | None  # of those with one
    dropped: float = 0.0  # share of the prompts that nobody trains on

    @property
    def unanchored(self):
        return any(s and s.signal in LEARNED and not s.anchored for s in (self.unchecked, self.checked))


def moments(a, b):
    """(mean, variance between prompts, variance within a prompt) of a reward of 0 or 1 whose pass rate follows
    Beta(a, b)."""
    mean = a / (a + b)
    between = mean * (1 - mean) / (a + b + 1)
    return mean, between, mean * (1 - mean) - between


def variance(baseline, samples=16, foreseen=0.0, assumed=ASSUMED):
    """What is left of the reward's variance once a baseline is taken off.

    `group` is the mean of the other completions of the prompt (RLOO; GRPO without its division), `batch` the mean of
    all, `critic` knows `assumed.between` of the prompt and `foreseen` of what happens within it, `none` nothing.
    """
    mean, between, within = moments(assumed.a, assumed.b)
    return dict(
        none=mean**2 + between + within,
        batch=between + within,
        group=within * samples / (samples - 1),
        critic=(1 - assumed.between) * between + (1 - foreseen) * within,
    )[baseline]


def signal(source, anchored=True, assumed=ASSUMED):
    """ρ, the part of the true gradient that is left in the mean of the sampled one.

    With labels of 0 and 1 that are wrong with chance e whatever is true, E[label | truth] = e + (1 − 2 e) truth, so
    ρ = 1 − 2 e.
    """
    left = 1 - 2 * getattr(assumed, source.replace(" ", "_"))
    if source == "pairs":
        return left * assumed.offline
    return left if anchored or source not in LEARNED else left * assumed.hacked


def cost(source, baseline, anchored, assumed=ASSUMED):
    """Operations of one sample, a weight and token. A critic is a second model that reads and trains."""
    if source == "pairs":  # nothing is generated; the reference reads each pair once
        return TRAIN + FORWARD + assumed.labels
    scored = {"verifier": 0.0, "reward model": FORWARD + assumed.labels, "judge": JUDGING}[source]
    return FORWARD + TRAIN + scored + anchored * FORWARD + (baseline == "critic") * (FORWARD + TRAIN)


def memory(source, baseline, anchored):
    """Bytes a weight that are held at once. DPO keeps no engine, and the reference's log-probs from before."""
    if source == "pairs":
        return TRAINED
    return TRAINED + FROZEN * (1 + anchored + (source in LEARNED)) + (baseline == "critic") * TRAINED


def effort(source, baseline, anchored, samples=16, foreseen=0.0, assumed=ASSUMED):
    """Compute to the target: cost × variance ÷ signal²; infinite where no signal is left."""
    left = signal(source, anchored, assumed)
    if source == "pairs":
        baseline, samples = "group", 2
    spread = variance(baseline, samples, foreseen, assumed)
    return cost(source, baseline, anchored, assumed) * spread / left**2 if left > 0 else float("inf")


def options():
    """The recipes that differ: [(source without a verifier or None for dropped, source with one)]. `checked` is the
    same as `unchecked` where the verifiers are not used."""
    sources = []
    for baseline in BASELINES:

        def anchors(name):
            return (True, False) if name in LEARNED else (False,)

        scored = [Source(name, baseline, on) for name in LEARNED for on in anchors(name)]
        verifier = Source("verifier", baseline, False)
        pairs = Source("pairs", "group", False)
        sources += [(one, verifier) for one in (None, pairs, *scored)] + [(one, one) for one in scored]
    return [(pairs, pairs), *sources]


def solve(checkable, foreseen, room, samples=16, assumed=ASSUMED):
    """list[Solution] that fit into `room` bytes a weight, the least compute first; of as much one that is held near its
    data, then the least memory.

    `checkable` is the share of prompts that have a verifier. Both sources share one policy and come one after the
    other, so the larger of their memories counts.
    """
    solutions = {}
    for unchecked, checked in options():
        dropped = 0.0 if unchecked else 1 - checkable
        if checkable == 0 and (checked is None or unchecked != checked):
            if not unchecked:
                continue  # trains nothing
            checked = unchecked
        one = unchecked if checkable < 1 else None
        other = checked if checkable > 0 else None
        sources = [s for s in (one, other) if s]
        needs = max(memory(s.signal, s.baseline, s.anchored) for s in sources)
        if needs > room:
            continue

        def effort_of(s):
            return effort(s.signal, s.baseline, s.anchored, samples, foreseen, assumed) if s else 0.0

        by_taste = effort_of(one) if one else assumed.dropped * (checkable < 1)
        total = (1 - checkable) * by_taste + checkable * effort_of(other)
        if total < float("inf"):
            solutions[one, other] = Solution(total, needs, one, other, dropped)
    return sorted(solutions.values(), key=lambda s: (float(f"{s.compute:.12g}"), s.unanchored, s.memory, name(s)))


def name(solution):
    """The published recipe that has these sources and this baseline, or what it consists of."""
    one, other = solution.unchecked, solution.checked
    baseline = next((s.baseline for s in (other, one) if s and s.signal != "pairs"), None)
    first = one.signal if one else None
    if other is None or (other.signal != "verifier"):
        first = first or other.signal
        return {
            ("pairs", None): "DPO alone (Zephyr)",
            ("reward model", "critic"): "RLHF (InstructGPT)",
            ("reward model", "group"): "GRPO, reward model (Qwen2.5)",
            ("judge", "critic"): "RLAIF, critic",
            ("judge", "group"): "RLAIF (judge)",
        }.get((first, baseline), f"{first}, {baseline}")
    return {
        (None, "group"): "R1-Zero, DAPO",
        (None, "critic"): "PPO, verifier (ORZ, VAPO)",
        ("pairs", "group"): "Tülu 3.1 (DPO, verifier)",
        ("pairs", "critic"): "Tülu 3 (DPO, verifier, PPO)",
        ("reward model", "group"): "R1’s last stage",
        ("reward model", "critic"): "reward model, verifier, PPO",
        ("judge", "group"): "Kimi K2 (judge, verifier)",
        ("judge", "critic"): "judge, verifier, PPO",
    }.get((first, baseline), f"{first or 'dropped'}, verifier, {baseline}")


def crossing(source, anchored, samples=16, assumed=ASSUMED):
    """The share of the variance within a prompt that a critic must foresee to be worth its compute; above 1 never.

    From cost_group · W K/(K−1) = cost_critic · ((1 − R) B + (1 − s) W).
    """
    _, between, within = moments(assumed.a, assumed.b)
    ratio = cost(source, "group", anchored, assumed) / cost(source, "critic", anchored, assumed)
    return 1 + (1 - assumed.between) * between / within - ratio * samples / (samples - 1)


def compute_map(checkable, rooms, foreseen, samples=16, assumed=ASSUMED):
    """Least compute and its recipe's name over shares of checkable prompts and bytes a weight: two lists of rows, one
    for each of `rooms`; (inf, "") where nothing fits."""
    columns = [solve(v, foreseen, max(rooms), samples, assumed) for v in checkable]
    best = [[next((s for s in found if s.memory <= room), None) for found in columns] for room in rooms]
    return (
        [[s.compute if s else float("inf") for s in row] for row in best],
        [[name(s) if s else "" for s in row] for row in best],
    )
