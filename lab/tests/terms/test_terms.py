"""Counting, dismissal, the objective and its ceiling, against slow transcriptions and by hand."""

import re
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bamsoo.errors import BamsooError
from bamsoo_lab import terms
from bamsoo_lab.terms.corpus import marked
from bamsoo_lab.terms.text import as_term, segments

# ---- the slow transcription: tuples in dictionaries, one rule a line ----


def supports(corpus):
    S = Counter()
    for segment in corpus.segments:
        for k in range(1, 5):
            for i in range(len(segment) - k + 1):
                S[tuple(segment[i : i + k])] += 1
    return S


def is_candidate(g, stop_words):
    letter = any(c.isalpha() for word in g for c in word)
    return letter and g[0] not in stop_words and g[-1] not in stop_words


def literal_terms(corpus, T, min_count, stop_words, c_sub, c_rel):
    S = supports(corpus)
    supported = {
        g for g in S if S[g] >= T[len(g) - 1] and S[g] >= min_count and is_candidate(g, stop_words)
    }
    dismissed = set()
    for g in supported:
        if len(g) > 1:
            pre, post = S[g] / S[g[:-1]], S[g] / S[g[1:]]
            if min(pre, post) >= c_rel:
                dismissed |= {g[:-1], g[1:]}
            if pre >= c_sub:
                dismissed.add(g[:-1])
            if post >= c_sub:
                dismissed.add(g[1:])
    return {" ".join(g): S[g] for g in supported - dismissed}


def literal_f(found, gold, N, beta):
    right = len(set(found) & set(gold))
    if right == 0:
        return 0.0
    P, R = right / len(found), min(1, right / N)
    return (1 + beta**2) * P * R / (beta**2 * P + R)


STOP = frozenset({"of", "the"})
words = st.sampled_from(["of", "the", "7", "gear", "box", "p", "b-12"])
corpora = st.lists(st.lists(words, min_size=1, max_size=9), min_size=1, max_size=14).map(
    lambda segments: terms.Corpus("drawn", segments)
)
confidences = st.sampled_from([0.25, 0.5, 0.6, 0.8, 1.0])
thresholds = st.lists(st.sampled_from([1, 1.5, 2, 2.5, 3, 4, 6]), min_size=4, max_size=4)


@pytest.mark.slow
@given(corpora, st.sampled_from([1, 2]))
def test_counts_and_confidences_equal_the_literal_ones(corpus, min_count):
    S = supports(corpus)
    counts = terms.count(corpus, min_count=min_count, stop_words=STOP)
    for k, level in enumerate(counts.levels, start=1):
        often = [g for g in S if len(g) == k and S[g] >= min_count]
        assert counts.kgrams[k - 1] == len(often)
        grams = sorted(g for g in often if is_candidate(g, STOP))
        assert list(level.terms) == [" ".join(g) for g in grams]
        assert level.support.tolist() == [S[g] for g in grams]
        if k > 1:
            below = counts.levels[k - 2].terms
            assert level.pre.tolist() == [S[g] / S[g[:-1]] for g in grams]
            assert level.post.tolist() == [S[g] / S[g[1:]] for g in grams]
            for rows, parts in ((level.prefix, [g[:-1] for g in grams]),
                                (level.suffix, [g[1:] for g in grams])):  # fmt: skip
                for row, part in zip(rows.tolist(), parts, strict=True):
                    assert (
                        (below[row] == " ".join(part)) if row >= 0 else not is_candidate(part, STOP)
                    )


@pytest.mark.slow
@given(corpora, thresholds, st.sampled_from([1, 2]), confidences, confidences)
def test_extraction_equals_the_literal_one(corpus, T, min_count, c_sub, c_rel):
    counts = terms.count(corpus, min_count=min_count, stop_words=STOP)
    found = terms.Extractor(counts, c_sub=c_sub, c_rel=c_rel).extract(T)
    expected = literal_terms(corpus, T, min_count, STOP, c_sub, c_rel)
    assert {term.text: term.count for term in found} == expected
    assert found == sorted(found, key=lambda term: (-term.count, term.text))


@pytest.mark.slow
@settings(max_examples=40)
@given(corpora, st.sampled_from([1, 2]), st.sampled_from([0.5, 1.0, 2.0]), st.integers(1, 6))
def test_objective_and_its_ceiling_equal_the_literal_ones(corpus, min_count, beta, N):
    gold = {"gear", "p", "gear box", "p gear", "p gear box", "box of gear box"}
    extractor = terms.Extractor(terms.count(corpus, min_count=min_count, stop_words=STOP))
    box = {"T1": (1, 5), "T2": (1, 4), "T3": (1.5, 3), "T4": (1, 2.5)}
    try:
        objective = terms.Objective(extractor, gold, beta=beta, normalizer=N, box=box)
    except terms.CorpusError:
        return
    every = {}
    for T in product(range(1, 6), range(1, 5), (1.5, 2.25, 3), (1, 2, 2.5)):
        found = literal_terms(corpus, T, min_count, STOP, 0.8, 0.5)
        every[T] = literal_f(found, gold, N, beta)
        assert objective(T) == pytest.approx(every[T], abs=1e-15)
    best = terms.optimum(objective)
    assert best.score.f == pytest.approx(max(every.values()), abs=1e-15)
    assert objective(**best.thresholds) == best.score.f


# ---- three sentences, worked out by hand ----

FOX = "Red fox runs. A red fox sleeps. The fox, a red one."


@pytest.fixture
def fox():
    return terms.Extractor(terms.count(marked(FOX), min_count=1))


def test_three_sentences_counted_by_hand(fox):
    one, two, three, four = fox.counts.levels
    assert dict(zip(one.terms, one.support.tolist(), strict=True)) == {
        "fox": 3, "red": 3, "runs": 1, "sleeps": 1}  # fmt: skip
    assert two.terms == ("fox runs", "fox sleeps", "red fox")  # "red one" ends with a stop-word
    assert two.support.tolist() == [1, 1, 2]
    assert two.pre.tolist() == [1 / 3, 1 / 3, 2 / 3]
    assert two.post.tolist() == [1, 1, 2 / 3]
    assert three.terms == ("red fox runs", "red fox sleeps")
    assert three.pre.tolist() == [1 / 2, 1 / 2]
    assert four.terms == ()


@pytest.mark.parametrize(
    ("T", "expected"),
    [
        # red fox (2/3, 2/3) dismisses both its words, though red fox runs (1/2, 1) dismisses it
        ((1, 1, 1, 1), {"red fox runs", "red fox sleeps"}),
        # no trigram is left to dismiss the bigrams; fox runs (1/3, 1) dismisses runs, not fox
        ((1, 1, 2, 2), {"red fox", "fox runs", "fox sleeps"}),
        ((1, 2, 2, 2), {"red fox", "runs", "sleeps"}),
        ((1.5, 1.5, 1.5, 1.5), {"red fox"}),
        ((2, 3, 2, 2), {"red", "fox"}),
        ((4, 3, 2, 2), set()),
    ],
)
def test_three_sentences_extracted_by_hand(fox, T, expected):
    assert {term.text for term in fox.extract(T)} == expected


def test_score_by_hand(fox):
    objective = terms.Objective(fox, {"red fox", "runs", "green fox"})
    assert objective.normalizer == 2  # green fox does not occur
    score = objective.score([1, 2, 2, 2])  # red fox, runs, sleeps
    assert (score.extracted, score.right) == (3, 2)
    assert (score.precision, score.recall) == (2 / 3, 1)
    assert score.f == pytest.approx(0.8)
    assert objective(T4=2, T3=2, T2=2, T1=1) == objective(np.array([1, 2, 2, 2])) == score.f
    sample = objective.sample([1, 2, 2, 2], size=5)
    assert [t.text for t in sample.right] == ["red fox", "runs"]
    assert [t.text for t in sample.wrong] == ["sleeps"]
    assert sample.missed == []
    assert [t.text for t in objective.sample([4, 3, 2, 2], size=1, seed=3).missed] in (
        ["red fox"], ["runs"])  # fmt: skip


# ---- words and breaks ----


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Oil-pump B, C++ gears.", [["oil-pump", "b"], ["c++", "gears"]]),
        ("5'-mark (x50/x65) - twice", [["5'-mark"], ["x50"], ["x65"], ["twice"]]),
        ("pre- and post-war", [["pre", "and", "post-war"]]),
        ("'quoted' a_b", [["quoted", "a"], ["b"]]),
        ("Größe ΔΨ", [["größe", "δψ"]]),
        ("... -- !", []),
    ],
)
def test_segments(sentence, expected):
    assert segments(sentence) == expected


def test_a_term_with_a_break_inside_is_none():
    assert as_term(" Query\n language ") == "query language"
    assert as_term("steam (S) engine") is None
    assert as_term("(...)") is None


@pytest.mark.slow
@given(st.text(max_size=60))
def test_segments_are_stable(text):
    found = segments(text)
    assert all(segments(" ".join(words)) == [words] for words in found)


# ---- the synthetic corpus ----


@pytest.fixture(scope="module")
def planted():
    corpus = terms.synthetic()
    return corpus, terms.Objective(terms.Extractor(terms.count(corpus)), corpus.gold)


def test_synthetic_is_the_same_for_the_same_seed():
    assert terms.synthetic(3) == terms.synthetic(3)
    assert terms.synthetic(3) != terms.synthetic(4)


def test_synthetic_plants_terms_of_every_length(planted):
    corpus, objective = planted
    lengths = Counter(term.count(" ") + 1 for term in corpus.gold)
    assert set(lengths) == {1, 2, 3, 4} and min(lengths.values()) >= 50
    assert objective.normalizer == len(corpus.gold)


@pytest.mark.slow
def test_the_optimum_on_synthetic_lies_inside_the_box(planted):
    corpus, whole = planted
    best = terms.optimum(whole)
    for name, (low, high) in terms.BOX.items():
        assert 2 < best.thresholds[name] < high
        for end in ((low, 2), (0.9 * high, high)):
            face = terms.Objective(
                whole.extractor,
                corpus.gold,
                normalizer=whole.normalizer,
                box={**terms.BOX, name: end},
            )
            assert terms.optimum(face).score.f < best.score.f - 0.02


@pytest.mark.slow
def test_objective_is_deterministic_and_never_above_the_ceiling(planted):
    corpus, objective = planted
    again = terms.Objective(terms.Extractor(terms.count(corpus)), corpus.gold)
    best = terms.optimum(objective).score.f
    low, high = np.log(list(terms.BOX.values())).T
    for T in np.exp(np.random.default_rng(0).uniform(low, high, (200, 4))):
        assert objective(T) == again(T) == objective(np.ceil(T)) <= best


def test_ends_of_a_log_scale_may_be_a_rounding_error_outside(planted):
    _, objective = planted
    low, high = np.array(list(terms.BOX.values())).T
    assert objective(low * (1 - 1e-14)) == objective(low)
    assert objective(high * (1 + 1e-14)) == objective(high)


# ---- bad input: one sentence each ----


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda o, gold: o([0.5, 2, 2, 2]),
            "T1=0.5 is outside the box; expected a number from 1 to 300",
        ),
        (lambda o, gold: o(T1=2, T2=2, T3=2, T4=31), "T4=31 is outside the box"),
        (lambda o, gold: o([np.nan, 2, 2, 2]), "are not 4 numbers"),
        (lambda o, gold: o([2, 2, 2]), "are not 4 numbers"),
        (lambda o, gold: o("many"), "are not 4 numbers"),
        (lambda o, gold: o(T1=2), "expected thresholds T1, T2, T3, T4"),
        (lambda o, gold: o([2, 2, 2, 2], T1=2), "expected one of them"),
        (lambda o, gold: terms.Objective(o.extractor, set()), "no gold terms"),
        (lambda o, gold: terms.Objective(o.extractor, {"no such"}), "none of the 1 gold terms"),
        (
            lambda o, gold: terms.Objective(o.extractor, {"a"}, normalizer=0),
            "none of the 1 gold terms",
        ),
        (lambda o, gold: terms.Objective(o.extractor, gold, normalizer=0), "normalizer=0"),
        (lambda o, gold: terms.Objective(o.extractor, gold, beta=0), "beta=0"),
        (
            lambda o, gold: terms.Objective(o.extractor, gold, box={"T1": (1, 2)}),
            "expected a box with bounds of",
        ),
        (
            lambda o, gold: terms.Objective(o.extractor, gold, box={**terms.BOX, "T2": (3, 2)}),
            "T2: expected bounds",
        ),
        (lambda o, gold: terms.Extractor(o.extractor.counts, c_sub=float("nan")), "c_sub=nan"),
        (lambda o, gold: terms.count(marked(FOX), min_count=0), "min_count=0"),
        (lambda o, gold: terms.Corpus("empty.txt", []), "empty.txt contains no words"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(planted, call, message):
    corpus, objective = planted
    with pytest.raises(BamsooError) as refusal:
        call(objective, corpus.gold)
    assert message in str(refusal.value) and "\n" not in str(refusal.value)
    assert isinstance(refusal.value, ValueError)


def test_too_large_a_box_for_the_ceiling_is_refused(planted):
    corpus, objective = planted
    wide = dict.fromkeys(terms.BOX, (1, 1000))
    with pytest.raises(BamsooError, match="combinations"):
        terms.optimum(terms.Objective(objective.extractor, corpus.gold, box=wide))


@pytest.mark.slow
def test_the_examples_of_the_page_run():
    page = (Path(__file__).parents[3] / "docs" / "terms.md").read_text(encoding="utf-8")
    scope = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(example, scope)
    assert scope["r"].fun > 0.5
