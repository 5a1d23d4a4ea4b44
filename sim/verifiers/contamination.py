"""What two papers report about one model, one benchmark and uninformative rewards: tables of published numbers.

Shao et al. (2025), arXiv:2506.10947, abstract: the points that Qwen2.5-Math-7B gains on MATH-500, by what is rewarded.
Wu et al. (2025), arXiv:2507.10532: how often a model that is shown 60 % of a question writes the rest word for word, on
MATH-500 and on LiveMathBench of May 2025, which is newer than the models. Nothing here is simulated.
"""

GAINED = {"right answers": 29.1, "wrong answers": 24.1, "at random": 21.4}  # points of 100
FINISHED = {  # of 100 questions
    "MATH-500": {"Qwen2.5-Math-7B": 54.6, "Llama-3.1-8B": 3.8},
    "younger than the model": {"Qwen2.5-Math-7B": 0.0, "Llama-3.1-8B": 0.0},
}


def gained():
    """(what is rewarded, points gained), two tuples with three entries."""
    return tuple(GAINED), tuple(GAINED.values())


def finished(model):
    """(benchmarks, questions out of 100 that `model` completes word for word), two tuples with two entries."""
    return tuple(FINISHED), tuple(of[model] for of in FINISHED.values())
