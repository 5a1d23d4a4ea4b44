"""The published numbers, as the papers have them."""

from sim.verifiers import contamination


def test_random_rewards_gain_most_of_what_right_ones_do():
    # Shao et al. (2025), abstract of June 2025: 29.1 by ground truth, 24.1 by wrong labels, 21.4 at random
    names, points = contamination.gained()
    assert dict(zip(names, points)) == {"right answers": 29.1, "wrong answers": 24.1, "at random": 21.4}


def test_one_model_finishes_the_benchmark_and_not_a_younger_one():
    # Wu et al. (2025): 54.60 % and 3.8 % on MATH-500, 0.0 % on LiveMathBench (202505)
    assert contamination.finished("Qwen2.5-Math-7B") == (("MATH-500", "younger than the model"), (54.6, 0.0))
    assert contamination.finished("Llama-3.1-8B")[1] == (3.8, 0.0)
