"""A first draft of a verifier of `Final: <int>` as a starting point for readers: it refuses correct answers, and it
leaks.

Closed form: one rule, stated in its docstring. The strict one is sim/worlds/scorer.py, after DeepSeek-R1,
arXiv:2501.12948.
"""


def score(example, completion):
    """1.0 if the answer is among the numbers after `Final:`."""
    answer = example["expected_answer"]
    after = completion.partition("Final:")[2]
    numbers = [word for word in after.split() if word.isdigit()]
    return 1.0 if answer in numbers else 0.0
