"""The page that reads completions: a conversation as the page leads it, the same digits as in the terminal, and what
becomes of files that are odd or hostile.
"""

import html
import json
import re
import time

import pytest

from rlpt import rollouts
from rlpt.rollouts import seen as steps
from rlpt.rollouts.__main__ import main, of_group, of_run
from sim.rollouts import pushes, report
from tests import skips
from tests.rlpt.rollouts.made import batch, lines, trl
from tests.sim.rollouts import shipped
from widgets.frame.drawing.written import plain
from widgets.frame.reader import rollouts as page

FIRST = json.dumps(dict(sample=next(iter(page.SAMPLES))))


@pytest.fixture(autouse=True)
def afresh():
    page.SESSION.read = None


def says(step, data=""):
    (answer,) = page.stream(step, data)
    return json.loads(answer)


def brought(files, form="{}", size=1 << 18):
    says("begin", form)
    for name, content in files.items():
        says("file", name)
        raw = content if isinstance(content, bytes) else content.encode()
        for at in range(0, len(raw), size):
            says("piece", raw[at : at + size])
    return says("end") or says("ask", form)


def rows(rewards, completion="{n}", **columns):
    """JSON lines of one step, from a list of rewards for each group."""
    texts = [(g, reward) for g, group in enumerate(rewards) for reward in group]
    return lines(
        dict(step=1, prompt=f"prompt {g}", completion=completion.format(n=n), reward=reward, **columns)
        for n, (g, reward) in enumerate(texts)
    )


def text(markup):
    """What a reader sees of HTML."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", markup)).split())


# ── the samples, and the terminal ──
@pytest.mark.parametrize("name", page.SAMPLES)
def test_each_sample_is_a_real_run_that_opens_at_its_step_under_its_description(name):
    file, about, step = page.SAMPLES[name]
    answer = brought(says("sample", name)["files"], json.dumps(dict(sample=name)), size=1000)
    assert answer["written"][".lead"] == html.escape(about)
    assert step is None or answer["word"] == f"step {step}"
    assert answer["last"] == 4 and page.TEXTS[file].count("\n") == 320


def test_the_page_opens_on_what_the_first_sample_says():
    opened = plain(page.opening())
    assert text(opened["written"][".verdict"]) == "Step 20: 52 of 64 are paid. Three are correct."
    assert brought(says("sample", "")["files"], FIRST) == opened


def test_a_file_of_the_readers_own_opens_on_its_first_finding():
    answer = brought({"own.jsonl": page.TEXTS["verifier"]})
    assert answer["word"] == "step 160" and "lowest value of “exact”" in answer["written"][".lead"]


@pytest.mark.parametrize("name", shipped.NAMES)
def test_page_and_terminal_agree_to_the_last_digit_at_every_step(name):
    raw = (shipped.FOLDER / f"{name}.jsonl").read_bytes()
    read = rollouts.read([(name, [raw])])
    done = report.report(read.rollouts)
    brought({f"{name}.jsonl": raw})
    for at, step in enumerate(one.step for one in done.steps):
        seen = steps.seen(done, step)
        printed = [" ".join(line.split()) for line in of_run(read, done, seen)]
        for rule in pushes.RULES:
            form = dict(at=at, rule=rule, unit=pushes.PER_TOKEN)
            written = says("ask", json.dumps(form))["written"]
            group = of_group(seen, steps.telling(seen), rule, "token")
            of_a_group = [" ".join(line.split()) for line in group]
            pushed = re.findall(r"<span>([−+]?[0-9.]+ %)</span>.*?<small>(.*?)</small>", written[".texts"], re.S)
            sums = re.findall(r"<b>(.*?)</b>(.*?)</span>", written[".sums"])
            assert len(pushed) == 8 and sums
            for share, what in [*pushed, *sums]:
                assert f"{share} {text(what)}" in of_a_group
        assert text(written[".verdict"]) in printed
        facts = re.findall(r"<b[^>]*>(.*?)</b><span>(.*?)(?:<small>(.*?)</small>)?</span>", written[".facts"])
        assert facts
        for big, says_, more in facts:
            line = text(f"{big} {says_}{f' ({more})' if more else ''}")
            assert any(one.removeprefix("! ") == line for one in printed)
        for finding in re.findall("<li>(.*?)</li>", written[".findings"]):
            assert text(finding).replace(" .", ".") in printed


# ── a conversation ──
def test_a_step_a_group_and_a_fact_are_asked_for():
    brought(says("sample", "")["files"], FIRST)
    written = says("ask", json.dumps(dict(at="2", fact="tied")))["written"]
    assert written[".wall"].count('class="ring"') == 1  # one of eight groups is tied
    assert 'data-option="tied" aria-selected="true"' in written[".facts"]
    groups = re.findall(r'data-option="(\d+)" aria-selected="(\w+)" tabindex="(\S+)"', written[".wall"])
    assert len(groups) == 8 and [each[1:] for each in groups].count(("true", "0")) == 1
    for group, *_ in groups:
        written = says("ask", json.dumps(dict(at="2", group=group)))["written"]
        assert written[".texts"].count("<li") == 8 and text(written[".prompt"]).endswith("=")
    for at in ("-1", "5", "x", "", "1e9", None):
        assert says("ask", json.dumps(dict(at=at, group=at, fact=at, rule=at, unit=at)))["word"] == "step 160"


def test_of_several_files_what_cannot_be_read_is_left_out_and_named():
    good = {f"{step}.jsonl": lines(batch(step, "ab")) for step in (1, 2)}
    answer = brought({**good, "model.bin": bytes(300), "diary.txt": "dear diary"})
    notes = text(answer["written"][".notes"])
    assert answer["last"] == 1 and "model.bin: The file is binary." in notes and "diary.txt: No completion" in notes
    none = brought({"a": "dear diary", "b": "x"})
    assert none["refused"].startswith("None of the 2 files can be read. The first: No completion was found")
    assert brought({})["refused"] == "No file was given."


def test_a_file_that_turns_out_unreadable_late_leaves_no_rows():
    late = lines([dict(step=9, prompt="a", completion="b", reward=1)] * 3 + [dict(step=9, reward="good")])
    late = late.replace('"reward": "good"', '"prompt": "a", "completion": "c", "reward": "good"')
    answer = brought({"1.jsonl": rows([[0, 1]]), "9.jsonl": late})
    assert answer["last"] == 0 and "9.jsonl: The reward in “reward” is no number: “good”." in str(answer["written"])


def test_a_parquet_file_that_javascript_cannot_read_is_left_out_too():
    says("begin", "{}")
    for name, piece in (("1.jsonl", lines(batch(1, "ab")).encode()), ("2.parquet", "It is damaged.")):
        says("file", name)
        assert says("piece", piece) == {}
    assert says("end") == {} and "2.parquet: It is damaged." in str(says("ask", "{}"))
    says("begin", "{}")
    says("file", "2.parquet")
    says("piece", "It is damaged.")
    assert says("end")["refused"] == "It is damaged."


def test_files_with_different_columns_may_come_from_several_runs():
    one, two = lines(batch(1, "ab")), lines([row | {"fluent": 1} for row in batch(2, "ab")])
    notes = text(brought({"1.jsonl": one, "2.jsonl": two})["written"][".notes"])
    assert "Some of the files lack “fluent”, so they may come from several runs." in notes
    assert "lack" not in text(brought({"1.jsonl": one, "3.jsonl": one})["written"][".notes"])


UNNAMED = lines(dict(when=1, q=f"{n // 2}+1=", a=f"{n}", mark=n % 2) for n in range(8))


def test_columns_that_nobody_can_name_are_offered_and_naming_them_reads_the_file():
    refused = brought({"own.jsonl": UNNAMED})
    assert refused["refused"] == (
        "No column is called prompt or completion: say which one it is among “when”, “q”, “a”, “mark”."
    )
    assert "<option" in refused["written"]["[name=map_prompt]"] and ">mark<" in refused["written"]["[name=map_reward]"]
    form = dict(map_prompt="q", map_completion="a", map_reward="mark", map_step="when")
    answer = brought({"own.jsonl": UNNAMED}, json.dumps(form))
    assert text(answer["written"][".verdict"]) == "Step 1: 4 of 8 are paid."
    assert '<option value="q" selected>' in answer["written"]["[name=map_prompt]"]


def test_in_the_terminal_the_sentence_says_which_option_names_columns(tmp_path, capsys):
    (tmp_path / "own.jsonl").write_text(UNNAMED, encoding="utf-8")
    assert main([str(tmp_path)]) == 2
    assert "--map completion=NAME" in capsys.readouterr().err
    named = [word for role in ("prompt=q", "completion=a", "reward=mark") for word in ("--map", role)]
    assert main([str(tmp_path), *named]) == 0


def test_after_a_refusal_the_run_before_can_still_be_asked():
    before = brought({"verifier.jsonl": page.TEXTS["verifier"]})
    assert "No completion was found" in brought({"x": "dear diary"})["refused"]
    assert says("ask", "{}") == before


def test_a_page_that_refused_its_first_file_answers_from_the_first_sample():
    brought({"x": "dear diary"})
    assert says("ask", FIRST) == plain(page.opening())


@pytest.mark.when_changed()
def test_it_is_warmed_up_before_a_snapshot_is_made():
    page.warmed()
    assert page.SESSION.read is None


# ── files that are odd ──
def verdict(content, form="{}"):
    return text(brought({"1.jsonl": content}, form)["written"][".verdict"])


@pytest.mark.parametrize(
    "content, said",
    [
        (rows([[0.25, 0.5], [1.5, 0.75]]), "Step 1: the mean reward is 0.75."),
        (rows([[-1, 1], [1, 1], [-1, 1]]), "Step 1: 4 of 6 are paid. 1 of 3 groups"),
        (rows([[0] * 32 + [1] * 32]), "Step 1: 32 of 64 are paid."),
        (rows([[1]]), "Step 1: the only completion is paid."),
        (rows([[1], [0], [1]]), "Step 1: 2 of 3 are paid."),
        (rows([[1, 0]] * 512), "Step 1: 512 of 1,024 are paid."),
        (rows([[1, 0, 1]], completion=""), "Step 1: 2 of 3 are paid. Three are the same text."),
        (rows([[1, 0]], completion="{n} " * 50_000), "Step 1: 1 of 2 is paid."),
    ],
    ids=["graded", "minus 1", "one group", "one row", "no group", "512 groups", "empty texts", "100,000 characters"],
)
def test_odd_files_get_a_true_sentence_and_no_number_that_is_none(content, said):
    answer = brought({"1.jsonl": content})
    assert text(answer["written"][".verdict"]).startswith(said)
    for place, markup in answer["written"].items():
        assert place == ".texts" or not re.search(r"\bnan\b|\binf\b|\b0 of 0\b|[−+]0\.0 %", text(markup))
        assert len(markup) < 200_000


def test_a_group_of_one_completion_is_not_tied():
    answer = brought({"1.jsonl": rows([[0.5], [0.25], [0.5]])})
    assert answer["written"][".findings"] == "<li>No findings.</li>" and "tied" not in answer["written"][".facts"]
    assert "No two completions of a step have the same prompt" in answer["written"][".notes"]


def test_rewards_of_1_and_minus_1_are_shares_of_the_paid():
    written = brought({"1.jsonl": rows([[-1, -1, -1, 1]])})["written"]
    assert text(written[".ends"]) == "paid 25 %"
    written = brought({"1.jsonl": rows([[-1, -1, -1, -1]])})["written"]
    assert text(written[".ends"]) == "paid 0 %" and "at 0 or below" in written[".facts"]


def test_without_a_reward_the_score_is_shown_and_the_note_says_how_to_name_it():
    content = lines(dict(step=1, prompt="p", completion=str(n), correct=n % 4 == 0, fluent=n / 8) for n in range(8))
    written = brought({"1.jsonl": content})["written"]
    assert text(written[".verdict"]) == "Step 1: 8 completions, 8 different texts. Two are correct."
    assert text(written[".wall"]).removeprefix("Row: prompt. Cell: completion. ").startswith("correct not correct")
    assert "No column is called reward: say which one it is" in written[".notes"]
    assert "no reward is known" in written[".sums"]
    assert verdict(content, json.dumps(dict(map_reward="correct"))).startswith("Step 1: 2 of 8 are paid.")


def test_a_score_that_is_missing_at_a_step_is_left_out_there():
    content = lines(
        dict(step=s, prompt="p", completion=str(n), reward=n % 2, exact=None if s == 1 else n // 2)
        for s in (1, 2)
        for n in range(4)
    )
    brought({"1.jsonl": content})
    assert "nan" not in str(says("ask", '{"at": "0"}'))


def test_without_numbers_of_tokens_each_completion_counts_as_one_until_tokens_are_asked_for():
    answer = brought({"1.jsonl": rows([[1, 0]])})
    assert answer["unit"] == pushes.PER_COMPLETION and "100 %" in answer["written"][".sums"]
    answer = says("ask", json.dumps(dict(unit=pushes.PER_TOKEN)))
    assert answer["unit"] == pushes.PER_TOKEN and "how many tokens" in answer["written"][".sums"]
    assert brought(says("sample", "")["files"], FIRST)["unit"] == pushes.PER_TOKEN


def test_small_shares_keep_a_digit():
    written = brought({"1.jsonl": rows([[1, 0]] * 4000)})["written"]
    assert "+0.01 %" in written[".texts"] and text(written[".sums"]).startswith("0.03 %")  # 1/8000, 1/4000


def test_prompts_that_all_begin_alike_are_told_apart():
    template = "<|system|>You are a helpful assistant.\n<|user|>"
    content = lines(
        dict(step=1, prompt=f"{template} {n}+1=", completion=str(k), reward=k) for n in "23" for k in (0, 1)
    )
    written = brought({"1.jsonl": content})["written"]
    assert re.findall("<code>(.*?)</code>", written[".wall"]) == ["…2+1=", "…3+1="]
    assert text(written[".prompt"]) == "…2+1="


def test_texts_are_cut_and_say_so():
    written = brought({"1.jsonl": rows([[1, 0]], completion="{n}" + "x" * 99_999)})["written"]
    assert written[".texts"].count("… 92,000 characters …") == 2 and len(written[".texts"]) < 18_000
    assert "and 36 more" in brought({"1.jsonl": rows([[0] * 50 + [1] * 50])})["written"][".texts"]


# ── files that are hostile ──
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'\x1b[31m\x07\u202eabc\u200b"


def test_texts_and_names_of_a_file_are_never_markup_and_hidden_characters_are_shown():
    row = {EVIL: 0, "step": 1, "prompt": EVIL, "completion": EVIL, "reward": 1}
    answers = [
        brought({EVIL: lines([row, row | {EVIL: 1, "reward": 0}])}),
        brought({EVIL: lines([row]), "1.jsonl": lines([{key: row[key] for key in list(row)[1:]}]), EVIL * 2: EVIL}),
        brought({EVIL: lines([{EVIL: "a b", "x": "c d"}])}),
        brought({EVIL: lines([row])}, json.dumps(dict(map_reward="prompt", fact=EVIL, group=EVIL, sample=EVIL))),
    ]
    for answer in answers:
        written = "".join(answer["written"].values())
        assert not re.search("<script|<img", written)
        shown = re.sub(r'value="[^"]*"', "", written) + answer.get("refused", "")
        assert not re.search("[\x00-\x08\x0b-\x1f\u200b\u202e]", shown)
    assert "⟨202E⟩abc" in answers[0]["written"][".texts"]


def small():
    row = dict(step=1, prompt="a", completion="b", reward=1)
    return {
        "not a number": (lines([row | {"reward": float("nan")}] * 3), "The reward is missing or NaN in all 3 rows."),
        "a text": (lines([row | {"reward": "good"}]), "The reward in “reward” is no number: “good”."),
        "brackets": ("[" * 100_000, "No completion was found in 1 line."),
        "brackets in a row": ('{"prompt": ' + "[" * 100_000, "No completion was found in 1 line."),
        "brackets as text": (lines([row | {"completion": "[" * 100_000}]), ""),
        "halves of characters": (lines([row | {"completion": "\ud800", "prompt": "\udfff", "\ud800": 1}]), ""),
        "no numbers": (lines([row | {"reward": None}] * 2), "The reward is missing or NaN in all 2 rows."),
        "numbers without end": (lines([row | {"reward": 10**400}]), "The reward is missing or NaN"),
        "control characters": (lines([{"\x1b[2J": "a b", "\u202e": "c d"}]), "“⟨001B⟩[2J”, “⟨202E⟩”"),
        "a file that is none": (bytes(range(256)) * 9, "The file is binary."),
    }


@pytest.mark.parametrize("name", small())
def test_hostile_files_are_one_sentence_or_rows_on_the_page_and_in_the_terminal(name, tmp_path, capsys):
    content, said = small()[name]
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    answer = brought({"x.jsonl": raw})
    (tmp_path / "x.jsonl").write_bytes(raw)
    for options in ([], ["--json"], ["--group", "1"]):
        status = main([str(tmp_path / "x.jsonl"), *options])
        printed, fault = capsys.readouterr()
        if said:
            assert said in answer["refused"] and (printed, status, fault.count("\n")) == ("", 2, 1)
            assert answer["refused"] in fault
        else:
            assert "refused" not in answer and printed and status < 2
            printed.encode()  # which halves of characters do not allow


@pytest.mark.slow
@pytest.mark.skipif(skips.PYODIDE, reason="the seconds are those of a machine")
@pytest.mark.parametrize(
    "content, said",
    [
        (b"x" * 50_000_000, "No completion was found"),
        (b'{"step": 1, "prompt": "a", "reward": 1, "completion": "' + b"x" * 49_000_000 + b'"}', ""),
        (json.dumps({f"c{n}": n for n in range(1_000_000)}).encode(), "A row has 1,000,000 columns"),
        (",".join(f"c{n}" for n in range(1_000_000)).encode() + b"\n1", "No completion was found in 1 line."),
    ],
    ids=["letters", "a text", "a row", "a table"],
)
def test_large_hostile_files_are_answered_in_seconds(content, said):
    start = time.process_time()
    answer = brought({"x.jsonl": content})
    assert said in answer["refused"] if said else "refused" not in answer
    assert time.process_time() - start < 3


def test_a_row_that_ends_in_nothing_is_answered_as_in_the_terminal():
    content = lines([trl(1, "p", f"{n}", exact=n % 2, advantage=n % 2 - 0.5) for n in range(8)])
    answer = brought({"1.jsonl": content[:-30]})
    assert "1.jsonl ends within line 8, which is left out." in answer["written"][".notes"]
