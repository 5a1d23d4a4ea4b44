"""The numbers of the lesson on on-policy distillation, recomputed."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import distillation
from sim.experiments import distilled
from sim.pipeline import path, report, stages
from sim.worlds import tinylm
from sim.worlds.optimizer import SGD, AdamW
from sim.worlds.tasks import Chain
from sim.worlds.tinylm import FINAL
from tests.lessons.prose import Lesson, agrees
from widgets.distillation import figures, widget


def clamped(logp, teacher_logp, k):
    """`likeliest` with the clamp of verl 0.9.1, distillation/losses.py: `clamp_min(0.0)` of each place's loss."""
    value, slope = distillation.likeliest(logp, teacher_logp, k)
    return value, slope * (value > 0)[:, np.newaxis]


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
    merged = lambda *teachers: distilled.merged(generalist, teachers, SIGNALS["reverse"], rate, seed, updates)
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
LESSON = Lesson("16b")
kept = LESSON.kept


def of_100(words):
    return 100 * kept(words)


def test_the_smallest_case():
    LESSON.says("1.10", np.log(0.6 / 0.2))
    LESSON.says("−1.95", np.log(0.1 / 0.7))
    assert distilled.graded(np.zeros((1, 1)), {}, Batch).item() == pytest.approx(np.log(3))
    assert distilled.both_right(distilled.teacher())[1] == pytest.approx(0.64, abs=0.02)
    assert "right 64 of 100 times" in LESSON.text and "25,600 texts" in LESSON.text
    assert stages.GROUPS * stages.K * 100 == 25_600 and distilled.P * 100 == 3_200


class Batch:
    ref_logp, old_logp, response_mask = np.log([[0.6]]), np.log([[0.2]]), np.ones((1, 1))


def test_texts_that_it_takes():
    LESSON.spread("61.4 ± 1.0", of_100("thinks a little, reverse, AdamW"))
    LESSON.spread("35.8 ± 1.6", of_100("RL, 2560"))
    LESSON.spread("52.7 ± 1.8", of_100("RL, 12800"))
    assert pytest.approx(kept("thinks a little, reverse, AdamW").mean(), abs=0.006) == widget.USUAL
    assert kept("thinks a little, reverse, AdamW").min() > widget.SHORT_OF
    for texts, share in widget.RL.items():
        assert share == pytest.approx(kept(f"RL, {texts}").mean(), abs=0.006)


def test_what_is_never_written():
    context = distilled.after_totals(distilled.PROMPTS)
    chance = np.exp(distilled.log_pi(policy(ONCE), context)[:, FINAL])
    assert f"{np.median(chance):.0e}" == "8e-14" and r"$8\cdot10^{-14}$" in LESSON.text
    logp, teacher_logp = np.log([[1e-13, 1 - 1e-13]]), np.log([[1 - 1e-6, 1e-6]])
    push = -distillation.reverse(logp, teacher_logp)[1][0, 0]
    assert 1e-12 < push < 1e-11 and "less than $10^{-11}$" in LESSON.text
    LESSON.spread("70.8 ± 1.1", of_100("three totals"))
    LESSON.spread("2.93 ± 0.01", kept("KL of answers at once, before"))
    LESSON.spread("1.68 ± 0.02", kept("KL of answers at once, after"))


def test_it_ends_at_nothing_in_all_of_twenty_seeds_and_both_ways_mend_it():
    for how in ("reverse, AdamW", "reverse, SGD", "reverse, AdamW 0.005", "reverse, SGD 0.3", "JSD, AdamW", "JSD, SGD"):
        assert kept(f"{ONCE}, {how}").max() < 0.005
    for how in ("as advantage, AdamW", "as advantage, SGD", "k3 differentiated, AdamW", "k3 differentiated, SGD"):
        assert kept(f"{ONCE}, {how}").max() < 0.005
    LESSON.says("38", of_100(f"{ONCE}, forward, AdamW").mean())
    LESSON.spread("56.3 ± 1.1", of_100(f"{ONCE}, cold 50, AdamW"))
    LESSON.says("56", of_100(f"{ONCE}, cold 50, AdamW").mean())
    LESSON.says("41", of_100(f"{ONCE}, cold 50, SGD").mean())
    began = kept(f"start, {ONCE}").mean()
    assert kept(f"{ONCE}, forward, SGD").mean() == pytest.approx(began, abs=0.01) and "where it began" in LESSON.text
    assert of_100(f"{ONCE}, cold 50, before").mean() < 3 and of_100(f"{ONCE}, cold 50, before").max() < 11
    for optimizer in BOTH:
        assert (kept(f"{ONCE}, cold 50, {optimizer}") > kept(f"start, {ONCE}") + 0.15).all()


def test_last_is_not_never():
    assert (kept("late, AdamW") <= 800).all() and kept("late, AdamW").min() >= 500
    assert kept("late, SGD").max() <= MOST and "With SGD it is some 200 updates later" in LESSON.text
    assert (kept("late, SGD") - kept("late, AdamW")).mean() == pytest.approx(200, abs=30)


def test_a_student_ends_at_its_teacher():
    assert kept(f"start, {BETTER}").mean() == pytest.approx(0.64, abs=0.01)
    LESSON.says("24", of_100(f"start, {LITTLE}").mean())
    LESSON.says("27", of_100(f"{BETTER}, taught down, AdamW").mean())
    LESSON.says("41", of_100(f"{BETTER}, taught down, SGD").mean())
    LESSON.says("9", of_100(f"start, {OVER}").mean())
    LESSON.says("26", of_100(f"{OVER}, reverse, AdamW").mean())


def test_the_value_is_not_the_slope():
    LESSON.spread("1.2 ± 1.8", of_100(f"{LITTLE}, k1 differentiated, AdamW"))
    LESSON.spread("52.4 ± 1.7", of_100(f"{LITTLE}, as advantage, AdamW"))
    assert (kept(f"{LITTLE}, k1 differentiated, SGD") < kept(f"start, {LITTLE}")).all()


def test_the_four_tokens_of_the_derivation():
    logp, teacher_logp = (np.log([p]) for p in ((0.7, 0.2, 0.08, 0.02), (0.1, 0.6, 0.25, 0.05)))
    value, slope = distillation.reverse(logp, teacher_logp)
    LESSON.says("1.033", value[0])
    LESSON.says("0.795", distillation.forward(logp, teacher_logp)[0][0])
    LESSON.says("0.205", distillation.jsd(logp, teacher_logp, 0.5)[0][0])
    LESSON.says("0.639", slope[0, 0])
    LESSON.says("0.426", -slope[0, 1])


def rows(title):
    """The rows of the table in a fold, each its cells."""
    fold = LESSON.text.split(f'"{title}"')[1].split("???")[0]
    found = [line.strip().strip("|").split("|") for line in fold.splitlines() if line.strip().startswith("|")]
    return [[cell.strip() for cell in row] for row in found[2:]]


def test_the_table_of_twenty_seeds():
    names = {"all logits, ": "", "drawn token, ": "", "its likeliest token": "likeliest 1"}
    student = ""
    for name, before, what, *ends in rows("Twenty seeds, two optimizers"):
        student = name or student
        for words, key in names.items():
            what = what.replace(words, key)
        if "cold start" in student:
            start, cold = student.split(" start ")
            key, begun = f"{start} {cold}", f"{start} {cold}, before"
        elif student.startswith("RL-trained"):
            key, begun = f"{BETTER}, taught down", f"start, {BETTER}"
        else:
            key, begun = f"{student}, {what}", f"start, {student}"
        agrees(before, of_100(begun))
        for cell, optimizer in zip(ends, BOTH, strict=True):
            agrees(cell, of_100(f"{key}, {optimizer}"))


def test_the_table_of_likeliest_tokens():
    batch = distilled.texts(policy(LITTLE), Chain(), distilled.PROMPTS, 4, np.random.default_rng(1))
    context, where = tinylm.distinct(batch.prompt, batch.tokens, batch.response_mask)
    times = np.bincount(where)
    likely = -np.sort(-np.exp(distilled.log_pi(distilled.teacher(), context)), axis=1)
    for k, share, sent, *ends in rows("The fewest tokens win, under one optimizer"):
        assert float(share) == pytest.approx(likely[:, : int(k)].sum(axis=1) @ times / times.sum(), abs=0.002)
        assert int(sent) == distillation.bytes_per_token(int(k), 1, 1)["likeliest k"]
        for cell, optimizer in zip(ends, BOTH, strict=True):
            agrees(cell, of_100(f"{LITTLE}, likeliest {k}, {optimizer}"))
    LESSON.spread(*spread(f"{LITTLE}, likeliest 1, clamped, AdamW"))
    gone = [kept(f"{LITTLE}, likeliest 1, {o}") - kept(f"{LITTLE}, likeliest 1, clamped, {o}") for o in BOTH]
    assert gone[0].mean() > 0.01 and abs(gone[1].mean()) < 0.01
    assert "With SGD it changes less than 1 of 100" in LESSON.text
    for optimizer in BOTH:
        means = [kept(f"{LITTLE}, likeliest {k}, {optimizer}").mean() for k in (1, 2, 3, 5, 10)]
        assert means == sorted(means, reverse=True)
    assert (kept(f"{LITTLE}, likeliest 1, AdamW") > kept(f"{LITTLE}, reverse, AdamW")).all()
    assert kept(f"{LITTLE}, reverse, SGD").mean() > kept(f"{LITTLE}, likeliest 1, SGD").mean() + 0.02


@pytest.mark.slow
def test_a_teacher_drawn_greedily():
    greedy = 100 * report.right_when_drawn_at(0.05, distilled.teacher())
    assert greedy == pytest.approx(87, abs=1.5) and "right 87 of 100 times, drawn as it was trained 64" in LESSON.text


def test_the_table_of_two_teachers():
    keys = dict(zip((row[0] for row in rows("Two teachers, one student")), MERGED, strict=True))
    for name, *cells in rows("Two teachers, one student"):
        for cell, task in zip(cells, ("two", "four"), strict=True):
            agrees(cell, of_100(f"{keys[name]}, of {task}"))
    for task in ("two", "four"):
        assert (kept(f"merged, of {task}") > kept(f"mean of weights, of {task}") + 0.05).all()
        LESSON.spread(*spread(f"merged by SGD, of {task}"))


def spread(words):
    values = of_100(words)
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}", values


def test_what_is_sent_and_what_it_costs():
    sent = distillation.bytes_per_token(32, 151_936, 5_120)
    for _, each, all_of_it in rows("What is sent, and what it costs"):
        each = int(each.replace(",", ""))
        assert each in sent.values()
        number, unit = all_of_it.split()
        assert float(number) == pytest.approx(each * 4_096**2 / dict(MB=1e6, GB=1e9, TB=1e12)[unit], rel=0.02)
    assert "16 GFLOP" in LESSON.text and 2 * 8 == 16 and 2 * 32 == 64 and 6 * 8 == 48


@pytest.mark.slow
def test_the_two_runs_of_the_opening():
    plain, other = ([figures.frame(setting, moment).right for moment in (0, 100)] for setting in figures.SETTINGS)
    LESSON.says("25", 100 * plain[0])
    LESSON.says("61", 100 * plain[1])
    assert other[1] == 0 and "The other ends at none" in LESSON.text
