"""OpenRLHF's console and its bar."""

from tests.rlpt.logs.made import column, read


def test_a_line_of_openrlhf_and_its_evaluation():
    log = read(
        "✨ Global step 4: {'reward': 0.25, 'kl': 1e-05, 'timing/generation': 3.5, 'note': 'x'}\n"
        "✨ Evaluation completed in 0:00:02, global_step 4, eval_metrics: {'eval_math_pass1': 0.5}\n"
    )
    assert column(log, "reward") == ([4], [0.25]) and column(log, "kl") == ([4], [1e-05])
    assert column(log, "eval_math_pass1") == ([4], [0.5]) and "note" not in log.columns


def bar(n, total, reward):
    shown = f"act_loss=0.1, reward={reward}, return=0.4, gen_len=310, tot_len=400, kl=0.001, act_lr=1e-6, grad_norm=0.5"
    return f"Train epoch [1/1]:  50%|█████     | {n}/{total} [00:04<00:04,  4.51s/it, {shown}]"


def test_a_bar_is_a_row_and_its_batches_are_averaged():
    text = "\r".join([bar(1, 2, 0.25), bar(2, 2, 0.75)]) + "\n" + "\r".join([bar(1, 2, 0.5), bar(2, 2, 1.0)]) + "\n"
    log = read(text)
    assert column(log, "reward") == ([1, 2], [0.5, 0.75]) and column(log, "act_lr")[1] == [1e-6, 1e-6]
    assert log.framework == "OpenRLHF" and log.unit == "row"
    assert log.notes[0].startswith("OpenRLHF's progress bar shows no steps, so bars are counted")


def test_bars_of_one_batch_are_rows_of_their_own():
    log = read("".join(bar(1, 1, reward) + "\n" for reward in (0.25, 0.5, 0.75)))
    assert column(log, "reward") == ([1, 2, 3], [0.25, 0.5, 0.75])
