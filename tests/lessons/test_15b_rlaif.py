"""The numbers of the lesson on judges and their lists, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import judging
from sim.experiments import feedback
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import Judge
from tests.lessons.prose import Lesson
from widgets.rlaif import figures, widget


@cache
def of_people(seed, n, kl, alike=False):
    return 100 * feedback.of_people(n, seed, kl, alike).wins


def people(n=1000, kl=4, alike=False):
    """Wins of 100, by the seed."""
    return lambda seed: of_people(seed, n, kl, alike)


def judge(taste, n=1000, kl=4, alike=False, listed=8, noise=1.0, position=0.0, both_orders=True, K=1):
    asked = Judge(taste, listed, noise, position, both_orders, K)
    return lambda seed: 100 * feedback.of_judge(n, seed, kl, alike, asked).wins


def unanimous(taste, K=3, n=1000, kl=4):
    """(wins of a policy trained on the labels that all votes agree on, how often these are right), by the seed."""

    def of(seed):
        first, second = judged_pairs.pairs(n, np.random.default_rng([seed, n]))
        votes = judged_pairs.votes(Judge(taste, K=K), first, second, np.random.default_rng([seed, n, 1]))
        kept = votes.all(axis=0) | ~votes.any(axis=0)
        first, second, label = first[kept], second[kept], judged_pairs.verdict(votes)[kept]
        right = (label == judged_pairs.truth(first, second)).mean()
        return 100 * feedback.wins(feedback.trained(first, second, label, kl)), 100 * right

    return of


MEASURED = {
    **{f"people, {n}": people(n) for n in feedback.SIZES},
    **{f"taste {c}, {n}": judge(c, n) for c in (0.25, 0.75) for n in feedback.SIZES},
    **{f"taste {c}, 1000": judge(c) for c in (0.0, 0.5, 1.0, 2.0)},
    "noisy, no taste": judge(0.0, noise=2.0),
    "taste 2, alike": judge(2.0, alike=True),
    "people, alike": people(alike=True),
    "people, 8 nats": people(kl=8),
    "taste 0.5, 8 nats": judge(0.5, kl=8),
    "taste 0.5, 2 listed, 8 nats": judge(0.5, kl=8, listed=2),
    "nine votes": judge(0.75, K=9),
    "unanimous": lambda seed: unanimous(0.75)(seed)[0],
    "unanimous, right": lambda seed: unanimous(0.75)(seed)[1],
    "one order": judge(0.25, position=3.0, both_orders=False),
    "noise 3, 1000 by 1": judge(0.0, noise=3.0),
    "noise 3, 200 by 5": judge(0.0, n=200, noise=3.0, K=5),
}
LESSON = Lesson("15b")
kept = LESSON.kept


def right(taste=0.25, **knobs):
    """On how many of 100 fresh pairs a judge is."""
    return f"{100 * feedback.errors_of_judge(Judge(taste, **knobs)).agreement:.0f}"


def of_people_right():
    return f"{100 * feedback.errors_of_people().agreement:.0f}"


def test_the_smallest_case():
    sigma = lambda x: 1 / (1 + np.exp(-x))
    LESSON.says("0.69", sigma(2 * 0.4))
    LESSON.says("0.63", 0.15 + 0.7 * sigma(0.8))
    better, worse = np.array([0.1] * 16 + [-0.5]), np.array([0.0] * 16 + [0.5])
    assert judged_pairs.gold(better) - judged_pairs.gold(worse) == pytest.approx(0.4)
    assert judged_pairs.logits(Judge(0.75), better[None], worse[None]) == pytest.approx(-0.7)
    assert "0.69 \\cdot 0.85+0.31 \\cdot 0.15" in LESSON.text
    LESSON.says("0.33", sigma(2 * (0.4 - 0.75)))
    assert judged_pairs.FLIP == 0.15 and judged_pairs.SURE == 2


def test_whose_errors_lie_where():
    people, judge = feedback.errors_of_people(), feedback.errors_of_judge(Judge(0.75))
    assert {f"{100 * share:.0f}" for share in people.wrong} == {"26", "27"} and "wrong on 26 or 27" in LESSON.text
    LESSON.says("60", 100 * judge.wrong[3])
    LESSON.says("4", 100 * judge.wrong[0])
    assert (of_people_right(), right(0.75)) == (
        "73",
        "75",
    ) and "right on 75 of 100 pairs and people on 73" in LESSON.text


def test_the_share_of_style():
    LESSON.says("36", 100 * judging.style_share(0.75))
    assert judging.style_share(0.75) == pytest.approx(0.5625 / 1.5625) and "$0.56/1.56$" in LESSON.text
    LESSON.says("20", 100 * judging.style_share(0.5, 8))
    LESSON.says("50", 100 * judging.style_share(0.5, 2))


def test_more_labels_help_people():
    LESSON.spread("88.3 ± 2.5", kept("people, 100"))
    LESSON.spread("94.1 ± 0.3", kept("people, 1000"))
    LESSON.spread("80.6 ± 5.2", kept("taste 0.75, 100"))
    LESSON.spread("79.8 ± 1.8", kept("taste 0.75, 1000"))
    assert (kept("people, 1000") > kept("people, 100")).all()


def test_what_endless_labels_of_a_list_lead_to():
    wins = lambda m, kl: 100 * feedback.wins(feedback.toward(0.5, m, kl))
    for number, m, kl in (("88", 8, 4), ("94", 8, 16), ("51", 2, 4), ("23", 2, 16)):
        LESSON.says(number, wins(m, kl))


def test_agreement_is_no_outcome():
    LESSON.spread("94.3 ± 0.1", kept("noisy, no taste"))
    assert right(0.0, noise=2.0) == "71" and right(0.5) == "77"
    assert (kept("people, 1000") > kept("taste 0.5, 1000") + 4).all() and "in all of twenty draws" in LESSON.text


def test_a_judge_of_a_small_taste_is_ahead_where_labels_are_few():
    ahead = {n: int((kept(f"taste 0.25, {n}") > kept(f"people, {n}")).sum()) for n in feedback.SIZES}
    assert ahead[100] == 16 and ahead[1000] == 0 and "in 16 of twenty draws, with a thousand in none" in LESSON.text
    assert ahead[30] > 10 and "At 30 and 100 labels" in LESSON.text


def test_what_breaks_and_what_mends():
    LESSON.spread("45.6 ± 1.6", kept("taste 2.0, 1000"))
    LESSON.spread("79.3 ± 0.6", kept("nine votes"))
    assert right(0.75, K=9) == "78" and "from 75 to 78" in LESSON.text
    LESSON.says("94.6", kept("taste 2, alike").mean())
    LESSON.spread("41.4 ± 4.4", kept("taste 0.5, 2 listed, 8 nats"))
    LESSON.spread("91.7 ± 1.5", kept("taste 0.5, 8 nats"))


def test_the_change_mends_and_a_short_list_of_no_taste_breaks_by_itself():
    LESSON.says("72", 100 * feedback.wins(feedback.toward(0.0, 1, 4)))
    assert judging.style_share(0.75 - 0.5) == judging.style_share(0.25)


def test_votes_or_pairs():
    LESSON.spread("93.9 ± 0.3", kept("noise 3, 1000 by 1"))
    LESSON.spread("93.1 ± 0.7", kept("noise 3, 200 by 5"))
    assert (right(0.0, noise=3.0), right(0.0, noise=3.0, K=5)) == ("66", "75")


def test_the_table_of_votes():
    LESSON.spread("83.9 ± 1.7", kept("unanimous, right"))
    LESSON.spread("79.7 ± 1.3", kept("unanimous"))
    LESSON.spread("92.7 ± 0.5", kept("taste 0.25, 1000"))
    LESSON.spread("92.7 ± 0.8", kept("one order"))
    assert (right(0.25), right(0.25, position=3.0, both_orders=False)) == ("80", "67")


def test_closed_forms_of_the_folds():
    for number, taste in (("2.83", 0), ("2.13", 0.5), ("1.00", 1), ("−0.34", 2)):
        LESSON.says(number, judging.asymptote(taste, 4))
    for number, kl in (("0.75", 1), ("0.91", 2), ("1.00", 4), ("0.83", 8), ("0.00", 16)):
        LESSON.says(number, judging.asymptote(1, kl))
    LESSON.says("0.85", judging.agreement(0.5))
    LESSON.says("0.75", judging.agreement(1))
    for number, votes in (("0.784", 3), ("0.837", 5), ("0.901", 9)):
        LESSON.says(number, judging.majority(0.7, votes))
    LESSON.says("0.841", judging.common_cause(0.7, 9, 0.3))
    shares = figures.harmful("bad drafts")
    LESSON.says("19", shares[1])
    LESSON.says("10", shares[2])
    LESSON.says("3.4", 100 * judging.settled(*figures.CRITIC))


def test_the_opening_has_the_numbers_of_the_text():
    people, judge = figures.wins(figures.SETTINGS[1], 1000)
    assert abs(100 * people - kept("people, 1000").mean()) < 0.5
    assert abs(100 * judge - kept("taste 0.75, 1000").mean()) < 1
    assert widget.OPENING.other.taste == 0.75 and widget.OPENING.plain.taste == 0.25
