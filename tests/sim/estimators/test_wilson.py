import pytest

from sim.estimators import wilson


# Newcombe (1998), Two-sided confidence intervals for the single proportion, table I, method 3
@pytest.mark.parametrize(
    "right, n, low, high",
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_is_that_of_the_published_table(right, n, low, high):
    assert wilson.interval(right, n) == pytest.approx((low, high), abs=5e-5)


def test_its_ends_are_the_chances_whose_normal_test_just_rejects_the_count():
    for end in wilson.interval(30, 100):
        z = (0.30 - end) / (end * (1 - end) / 100) ** 0.5  # Wilson's own definition
        assert abs(z) == pytest.approx(1.959964, abs=1e-6)


def test_more_certainty_is_a_wider_interval_and_all_right_is_not_certain():
    assert wilson.interval(20, 20, 0.99)[0] < wilson.interval(20, 20)[0] < wilson.interval(20, 20)[1] == 1


@pytest.mark.parametrize("right, n", [(-1, 3), (4, 3), (0, 0)])
def test_an_impossible_count_is_refused(right, n):
    with pytest.raises(ValueError, match="right must be from 0 to n and n at least 1"):
        wilson.interval(right, n)
