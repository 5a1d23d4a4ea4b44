"""A first draft of a verifier of `Final: <int>`, from which readers begin: it refuses right answers and it leaks.

Closed form: one rule, which its docstring says. The strict one is sim/worlds/scorer.py, after DeepSeek-R1,
arXiv:2501.12948.
"""


def score(example, completion):
    """1.0 where the answer is among the numbers after `Final:`."""
    answer = example["expected_answer"]
    after = completion.partition("Final:")[2]
    numbers = [word for word in after.split() if word.isdigit()]
    return 1.0 if answer in numbers else 0.0
