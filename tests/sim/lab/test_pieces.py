"""Three tokenizers: counts of the source course, tokens merged by hand, and the round trip."""

import pytest

from sim.lab import packs
from sim.lab.pieces import encode, names


def test_three_tokenizers_have_120_merges_each_all_of_them_in_ascii():
    assert names() == ("runs", "triples", "single")
    merges = [packs.pack("bpe")["tokenizers"][name]["merges"] for name in names()]
    assert [len(pairs) for pairs in merges] == [120] * 3
    assert all("".join(pair).isascii() for pairs in merges for pair in pairs)


@pytest.mark.parametrize(
    "text, counts",
    [
        ("Final: 323", [4, 4, 6]),
        ("Final: 324", [5, 5, 6]),  # wrong by one, and a token longer
        ("Final:  323", [5, 5, 7]),
        ("Final: 0323", [5, 6, 7]),
        ("Final:\n323", [5, 4, 6]),
    ],
)
def test_a_text_has_as_many_tokens_as_the_course_counts(text, counts):
    assert [len(encode(text, name)) for name in names()] == counts


def test_merges_by_hand():
    # i+n, a+l, in+al, F+inal are the first merges of "runs"; " "+"3" and "2"+"3" come later, and "3"+"2" never does
    assert encode("Final: 323", "runs") == ["Final", ":", " 3", "23"]
    assert encode("Final: 323", "single") == ["Final", ":", " ", "3", "2", "3"]
    assert encode("", "runs") == []


@pytest.mark.parametrize("name", names())
def test_the_tokens_of_every_prompt_and_completion_join_to_the_text(name):
    texts = [example.prompt for example in packs.examples()]
    texts += [rollout.completion for row in packs.rollouts() for rollout in row]
    assert len(texts) == 360 and all("".join(encode(text, name)) == text for text in texts)


def test_a_pair_that_overlaps_itself_is_merged_from_the_left():
    # 0+0 is a merge of "runs": three zeros are one pair and a rest, four are two pairs
    merges = [tuple(pair) for pair in packs.pack("bpe")["tokenizers"]["runs"]["merges"]]
    assert ("0", "0") in merges and not {("00", "0"), ("00", "00")} & set(merges)
    assert encode("000", "runs") == ["00", "0"] and encode("0000", "runs") == ["00", "00"]


@pytest.mark.parametrize("name", names())
def test_a_character_outside_ascii_is_a_token(name):
    assert encode("Final: \u2212٣٢", name)[-3:] in (["\u2212", "٣", "٢"], [" \u2212", "٣", "٢"])
    assert encode("\u00a0\u2028", name) == ["\u00a0", "\u2028"]


def test_an_unknown_tokenizer_is_refused():
    with pytest.raises(KeyError):
        encode("Final: 7", "words")
