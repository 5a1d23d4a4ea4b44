"""The numbers that M3 asks for are those of the source course, and its reasons and hints say what the picture shows."""

import pytest

from sim.lab import eight_actions, packs, pieces
from widgets.lab_m3 import figures, sorts

COUNTS = {  # in runs, by threes, singly; after the source course
    "Final: 323": (4, 4, 6),
    "Final: 324": (5, 5, 6),
    "Final:  323": (5, 5, 7),
    "Final: 0323": (5, 6, 7),
    "Final:\n323": (5, 4, 6),
}


def right(case, number):
    return any(low <= number <= high for low, high in case.within)


def test_the_picture_has_the_five_texts_with_their_tokens_and_reasons():
    assert list(COUNTS) == list(figures.TEXTS)
    for text, counts in COUNTS.items():
        assert tuple(len(pieces.encode(text, way)) for way in figures.WAYS) == counts
    reasons = ["ok", "wrong_value", "bad_spacing", "non_canonical_int", "multi_line"]
    assert [figures.verdict(text) for text in figures.TEXTS] == reasons == list(figures.REASONS)
    assert figures.MOST == 7


def test_the_choices_are_counted_as_in_the_course():
    asked = [COUNTS["Final: 323"][0], COUNTS["Final: 324"][0], COUNTS["Final:\n323"][1], COUNTS["Final: 0323"][1], 0]
    assert [case.answer for case in sorts.COUNT.cases] == [str(many) for many in asked] == ["4", "5", "4", "6", "0"]
    for case, many in zip(sorts.COUNT.cases, asked, strict=True):
        assert [number for number in range(13) if right(case, number)] == [many]


@pytest.mark.parametrize("case, price, action", list(zip(sorts.GUESS.cases, (5, 0.1, 0.01), (1, 7, 8), strict=True)))
def test_the_most_frequent_action_at_a_price(case, price, action):
    assert case.answer == f"action {action}" and f"The price is {price} " in case.shown[0][1]
    assert eight_actions.leashed(price).argmax() + 1 == action


def test_the_products_of_the_reason():
    # .04 e^9 and .01 e^10
    weights = eight_actions.REF * 2.718281828459045 ** (eight_actions.PAID / 0.1)
    assert weights[6] == pytest.approx(324.12, abs=0.01) and weights[7] == pytest.approx(220.26, abs=0.01)


def test_three_prices_are_on_the_handle_and_right():
    assert len(eight_actions.PRICES) <= 24 and sorted(eight_actions.PRICES, reverse=True) == list(eight_actions.PRICES)
    paid, worth, nats = zip(
        *(eight_actions.outcome(eight_actions.leashed(p)) for p in eight_actions.PRICES), strict=True
    )
    highest = eight_actions.PRICES[worth.index(max(worth))]
    half = min(eight_actions.PRICES, key=lambda p: abs(nats[eight_actions.PRICES.index(p)] - 0.5))
    below = next(p for p, value in zip(eight_actions.PRICES, worth, strict=True) if value < 0.361)
    assert (highest, half, below) == (0.35, 0.24, 0.19)
    assert [case.answer for case in sorts.PRICES.cases] == ["0.35", "0.24", "0.19"]
    # where the worth peaks, where the KL is half a nat, and where the worth is the reference's, after the course
    for case, exact in zip(sorts.PRICES.cases, (0.352, 0.2386, 0.1917), strict=True):
        assert right(case, float(case.answer)) and right(case, exact)
    assert list(paid) == sorted(paid) and f"{max(worth):.3f}" == "0.390"


@pytest.mark.parametrize("index, wrong", [(0, 0.3), (0, 0.4), (1, 0.2), (1, 0.5), (2, 0.2), (2, 0.18), (2, 0.361)])
def test_a_neighbor_is_not_taken_for_the_price(index, wrong):
    assert not right(sorts.PRICES.cases[index], wrong)


def test_the_pair_of_the_correct_answer_is_frequent_where_the_merges_were_counted():
    texts = [example.prompt for example in packs.examples("dev")]
    texts += [rollout.completion for row in packs.rollouts("dev") for rollout in row if rollout.completion.isascii()]
    assert [sum(text.count(pair) for text in texts) for pair in ("23", "24")] == [19, 2]
    assert "occurs 19 times" in sorts.COUNT.cases[1].why and "only twice" in sorts.COUNT.cases[1].why


def test_no_hint_is_given_for_a_right_answer():
    for sort in sorts.SORTS.values():
        for case in sort.cases:
            assert case.answer not in case.hints and case.pointed
            assert not any(right(case, float(given)) for given in case.hints if given and case.within)


def test_the_sentences_of_the_figure_and_the_scene():
    assert figures.measured(0.35).endswith("the mean worth 0.390, and the KL 0.202 nats.")
    assert figures.finished("runs", 4) == "1 of 5 texts is complete, and the verifier has not read any."
    assert figures.finished("single", 8).startswith("The verifier has read all five texts")
