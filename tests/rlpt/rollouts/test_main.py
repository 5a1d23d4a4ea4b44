import json
import shutil

import pytest

from rlpt.rollouts.__main__ import main
from tests.sim.rollouts import shipped


def file(name):
    return str(shipped.FOLDER / f"{name}.jsonl")


def test_a_run_is_summed_up_and_its_status_says_whether_a_rule_fires(capsys):
    assert main([file("sound")]) == 0
    assert "No findings." in capsys.readouterr().out
    assert main([file("verifier"), "--step", "20"]) == 1
    shown = capsys.readouterr().out
    assert "Step 20: 52 of 64 are paid. Three are correct." in shown and "!     49 of 52 paid are not correct" in shown
    assert "  20    0.81      0.81   0.05   1/8     56     25    15        0    10.3" in shown


def test_a_folder_is_read_with_all_that_lies_in_it(tmp_path, capsys):
    (tmp_path / "completions").mkdir()
    shutil.copy(file("sound"), tmp_path / "completions" / "a.jsonl")
    (tmp_path / "completions" / "b.csv").write_text("step,loss\n1,2\n", encoding="utf-8")
    (tmp_path / "weights.bin").write_bytes(b"\0" * 100)
    assert main([str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "320 completions in 40 groups" in shown and "b.csv is left out." in shown and "weights" not in shown


def test_the_texts_of_a_group_have_the_push_of_the_algorithm_that_is_named(capsys):
    pushed = {}
    for rule in ("grpo", "rloo", "reinforce"):
        assert main([file("verifier"), "--step", "20", "--group", "1", "--as", rule]) == 1
        shown = capsys.readouterr().out
        pushed[rule] = next(line.split("%")[0].strip() for line in shown.splitlines() if "in this group" in line)
        assert "Final: 9" in shown and "paid 1, exact 1, 10 tokens" in shown
    assert pushed == dict(grpo="12", rloo="13", reinforce="11")  # 0.1237, 0.1299, 0.1143


def test_as_json_it_says_the_same(capsys):
    assert main([file("verifier"), "--json", "--step", "20"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["headline"] == "Step 20: 52 of 64 are paid. Three are correct."
    assert data["facts"][0]["rows"] == 49 and data["steps"][2]["reward"] == pytest.approx(0.8125)


@pytest.mark.parametrize(
    "words, said",
    [
        (["--step", "3"], "The files have no step 3. They have 5 steps, from 1 to 160."),
        (["--step", "20", "--group", "9"], "--group is 9, but step 20 has only 8 groups."),
    ],
)
def test_a_step_or_group_that_is_not_there_is_one_sentence(words, said, capsys):
    assert main([file("verifier"), *words]) == 2
    assert capsys.readouterr() == ("", f"{said}\n")


def test_what_cannot_be_read_is_one_sentence(tmp_path, capsys):
    assert main([str(tmp_path / "none.jsonl")]) == 2 and "none.jsonl cannot be read" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("holds no file that ends in .csv, .json, .jsonl, .parquet.\n")
    with pytest.raises(SystemExit) as end:
        main([file("sound"), "--map", "reward"])
    assert end.value.code == 2 and capsys.readouterr().err.count("\n") == 1
