"""verl's console, as Ray and a window leave it."""

import pytest

from tests.rlpt.logs.made import column, read, said

ROW = "step:{0} - actor/entropy:1.0 - critic/score/mean:0.{0} - critic/score/max:1.0 - response_length/mean:10{0}"


def test_a_line_of_verl_behind_ray_with_colons_and_numpy():
    text = (
        "\x1b[36m(TaskRunner pid=7, ip=10.0.0.1)\x1b[0m step:3 - val-core/a:b/acc/mean@1:np.float64(0.5) - "
        "critic/score/mean:-1.5e-03 - x:nan - word:abc\r\n"
    )
    log = read(text)
    assert column(log, "val-core/a:b/acc/mean@1") == ([3], [0.5])
    assert column(log, "critic/score/mean") == ([3], [-0.0015])
    assert log.columns["x"].left_out == 1 and "word" not in log.columns


@pytest.mark.parametrize("before", ["", "\x1b[36m(TaskRunner pid=7)\x1b[0m "])
@pytest.mark.parametrize("width", [50, 61, 80])
def test_rows_that_were_broken_over_lines_are_no_log(before, width):
    rows = [ROW.format(n) for n in range(1, 5)]
    text = "\n".join(before + row[at : at + width] for row in rows for at in range(0, len(row), width))
    assert "The row of step 1 continues on the next line" in said(text)


def test_one_row_that_goes_on_is_counted_and_other_lines_are_no_part_of_a_row():
    rows = [ROW.format(n) for n in range(1, 5)]
    one = "\n".join([*rows[:3], rows[3][:60], rows[3][60:]])
    assert read(one + "\n").notes == ["Rows that go on in the next line, whose rest is left out: 1."]
    between = "\n".join(f"{row}\nINFO - verl/trainer/main.py:12 - saving\n10:00 - INFO - done" for row in rows)
    assert column(read(between), "critic/score/mean") == ([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])
    broken = "".join(f"Global step {n}: {{'reward': 0.5,\n 'kl': 1}}\n" for n in (1, 2))
    assert "The row of step 1 continues on the next line" in said(broken)


def test_a_bar_of_progress_that_begins_its_line_anew():
    text = "".join(f"\rTraining Progress: {n}%| |{ROW.format(n)}\rTraining Progress: {n}%| |" for n in range(1, 5))
    log = read(text + "\n")
    assert column(log, "response_length/mean") == ([1, 2, 3, 4], [101, 102, 103, 104])


def test_zeros_that_were_rounded_are_left_out():
    log = read("step:1 - actor/lr:0.000 - actor/kl_loss:0.000 - critic/score/mean:0.000 - critic/kl:0.0\n")
    assert log.columns.keys() == {"critic/score/mean", "critic/kl"}
    assert log.notes == ["A learning rate or a KL that is printed as 0.000 has been rounded, so it is left out."]
