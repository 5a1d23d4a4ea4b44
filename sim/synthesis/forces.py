"""Compute to a target as cost × variance ÷ signal², and which recipe needs the least of it under a memory limit.

For an L-smooth objective and a stochastic gradient with mean ρ g and variance V / n, the best step gains ρ² |g|⁴ n / (2
L V) where noise dominates (the descent lemma, Bottou, Curtis and Nocedal, arXiv:1606.04838, section 4). So the number
of samples to a target scales as V / ρ², and compute as C V / ρ², where C is the cost of a sample. This models choices
made before a run: every number in `Assumed` is assumed, and nothing is fitted to an outcome.
"""

from dataclasses import dataclass

from sim.cluster.memory import MEGATRON

BASELINES = ("group", "critic", "batch")
LEARNED = ("reward model", "judge")  # scorers that can be over-optimized
# bytes per weight: for training, and for a bf16 copy that only reads or generates
TRAINED, FROZEN = float(MEGATRON.whole), 2.0
FORWARD, TRAIN = 2.0, 6.0  # operations per weight and token: a forward pass; forward and backward
JUDGING = 4.0  # assumed: a judge reads and writes as much again


@dataclass(frozen=True)
class Assumed:
    """Settings that a reader may change."""

    verifier: float = 0.02  # fraction of wrong labels, by source
    reward_model: float = 0.28
    judge: float = 0.30
    pairs: float = 0.28
    offline: float = 0.7  # the fraction of the signal left in pairs that a different policy wrote
    hacked: float = 0.4  # the same for a learned scorer if no KL penalty keeps the policy near its data
    between: float = 0.8  # fraction of the variance between prompts that a critic knows
    labels: float = 2.0  # price of human labels, in units of FORWARD
    dropped: float = 120.0  # compute charged for a prompt without a reward, for what it would have taught
    a: float = 1.0  # the prompts' pass rates follow Beta(a, b)
    b: float = 1.0


ASSUMED = Assumed()


@dataclass(frozen=True)
class Source:
    """Where the rewards for some prompts come from, how they are compared, and whether KL anchors the policy."""

    signal: str
    baseline: str
    anchored: bool


@dataclass(frozen=True)
class Solution:
    """One recipe: compute to the target, bytes per weight, and its two sources. A source is None if there are no such
    prompts, or if they are dropped.
    """

    compute: float
    memory: float
    unchecked: Source | None  # of the prompts without a verifier
    checked: Source | None  # of those with one
    dropped: float = 0.0  # fraction of prompts left out of training

    @property
    def unanchored(self):
        return any(s and s.signal in LEARNED and not s.anchored for s in (self.unchecked, self.checked))


def moments(a, b):
    """(mean, variance between prompts, variance within a prompt) of a reward of 0 or 1 whose pass rate follows Beta(a,
    b).
    """
    mean = a / (a + b)
    between = mean * (1 - mean) / (a + b + 1)
    return mean, between, mean * (1 - mean) - between


def variance(baseline, samples=16, foreseen=0.0, assumed=ASSUMED):
    """What remains of the reward's variance after a baseline is subtracted.

    `group` is the mean of the prompt's other completions (RLOO; GRPO without its division) and `batch` the mean of all.
    `critic` knows `assumed.between` of the prompt and `foreseen` of what happens within it, and `none` knows nothing.
    """
    mean, between, within = moments(assumed.a, assumed.b)
    return dict(
        none=mean**2 + between + within,
        batch=between + within,
        group=within * samples / (samples - 1),
        critic=(1 - assumed.between) * between + (1 - foreseen) * within,
    )[baseline]


def signal(source, anchored=True, assumed=ASSUMED):
    """ρ, the fraction of the true gradient that remains in the mean of the sampled one.

    If labels of 0 and 1 are wrong with probability e whatever the truth, then E[label | truth] = e + (1 − 2 e) truth,
    so ρ = 1 − 2 e.
    """
    left = 1 - 2 * getattr(assumed, source.replace(" ", "_"))
    if source == "pairs":
        return left * assumed.offline
    return left if anchored or source not in LEARNED else left * assumed.hacked


def cost(source, baseline, anchored, assumed=ASSUMED):
    """Operations for one sample, per weight and token. A critic is a second model that reads and trains."""
    if source == "pairs":  # nothing is generated, and the reference reads each pair once
        return TRAIN + FORWARD + assumed.labels
    scored = {"verifier": 0.0, "reward model": FORWARD + assumed.labels, "judge": JUDGING}[source]
    return FORWARD + TRAIN + scored + anchored * FORWARD + (baseline == "critic") * (FORWARD + TRAIN)


def memory(source, baseline, anchored):
    """Bytes per weight held at once. DPO needs no engine and has the reference's log-probs from before."""
    if source == "pairs":
        return TRAINED
    return TRAINED + FROZEN * (1 + anchored + (source in LEARNED)) + (baseline == "critic") * TRAINED


def effort(source, baseline, anchored, samples=16, foreseen=0.0, assumed=ASSUMED):
    """Compute to the target, cost × variance ÷ signal²; infinite if no signal is left."""
    left = signal(source, anchored, assumed)
    if source == "pairs":
        baseline, samples = "group", 2
    spread = variance(baseline, samples, foreseen, assumed)
    return cost(source, baseline, anchored, assumed) * spread / left**2 if left > 0 else float("inf")


def options():
    """The distinct recipes: [(source without a verifier or None if dropped, source with one)]. `checked` equals
    `unchecked` if the verifiers are not used.
    """
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
    """list[Solution] that fit into `room` bytes per weight, sorted by compute; among equals, one held near its data
    comes first, then the one with the least memory.

    `checkable` is the fraction of prompts that have a verifier. Both sources share one policy and run one after the
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
    """The published recipe with these sources and this baseline, or else its components."""
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
    """The fraction of the variance within a prompt that a critic must foresee to be worth its compute; above 1 means
    never.

    It follows from cost_group · W K/(K−1) = cost_critic · ((1 − R) B + (1 − s) W).
    """
    _, between, within = moments(assumed.a, assumed.b)
    ratio = cost(source, "group", anchored, assumed) / cost(source, "critic", anchored, assumed)
    return 1 + (1 - assumed.between) * between / within - ratio * samples / (samples - 1)


def compute_map(checkable, rooms, foreseen, samples=16, assumed=ASSUMED):
    """The least compute, and the name of its recipe, over fractions of checkable prompts and bytes per weight: two
    lists of rows, one row for each of `rooms`; (inf, "") if nothing fits.
    """
    columns = [solve(v, foreseen, max(rooms), samples, assumed) for v in checkable]
    best = [[next((s for s in found if s.memory <= room), None) for found in columns] for room in rooms]
    return (
        [[s.compute if s else float("inf") for s in row] for row in best],
        [[name(s) if s else "" for s in row] for row in best],
    )
