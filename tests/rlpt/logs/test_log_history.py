"""TRL's trainer_state.json and its history alone."""

import json

from tests.rlpt.logs.made import column, read


def test_trls_history_alone_and_on_one_line():
    rows = [{"step": n, "reward": n / 10} for n in range(1, 5)]
    for text in (json.dumps(rows), json.dumps({"log_history": rows}), json.dumps(rows, indent=1)):
        assert column(read(text, size=5), "reward") == ([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])


def test_rows_without_a_step_are_counted():
    log = read('[{"step":1,"reward":1},{"step":null,"reward":2},{"reward":3},{"step":2,"reward":4}]')
    assert column(log, "reward") == ([1, 2], [1, 4]) and log.notes == ["Rows without a step, left out: 2."]


def test_a_log_history_that_breaks_off_in_its_middle():
    text = json.dumps([{"step": n, "reward": n} for n in range(1, 5)]).replace('"step": 3', '"step": three')
    log = read(text)
    assert column(log, "reward") == ([1, 2], [1, 2])
    assert log.notes == ["Its log_history ends too early, or cannot be read further, after 2 rows."]


def test_brackets_that_a_policy_writes_are_no_nesting():
    """A ruined policy may write nothing else; a piece may end in the middle of it."""

    def row(n):
        return {"step": n, "reward": 0.5, "text": "[{" * 500 + '\\"' + "[" * 500}

    for text in ("\n".join(json.dumps(row(n)) for n in (1, 2)), json.dumps({"log_history": [row(1), row(2)]})):
        assert column(read(text, size=64), "reward") == ([1, 2], [0.5, 0.5])
