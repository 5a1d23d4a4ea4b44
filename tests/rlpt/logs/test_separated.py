"""CSV of every kind, to the numbers in it."""

from tests.rlpt.logs.made import column, read, said


def test_a_chart_without_its_bands_and_with_a_dash_in_the_run():
    log = read('"Step","my - run - train/reward","my - run - train/reward__MIN"\n1,"0.5","0.4"\n2,"0.6","0.5"\n')
    assert list(log.columns) == ["train/reward"] and column(log, "train/reward") == ([1, 2], [0.5, 0.6])


def test_steps_may_be_called_iterations():
    assert column(read("iteration,avg_return\n3,0.5\n4,0.6\n"), "avg_return") == ([3, 4], [0.5, 0.6])


def test_a_column_of_a_history_may_have_a_dash():
    log = read("step,reward,reward - smoothed\n1,0.5,0.4\n2,0.6,0.5\n")
    assert log.format == "a CSV" and column(log, "reward") == ([1, 2], [0.5, 0.6])


def test_semicolons_tabs_decimal_commas_and_the_encoding_of_windows():
    assert column(read("step;reward\n1;0,5\n2;1,25\n"), "reward") == ([1, 2], [0.5, 1.25])
    assert column(read("step;reward\n1;1.234,5\n2;0.25\n"), "reward") == ([1, 2], [1234.5, 0.25])
    assert column(read("step\treward\n1\t0.5\n"), "reward") == ([1], [0.5])
    assert column(read("step\treward\n1\t0,5\n"), "reward") == ([1], [0.5])
    assert column(read("step,reward\r\n1,0.5\r\n".encode("utf-16-le")), "reward") == ([1], [0.5])
    assert column(read("step,reward\r\n1,0.5\r\n".encode("utf-16")), "reward") == ([1], [0.5])
    assert column(read("\ufeffstep,reward\n1,0.5\n"), "reward") == ([1], [0.5])


def test_a_quoted_cell_with_a_line_in_it():
    log = read('_step,text,train/reward\n0,"two\nlines, and a comma",0.5\n1,one,0.6\n', size=3)
    assert column(log, "train/reward") == ([0, 1], [0.5, 0.6])
    assert "no row below it can be read" in said('step,"a ""b""\n c",reward\n1,"x\n""y""",2\n')
    log = read('step,text,reward\n0,"' + "word, " * 30_000 + '",0.5\n')
    assert column(log, "reward") == ([0], [0.5])


def test_the_step_of_the_trainer_goes_before_the_calls_of_weights_and_biases():
    log = read("_step,train/global_step,train/reward\n0,10,0.5\n1,20,0.6\n")
    assert column(log, "train/reward") == ([10, 20], [0.5, 0.6]) and log.counted
    assert not read("_step,train/reward\n0,0.5\n").counted


def test_rows_of_another_width_are_counted():
    log = read("step,reward\n1,0.5\n2\n3,0.6,7\nx,1\n4,0.7\n")
    assert column(log, "reward") == ([1, 4], [0.5, 0.7])
    assert log.notes == ["Rows without a step, or wider or narrower than the first line, left out: 3."]


def test_words_in_a_column_of_numbers_are_counted():
    log = read("step,reward,comment\n1,0.5,a\n2,bad,b\n3,worse,c\n")
    assert column(log, "reward") == ([1], [0.5])
    assert log.notes == ["Left out, because they are not numbers: 2 cells, such as “bad” in the column “reward”."]


def test_one_run_of_several_by_its_name():
    text = '"Step","a - r","b - r"\n1,2,3\n'
    assert column(read(text, run="b"), "r") == ([1], [3])
    assert "No run is called “c”; there are “a”, “b”." in said(text, run="c")
