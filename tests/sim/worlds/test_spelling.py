from sim.worlds import spelling


def test_a_tokenizer_reads_one_spelling_of_several():
    assert spelling.encode("HAVING") == ["H", "AVING"]
    assert ["HAV", "ING"] in spelling.spellings("HAVING")


def test_every_spelling_has_the_same_text_and_each_stands_once():
    found = spelling.spellings("HAVING")
    assert {"".join(tokens) for tokens in found} == {"HAVING"}
    assert len({tuple(tokens) for tokens in found}) == len(found)
    # HAV or H-AV or H-A-V before ING, IN-G or I-N-G, and H-AVING
    assert len(found) == 3 * 3 + 1


def test_what_the_tokenizer_makes_of_a_token_is_that_token():
    assert all(spelling.encode(token) == [token] for token in spelling.VOCABULARY)


def test_an_empty_text_has_no_token():
    assert spelling.encode("") == [] and spelling.spellings("") == [[]]
