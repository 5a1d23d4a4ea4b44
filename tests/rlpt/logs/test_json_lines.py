"""One object a line: whose it is, and its step."""

import json

from tests.rlpt.logs.made import column, read


def test_rollouts_of_verl_by_prompt():
    def row(step, prompt, score):
        return json.dumps(dict(input=prompt, output="…", score=score, step=step))

    first = "\n".join([row(1, "a", 1), row(1, "b", 0), row(1, "a", 1), row(1, "b", 1)])
    log = read({"1.jsonl": first, "2.jsonl": "\n".join([row(2, "a", 0), row(2, "a", 0)])})
    assert column(log, "rollouts/zero_variance") == ([1, 2], [0.5, 1])


def test_lines_that_are_no_row():
    log = read('{"step":1,"data":{"a":1}}\nwarning\n{"x":2}\n{"step":2,"data":{"a":2}}\n')
    assert column(log, "a") == ([1, 2], [1, 2])
    assert log.notes == ["Lines that are no row of a log, left out: 2."]


def test_the_log_of_ms_swift():
    text = '{"loss": -0.0, "reward": 0.64, "kl": 0.0, "global_step/max_steps": "9/547", "percentage": "1.65%"}\n' * 2
    log = read(text.replace("9/547", "10/547", 1))
    assert log.format == "ms-swift's logging.jsonl" and log.framework == "TRL"
    assert column(read(text), "reward") == ([9], [0.64])


def test_the_log_of_llama_factory():
    log = read('{"current_steps": 900, "total_steps": 906, "loss": 0.0331, "lr": 1.337e-08, "percentage": 99.34}\n')
    assert log.framework == "LLaMA-Factory" and column(log, "lr") == ([900], [1.337e-08])
