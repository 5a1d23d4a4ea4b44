"""Version 0.9.5 as readers mend it: class by class, fewer of the 76 are paid."""

import inspect
import json

import pytest

from widgets.frame.reader import reader_worker
from widgets.lab_m5_patch import editable

ENDED = """def version_0_9_5(example, completion):
    if not isinstance(completion, str):
        return 0.0
    found = re.fullmatch(r"Final:\\s*([+-]?\\d[\\d,]*)", completion.strip())
    return float(found is not None and float(found[1].replace(",", "")) == float(example["expected_answer"]))
"""


def answer(source):
    *_, frame = reader_worker.stream("patch", source)
    return json.loads(frame)


def test_readers_begin_with_version_0_9_5():
    frame = answer(inspect.getsource(editable.EDITED))
    assert frame["sentence"].startswith("26 of 76 completions are paid for nothing. 0 of 16")


def test_an_end_after_the_number_leaves_21():
    assert answer(ENDED)["sentence"].startswith("21 of 76")


@pytest.mark.parametrize("value", ["0.0", "1 / 0"])
def test_to_refuse_everything_reaches_no_goal(value):
    frame = answer(f"def version_0_9_5(example, completion):\n    return {value}\n")
    assert frame["goals"] == [False, False] and "16 of 16 right answers are refused" in frame["sentence"]
