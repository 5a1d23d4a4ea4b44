"""The lesson on on-policy distillation: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest
from scipy.optimize import brentq

from sim.estimators import distillation
from sim.experiments import distilled
from sim.pipeline import path, report, stages
from sim.worlds import tinylm
from sim.worlds.optimizer import SGD, AdamW
from sim.worlds.tasks import Chain
from sim.worlds.tinylm import FINAL
from tests.lessons import spreads
from widgets.distillation import figures, widget


def clamped(logp, teacher_logp, k):
    """`likeliest` with the clamp of verl 0.9.1, distillation/losses.py: `clamp_min(0.0)` of each place's loss."""
    value, slope = distillation.likeliest(logp, teacher_logp, k)
    return value, slope * (value > 0)[:, np.newaxis]


EXPENSIVE = "opening", "taught_down"
WIDE = 1_000  # updates between two looks: the first and the last alone
SIGNALS = {
    "reverse": distilled.everywhere(distillation.reverse),
    "JSD": distilled.everywhere(partial(distillation.jsd, beta=0.5)),
    "forward": distilled.everywhere(distillation.forward),
    "as advantage": distilled.as_advantage,
    "k1 differentiated": distilled.differentiated_k1,
    "k3 differentiated": distilled.differentiated_k3,
    **{f"likeliest {k}": distilled.everywhere(partial(distillation.likeliest, k=k)) for k in (1, 2, 3, 5, 10, 20)},
    "likeliest 1, clamped": distilled.everywhere(partial(clamped, k=1)),
}
OPTIMIZERS = dict(
    AdamW=lambda: AdamW(0.02, clip=1.0),
    SGD=lambda: SGD(1.0),
    **{"AdamW 0.005": lambda: AdamW(0.005, clip=1.0), "SGD 0.3": lambda: SGD(0.3)},
)


def policy(name):
    return distilled.teacher() if name == "RL-trained" else path.checkpoint(distilled.STUDENTS[name])


@cache
def frames(seed, student, signal="reverse", optimizer="AdamW", teacher="RL-trained", updates=100, cold=0):
    """Looks before all, in a cold start and after it, at the end."""
    return tuple(
        distilled.run(
            policy(student),
            policy(teacher),
            SIGNALS[signal],
            OPTIMIZERS[optimizer](),
            seed,
            updates,
            cold=cold,
            every=WIDE,
        )
    )


def right(student, signal="reverse", optimizer="AdamW", teacher="RL-trained", updates=100, cold=0, at=None):
    """Share of right texts at the end or at the look after `at` updates, by the seed."""
    at = updates if at is None else at
    return lambda seed: look(seed, at, student, signal, optimizer, teacher, updates, cold).right


def look(seed, at, *setting):
    (found,) = [frame for frame in frames(seed, *setting) if frame.update == at]
    return found


def nats(student, at):
    return lambda seed: float(look(seed, at, student).kl)


def totals(seed):
    """Share of the last texts of the student that answers at once that begin with three right totals."""
    return distilled.three_totals(frames(seed, "answers at once")[-1].policy, seed)


def late(optimizer):
    """The look, one every 50 updates, at which the student that answers at once is right more than 30 times in 100."""

    def of(seed):
        training = distilled.run(
            policy(ONCE), policy(BETTER), SIGNALS["reverse"], OPTIMIZERS[optimizer](), seed, MOST, every=50
        )
        return next((frame.update for frame in training if frame.update and frame.right > 0.3), MOST + 50)

    return of


def looked(policy, seed):
    return distilled.look(policy, distilled.teacher(), seed, 0, 0, 0).right


@cache
def reinforced(seed):
    """{own texts: right} of RL with eight texts a prompt."""
    found = {}
    for stage in stages.rl(policy("thinks a little"), seed, steps=50):
        if stage.step in (10, 50):
            found[stage.rows["rollouts"]] = looked(stage.policy, seed)
    return found


def imitated(student, updates):
    return lambda seed: looked(
        stages.last(distilled.cold_start(policy(student), distilled.teacher(), seed, updates)).policy, seed
    )


@cache
def merging(seed, how, optimizer="AdamW", updates=200):
    """(right sums of two digits, of four)."""
    generalist, adds, chains = distilled.two_teachers()
    rate = AdamW(0.04, clip=1.0) if optimizer == "AdamW" else SGD(1.0)

    def merged(*teachers):
        return distilled.merged(generalist, teachers, SIGNALS["reverse"], rate, seed, updates)

    made = {
        "start": lambda: generalist,
        "of two digits": lambda: adds,
        "of four": lambda: chains,
        "mean of weights": lambda: distilled.mean_of_weights(adds, chains),
        "one after the other": lambda: distilled.specialized(adds, Chain(), seed),
        "merged": lambda: merged(adds, chains),
        "crossed": lambda: merged(chains, adds),
        "one for both": lambda: merged(chains, chains),
    }
    return distilled.both_right(made[how](), seed)


def part(task, how, optimizer="AdamW"):
    return lambda seed: merging(seed, how, optimizer)[task]


MOST = 1_500  # updates that are waited for a student that answers at once
MERGED = ("start", "of two digits", "of four", "mean of weights", "one after the other")
MERGED += ("merged", "crossed", "one for both")
LITTLE, ONCE, OVER, BETTER = "thinks a little", "answers at once", "overfitted", "RL-trained"
BOTH = ("AdamW", "SGD")
MEASURED = {
    **{f"start, {name}": right(name, at=0) for name in (LITTLE, ONCE, OVER, BETTER)},
    **{f"{LITTLE}, {signal}, {o}": right(LITTLE, signal, o) for signal in SIGNALS for o in BOTH},
    **{
        f"{ONCE}, {signal}, {o}": right(ONCE, signal, o)
        for signal in ("reverse", "JSD", "forward", "as advantage", "k3 differentiated", "likeliest 1")
        for o in BOTH
    },
    **{f"{ONCE}, reverse, {o}": right(ONCE, "reverse", o) for o in ("AdamW 0.005", "SGD 0.3")},
    **{f"{ONCE}, cold {cold}, before": right(ONCE, cold=cold, at=0) for cold in (50, 100, 200)},
    **{f"{ONCE}, cold {cold}, {o}": right(ONCE, optimizer=o, cold=cold) for cold in (50, 100, 200) for o in BOTH},
    **{f"{OVER}, reverse, {o}": right(OVER, optimizer=o) for o in BOTH},
    **{f"{BETTER}, taught down, {o}": right(BETTER, optimizer=o, teacher=LITTLE) for o in BOTH},
    **{f"{LITTLE}, {n} updates": right(LITTLE, updates=n) for n in (40,)},
    f"{LITTLE}, SFT": imitated(LITTLE, 100),
    "RL, 2560": lambda seed: reinforced(seed)[2_560],
    "RL, 12800": lambda seed: reinforced(seed)[12_800],
    **{
        f"KL of {name}, {when}": nats(name, at)
        for name in (LITTLE, ONCE)
        for when, at in (("before", 0), ("after", 100))
    },
    "three totals": totals,
    **{f"late, {o}": late(o) for o in BOTH},
    **{f"{how}, of {n}": part(task, how) for how in MERGED for task, n in ((0, "two"), (1, "four"))},
    **{f"merged by SGD, of {n}": part(task, "merged", "SGD") for task, n in ((0, "two"), (1, "four"))},
}
FOUR = tuple(np.log([p]) for p in ((0.7, 0.2, 0.08, 0.02), (0.1, 0.6, 0.25, 0.05)))  # student, teacher
SENT = distillation.bytes_per_token(32, widget.VOCABULARY, widget.WIDTH)


class Batch:
    ref_logp, old_logp, response_mask = np.log([[0.6]]), np.log([[0.2]]), np.ones((1, 1))


def opening(setting, moment):
    """Right texts, as a share, of a run of the opening."""
    return figures.frame(setting, moment).right


def taught_down(updates):
    """Right texts, as a share, of a student that gets a worse teacher for so many updates."""
    return right(BETTER, teacher=LITTLE, updates=updates)(0)


def push(chance):
    """On a token of which the teacher is all but sure and the student writes it so seldom."""
    logp, teacher_logp = np.log([[chance, 1 - chance]]), np.log([[1 - 1e-6, 1e-6]])
    return -distillation.reverse(logp, teacher_logp)[1][0, 0]


def chance_of_final():
    """After three totals, before training: the median over the prompts."""
    context = distilled.after_totals(distilled.PROMPTS)
    return np.median(np.exp(distilled.log_pi(policy(ONCE), context)[:, FINAL]))


def clamped_beyond(value):
    """The ratio of teacher to student at which k3 has this value."""
    return brentq(lambda ratio: ratio - 1 - np.log(ratio) - value, 1, 100)


@cache
def likely():
    """(probabilities of the teacher at each place of the student's texts, falling; how often the place comes)."""
    batch = distilled.texts(policy(LITTLE), Chain(), distilled.PROMPTS, 4, np.random.default_rng(1))
    context, where = tinylm.distinct(batch.prompt, batch.tokens, batch.response_mask)
    return -np.sort(-np.exp(distilled.log_pi(distilled.teacher(), context)), axis=1), np.bincount(where)


def teachers_share(k):
    probabilities, times = likely()
    return probabilities[:, :k].sum(axis=1) @ times / times.sum()


@cache
def greedy():
    """How often the teacher is right if its likeliest token is taken."""
    return report.right_when_drawn_at(0.01, distilled.teacher())


def values(words):
    return spreads.values("16b_distillation", words)


def gained(signal):
    """By the student that thinks a little, with SGD."""
    return (values(f"{LITTLE}, {signal}, SGD") - values(f"start, {LITTLE}")).mean()


def clamp_costs(optimizer):
    """Right texts of 100, if the likeliest token alone is sent."""
    sent = f"{LITTLE}, likeliest 1"
    return 100 * (values(f"{sent}, {optimizer}") - values(f"{sent}, clamped, {optimizer}")).mean()


def test_the_advantage_is_a_difference_of_log_probs():
    assert distilled.graded(np.zeros((1, 1)), {}, Batch).item() == pytest.approx(np.log(3))
    assert distilled.both_right(distilled.teacher())[1] == pytest.approx(0.64, abs=0.02)


def test_the_widget_has_the_numbers_of_the_text():
    usual = values(f"{LITTLE}, reverse, AdamW")
    assert pytest.approx(usual.mean(), abs=0.006) == widget.USUAL and usual.min() > widget.SHORT_OF
    for texts, share in widget.RL.items():
        assert share == pytest.approx(values(f"RL, {texts}").mean(), abs=0.006)


def test_a_bracket_of_some_tens_of_nats_does_not_mend_the_factor():
    assert push(1e-13) > 1e-12


def test_it_ends_at_nothing_in_all_of_twenty_seeds_and_both_ways_mend_it():
    ways = [f"{way}, {o}" for way in ("reverse", "JSD", "as advantage", "k3 differentiated") for o in BOTH]
    for how in (*ways, "reverse, AdamW 0.005", "reverse, SGD 0.3"):
        assert values(f"{ONCE}, {how}").max() < 0.005
    began, cold = values(f"start, {ONCE}"), values(f"{ONCE}, cold 50, before")
    assert values(f"{ONCE}, forward, SGD").mean() == pytest.approx(began.mean(), abs=0.01)
    assert cold.mean() < 0.03 and cold.max() < 0.11 and (cold < began).all()
    for optimizer in BOTH:
        assert (values(f"{ONCE}, cold 50, {optimizer}") > began + 0.15).all()


def test_last_is_not_never():
    adamw, sgd = values("late, AdamW"), values("late, SGD")
    assert (adamw <= 800).all() and adamw.min() >= 500 and sgd.max() <= MOST
    assert (sgd - adamw).mean() == pytest.approx(200, abs=30)


def test_the_value_is_not_the_slope():
    assert (values(f"{LITTLE}, k1 differentiated, SGD") < values(f"start, {LITTLE}")).all()


def test_the_fewest_tokens_win_under_adamw():
    assert clamp_costs("AdamW") > 1
    for optimizer in BOTH:
        means = [values(f"{LITTLE}, likeliest {k}, {optimizer}").mean() for k in (1, 2, 3, 5, 10)]
        assert means == sorted(means, reverse=True)
    assert (values(f"{LITTLE}, likeliest 1, AdamW") > values(f"{LITTLE}, reverse, AdamW")).all()
    assert values(f"{LITTLE}, reverse, SGD").mean() > values(f"{LITTLE}, likeliest 1, SGD").mean() + 0.02


def test_distilling_from_both_teachers_is_ahead_of_the_mean_of_their_weights():
    for task in ("two", "four"):
        assert (values(f"merged, of {task}") > values(f"mean of weights, of {task}") + 0.05).all()


@pytest.mark.when_changed()
def test_one_run_of_the_opening_goes_from_25_to_61_and_the_other_to_none():
    assert [round(100 * opening("thinks a little", moment)) for moment in (0, 100)] == [25, 61]
    assert opening("answers at once", 100) == 0
