"""Time and memory of term extraction: `python lab/benchmarks/terms.py [CORPUS]`.

Without a corpus, the synthetic one is used. The peak memory is that of the whole process, including
Python and numpy.
"""

import resource
import sys
import time

import numpy as np

from bamsoo_lab import terms


def peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def measure(corpus: terms.Corpus, min_count: int) -> None:
    start = time.perf_counter()
    extractor = terms.Extractor(terms.count(corpus, min_count=min_count))
    objective = terms.Objective(extractor, corpus.gold)
    counted = time.perf_counter() - start
    low, high = np.log(list(objective.box.values())).T
    points = np.exp(np.random.default_rng(0).uniform(low, high, (200, 4)))
    start = time.perf_counter()
    values = [objective(T) for T in points]
    evaluated = (time.perf_counter() - start) / len(points)
    start = time.perf_counter()
    best = terms.optimum(objective)
    searched = time.perf_counter() - start
    at = ", ".join(f"{name}={T:g}" for name, T in best.thresholds.items())
    print(f"min_count {min_count}: k-grams {extractor.counts.kgrams}, N = {objective.normalizer}")
    print(f"  candidates {tuple(len(level.terms) for level in extractor.counts.levels)}")
    print(f"  count {counted:.2f} s, one evaluation {evaluated * 1e3:.3f} ms")
    print(
        f"  200 random points: F {min(values):.3f} to {max(values):.3f}, "
        f"median {np.median(values):.3f}"
    )
    print(
        f"  optimum F {best.score.f:.4f} at {at}: precision {best.score.precision:.4f}, "
        f"recall {best.score.recall:.4f}; {best.cells:,} combinations in {searched:.2f} s"
    )


def main() -> None:
    start = time.perf_counter()
    corpus = terms.load(sys.argv[1]) if len(sys.argv) > 1 else terms.synthetic()
    print(f"{corpus.name}: loaded in {time.perf_counter() - start:.2f} s, {dict(corpus.facts)}")
    print(
        f"  {sum(map(len, corpus.segments)):,} words, {len(corpus.gold):,} gold terms, "
        f"{sum(term.count(' ') < 4 for term in corpus.gold):,} of them with 1 to 4 words"
    )
    for min_count in (2, 1):
        measure(corpus, min_count)
        print(f"  peak memory so far {peak_mb():.0f} MB")


if __name__ == "__main__":
    main()
