"""What TRL prints: rows that are counted, numbers that are strings, and rows that are none."""

import pytest

from tests.rlpt.logs.made import column, read

ROW = "{{'loss': {0}.5, 'reward': 0.{0}, 'reward_std': 0.25, 'completions/mean_length': 1{0}.0, 'epoch': 0.0{0}}}"


def test_its_rows_are_counted_and_it_says_so():
    log = read("\n".join(ROW.format(n) + f"\n  {n}/200 [00:10<59:59,  3.1s/it]" for n in (1, 2, 3)))
    assert column(log, "reward") == ([1, 2, 3], [0.1, 0.2, 0.3]) and log.framework == "TRL" and log.unit == "row"
    assert log.notes[0].startswith("TRL prints no steps, so its rows are counted")


def test_numbers_are_strings_under_transformers_5():
    log = read("{'loss': '0', 'grad_norm': '0.2025', 'learning_rate': '1e-05', 'reward': '0.25', 'kl': 'nan'}\n")
    assert column(log, "learning_rate") == ([1], [1e-05]) and log.columns["kl"].left_out == 1


def test_a_step_in_the_row_is_the_step():
    swift = read("{'loss': 0.1, 'reward': 0.5, 'global_step/max_steps': '300/2622'}\n")
    history = read("[{'loss': 0.1, 'epoch': 0.1, 'step': 7}, {'loss': 0.2, 'epoch': 0.2, 'step': 9}]")
    assert column(swift, "reward") == ([300], [0.5]) and swift.unit == "step" and swift.notes == []
    assert column(history, "loss") == ([7, 9], [0.1, 0.2])


@pytest.mark.parametrize("width", [40, 77])
def test_a_row_that_a_window_has_broken_is_joined(width):
    text = ROW.format(1) + "\n" + ROW.format(2)
    broken = "\n".join(line[at : at + width] for line in text.split("\n") for at in range(0, len(line), width))
    log = read(broken + "\n")
    assert column(log, "completions/mean_length") == ([1, 2], [11.0, 12.0])


def test_an_evaluation_belongs_to_the_row_before_it_and_the_summary_to_none():
    text = [
        *("{'eval_loss': 0.5, 'eval_reward': 0.2, 'epoch': 0}", ROW.format(1), ROW.format(2)),
        *("{'eval_loss': 0.4, 'eval_rewards/exact/mean': 0.75, 'epoch': 0.02}", ROW.format(3)),
        "{'train_runtime': 33.1, 'train_loss': 0.2, 'epoch': 1.0}",
    ]
    log = read("\n".join(text))
    assert column(log, "reward")[0] == [1, 2, 3] and column(log, "eval_rewards/exact/mean") == ([2], [0.75])
    assert column(log, "eval_reward") == ([0], [0.2]) and "train_runtime" not in log.columns


def test_other_dicts_are_no_rows():
    text = "config {'model': 'Qwen', 'seed': 1}\n{'prompt_tokens': 3, 'total': 4}\n" + ROW.format(1)
    assert column(read(text), "loss") == ([1], [1.5])


def test_a_row_that_the_end_of_the_file_cuts():
    log = read(ROW.format(1) + "\n" + ROW.format(2)[:40])
    assert (
        column(log, "reward") == ([1], [0.1]) and "The file ends within its last row, which is left out." in log.notes
    )


def test_brackets_that_never_close_end_in_a_sentence():
    log = read(ROW.format(1) + "\n" + "{'a" + "\nline" * 5000)
    assert column(log, "reward") == ([1], [0.1])


@pytest.mark.parametrize("between", ["{'train_runtime': 33.1, 'train_loss': 0.2, 'epoch': 1.0}\n", ""])
def test_of_two_runs_in_one_file_the_last_is_read(between):
    text = ROW.format(8) + "\n" + ROW.format(9) + "\n" + between
    log = read(text + ROW.format(1) + "\n" + ROW.format(2) + "\n" + between)
    assert column(log, "reward") == ([1, 2], [0.1, 0.2]) and log.notes[0].startswith("The text holds more than one run")
