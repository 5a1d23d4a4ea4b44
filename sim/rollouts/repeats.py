"""Texts that end in a loop, and groups in which the same text got two rewards. Counting, not a model."""

import numpy as np

LONGEST_UNIT = 60  # characters
TIMES = 3
LEAST = 12  # characters
OF_TEXT = 4  # the loop makes up at least a quarter of the text


def loops(text):
    """Whether the text's end repeats 1 to 60 characters at least three times, over at least 12 characters and a quarter
    of the text. The last repetition may be cut off.
    """
    needed = max(LEAST, -(-len(text) // OF_TEXT))
    for unit in range(1, min(LONGEST_UNIT, len(text) // TIMES) + 1):
        tail = max(needed, TIMES * unit)
        # a text of period `unit` equals itself, shifted by it; the second comparison is the longer one
        if tail <= len(text) and text[-unit:] == text[-2 * unit : -unit] and text[-tail + unit :] == text[-tail:-unit]:
            return True
    return False


def sets_of_equal_texts(rollouts):
    """[(rows, whether their rewards differ)] of every text that a group holds at least twice."""
    rows_of = {}
    for row, (group, text) in enumerate(zip(rollouts.group.tolist(), rollouts.completions)):
        rows_of.setdefault((group, text), []).append(row)
    sets = []
    for rows in rows_of.values():
        if len(rows) > 1:
            paid = rollouts.reward[rows]
            sets.append((rows, bool(np.nanmax(paid) - np.nanmin(paid) > 1e-6) if np.isfinite(paid).any() else False))
    return sets
