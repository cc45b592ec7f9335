"""Data sets of nonsense in their official layouts, with as many items as in the papers, for planning studies."""

import json
from pathlib import Path

from tests.support.chance import tenth

SIZES = {"imdb": tenth(25_000), "mctest": 600, "babi-1": 1_000, "rte": 277, "strategyqa": 229, "shp": 6_000}
"""The number of items in the tested parts, of IMDB a tenth except in `make thorough`: Madsen et al. 2024, Table 1;
StrategyQA's dev.json; and for SHP more posts than the paper's 500.
"""


def write(folder: Path, *names: str) -> None:
    """Write these data sets, by default all, into `folder` as $EXPLAIN_HOME/datasets holds them."""
    for name in names or SIZES:
        _WRITERS[name](folder, SIZES[name])


def _imdb(folder: Path, items: int) -> None:
    for part in ("pos", "neg"):
        reviews = folder / "imdb" / "aclImdb" / "test" / part
        reviews.mkdir(parents=True)
        for number in range(items // 2):
            (reviews / f"{number}_{7 if part == 'pos' else 2}.txt").write_bytes(b"A %d of a film." % number)


def _mctest(folder: Path, items: int) -> None:
    questions = "\t".join(f"one: Who is it, {n}?\tAnn\tBob\tCat\tDan" for n in range(4))
    stories = [
        f"mc500.test.{n}\tAuthor: a\tStory {n} of Ann.\\newlineShe sings.\t{questions}" for n in range(items // 4)
    ]
    _lines(folder / "mctest" / "mc500.test.tsv", stories)
    _lines(folder / "mctest" / "mc500.test.ans", ["A\tB\tC\tD"] * len(stories))


def _babi(folder: Path, items: int) -> None:
    story = [
        "1 Ann went to the hall.",
        "2 Where is Ann? \thall\t1",
        "3 Ann went to the yard.",
        "4 Where is Ann? \tyard\t3",
    ]
    place = folder / "babi" / "tasks_1-20_v1-2" / "en-10k" / "qa1_single-supporting-fact_test.txt"
    _lines(place, story * (items // 2))


def _rte(folder: Path, items: int) -> None:
    rows = [f"{n}\tAnn is {n}.\tAnn is old.\t{('entailment', 'not_entailment')[n % 2]}" for n in range(items)]
    _lines(folder / "rte" / "dev.tsv", ["index\tsentence1\tsentence2\tlabel", *rows])


def _strategyqa(folder: Path, items: int) -> None:
    entries = [{"qid": f"q{n}", "question": f"Is {n} large?", "answer": n % 2 == 0, "facts": []} for n in range(items)]
    (folder / "strategyqa").mkdir(parents=True)
    (folder / "strategyqa" / "dev.json").write_text(json.dumps(entries), encoding="utf-8")


def _shp(folder: Path, items: int) -> None:
    """Two pairs for each post: the best answer with a middling and with a poor one, the second of which is kept."""
    rows = [
        json.dumps(
            {"post_id": f"p{n}", "history": f"Post {n}", "human_ref_A": "Do it.", "human_ref_B": f"Don't {worse}.",
             "labels": 1, "score_A": 9, "score_B": worse, "c_root_id_A": "a", "c_root_id_B": f"b{worse}"}
        )
        for n in range(items)
        for worse in (2, 4)
    ]  # fmt: skip
    _lines(folder / "shp" / "askbaking" / "test.json", rows)


def _lines(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


_WRITERS = {
    **{"imdb": _imdb, "mctest": _mctest, "babi-1": _babi, "rte": _rte, "strategyqa": _strategyqa, "shp": _shp},
}
