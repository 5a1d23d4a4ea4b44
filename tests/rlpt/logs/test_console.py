"""A console may hold what several programs print: the one that says most is read."""

from tests.rlpt.logs.made import column, read, said

TRL = "{'loss': 0.5, 'reward': 0.9, 'epoch': 0.1}\n"
BAR = "Train epoch [1/1]: 100%|████| 2/2 [00:09<00:00, 4.5s/it, act_loss=0.1, reward=0.5, gen_len=300, act_lr=1e-6]\n"


def test_steps_go_before_rows_that_are_counted():
    assert column(read(TRL + "step:3 - critic/score/mean:0.5\n"), "critic/score/mean") == ([3], [0.5])
    log = read(BAR + "Global step 4: {'reward': 0.25, 'kl': 1e-05}\n" + BAR)
    assert column(log, "reward") == ([4], [0.25]) and "gen_len" not in log.columns


def test_colors_and_lines_that_are_rewritten():
    assert column(read("\x1b[36mwarming up\x1b[0m\r\x1b[32m" + TRL), "reward") == ([1], [0.9])


def test_lines_before_the_log_are_passed_over():
    assert column(read("Training starts\nStep\tTraining Loss\treward\n1\t0.5\t0.25\n"), "reward") == ([1], [0.25])
    assert column(read('my run:\n{"step": 2, "data": {"critic/score/mean": 0.5}}\n'), "critic/score/mean") == (
        [2],
        [0.5],
    )


def test_a_console_without_a_row():
    assert "No row of a log was found in 2 lines. What can be read: what TRL prints" in said("dear diary\nnothing\n")
