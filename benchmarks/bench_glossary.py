"""Speed of finding a large glossary's terms in sources.

Run it with `python -m benchmarks.bench_glossary`.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from mmad_metric.files.glossaries import read_glossary
from mmad_metric.glossary import Glossary

N_TERMS, N_SOURCES, WORDS_A_SOURCE = 50_000, 2_000, 25


def main() -> None:
    """Print the CPU time of each step, for letters of ASCII and for others."""
    for name, letters in (("ASCII", "abcdefghijklmnop"), ("other letters", "äbcdéfghíjklmnöp")):
        chance = random.Random(1)
        words = ["".join(chance.choices(letters, k=chance.randint(3, 10))) for _ in range(30_000)]
        terms = {" ".join(chance.choices(words, k=chance.randint(1, 3))) for _ in range(N_TERMS)}
        sources = [" ".join(chance.choices(words, k=WORDS_A_SOURCE)) for _ in range(N_SOURCES)]
        begun = time.process_time()
        glossary = _read(sorted(terms))
        read = time.process_time()
        glossary.occurring("x")  # the first search makes the index
        indexed = time.process_time()
        found = sum(len(glossary.occurring(source)) for source in sources)
        ended = time.process_time()
        print(
            f"{name}: {len(glossary.terms)} terms read in {read - begun:.2f} s, indexed in "
            f"{indexed - read:.2f} s; {found} found in {N_SOURCES} sources in "
            f"{ended - indexed:.2f} s of CPU"
        )


def _read(terms: list[str]) -> Glossary:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "terms.tsv"
        path.write_text("".join(f"{term}\tx\n" for term in terms), encoding="utf-8")
        return read_glossary(str(path))


if __name__ == "__main__":
    main()
