"""Numbers and nesting as programs write them."""

import json

from rlpt import logs
from tests.rlpt.logs.made import column, read


def test_whole_numbers_of_any_length_and_numbers_near_the_largest():
    for long in (10**400, int("9" * 4000), 10**308):
        log = read(json.dumps([{"step": n, "reward": n, "num_tokens": long} for n in (1, 2)]))
        assert column(log, "reward") == ([1, 2], [1, 2]) and log.columns["num_tokens"].left_out == 2
    assert read('[{"step":1,"reward":1,"num_tokens":' + "9" * 5000 + "}]").columns["num_tokens"].left_out == 1


def test_nesting_is_seen_behind_other_values_too():
    assert logs.too_deep("[1, " * 200) and logs.too_deep("[1, " * 200 + "]" * 200) and not logs.too_deep("[1]" * 200)
