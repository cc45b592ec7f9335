"""A file becomes runs whose names come from their content; errors are reported with their line."""

from hashlib import sha256
from pathlib import Path

import pytest

from core import entry
from core.runs import labels as schemes
from core.studies.plan import ClusterOf, Study, StudyError, line_of, parse, read, run_id, unpriced
from core.studies.run_status import labels
from tests.support import authors_repositories

GRID = """title = "Two labs"
budget_calls = 100

[[part]]
lab = "check"
spec = { controls = 0 }
[part.grid]
data = [{ task = "sentiment" }, { task = "entailment", limit = 3 }]
model = ["control/honest-lexicon", "control/decoy-lexicon"]
[[part.exclude]]
task = "entailment"
model = ["control/decoy-lexicon"]

[[part]]
lab = "ask"
[part.spec]
dataset = "world"
model = "control/fickle"
"""


def study_of(folder: Path, text: str) -> Study:
    file = folder / "two.toml"
    file.write_text(text, encoding="utf-8")
    return read(file, entry.labs())


def test_a_grid_is_every_combination_but_those_left_out(tmp_path: Path) -> None:
    study = study_of(tmp_path, GRID)
    told = [(one.lab.path, getattr(one.spec, "task", ""), getattr(one.spec, "model", "")) for one in study.runs]
    assert told == [
        ("check", "sentiment", "control/honest-lexicon"),
        ("check", "sentiment", "control/decoy-lexicon"),
        ("check", "entailment", "control/honest-lexicon"),
        ("ask", "strategyqa", "control/fickle"),
    ]
    assert study.name == "two" and study.budget_calls == 100
    # Robots of each lab, for what each task asks, and never twice.
    assert {getattr(one.spec, "model", "") for one in study.controls} == {
        *("control/honest-lexicon", "control/decoy-lexicon", "control/steadfast", "control/fickle")
    }
    assert len({one.id for one in study.all}) == len(study.all) == 4 + 6


def test_a_run_s_name_is_its_content(tmp_path: Path) -> None:
    first, again = study_of(tmp_path, GRID), study_of(tmp_path, f"# a remark\n{GRID}")
    other = study_of(tmp_path, GRID.replace("limit = 3", "limit = 4"))
    assert [one.id for one in first.all] == [one.id for one in again.all]
    assert len({one.id for one in first.runs} - {one.id for one in other.runs}) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('lab = "ask"', 'lab = "aks"', "two.toml, line 15, part.2.lab: there is no lab 'aks'. Did you mean ask?"),
        ("dataset =", "datasat =", "line 17, part.2.spec.datasat: Ask has no setting 'datasat'. Did you mean dataset?"),
        ("limit = 3", "limit = 0", "line 8, part.1.grid.data: limit: Input should be greater than or equal to 1"),
        ('task = "entailment"\nmodel', 'task = "none"\nmodel', "line 10, part.1.exclude.1: it excludes nothing"),
        ('task = "entailment"\nmodel', "seed = 1\nmodel", "line 11, part.1.exclude.1.seed: 'seed' is not in"),
        ("budget_calls = 100", "budget = 100", "line 2, budget: a study has no such setting"),
        ("[[part]]", "[[part]", "this is not TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GRID
    with pytest.raises(StudyError) as fault:
        study_of(tmp_path, GRID.replace(old, new, 1))
    assert said in str(fault.value)


ONE = """title = "One"
lab = "ask"
spec = { dataset = "world", model = "control/fickle" }
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE.replace("dataset", "datasat"), "study.toml, line 3, spec.datasat: Ask has no setting 'datasat'. Did you"),
        (f"{ONE}[[table]]\nrows = ['modle']\n", "line 5, table.1.rows: there is no 'modle' to show. Did you mean"),
        (f"{ONE}[[table]]\ncolumns = ['zzz']\n", "table.1.columns: there is no 'zzz' to show. There are: "),
        (f"{ONE}[[table]]\nmetrics = ['precison']\n", "table.1.metrics: there is no 'precison' to show. Did you mean"),
        (f"{ONE}[[table]]\nlab = 'ak'\n", "line 5, table.1.lab: there is no lab 'ak'. Did you mean ask?"),
        (f"{ONE}[[table]]\nkind = 'chen_t2'\nrows = ['model']\n", "line 6, table.1.rows: the table chen_t2 has rows"),
        (f"{ONE}[[table]]\nlab = 'check'\nkind = 'chen_t2'\n", "line 6, table.1.kind: there is no table 'chen_t2'."),
        (f"{ONE}grid = {{ limit = [] }}\n", "line 4, grid.limit: "),
        (f"{ONE}[cluster]\nmemory = 'much'\n", "line 5, cluster.memory: "),
        ("stop_width = 0.1\nlab = 'probe'\nspec = { model = 'control/inventor' }\n", "Probe cannot stop early: "),
        (f"rates = [0.5, 1.5]\n{ONE}", "line 1, rates"),
        (f"{ONE}[grid]\nlimit = [1, 0]\n", "line 5, grid.limit: limit: Input should be greater than or equal to 1 ("),
        ("title = 'no lab'\n", "study.toml, line 1, lab: this has to be there."),
        ("part = []\n", "line 1, part: "),
        (f"{ONE}prompts = 3\n", "line 4, prompts: a study has no such setting."),
        *((f"{setting}\n{ONE}", "line 1, " + setting.split()[0]) for setting in (
            "at_once = 0", "at_once = 65", "budget_calls = 0", "budget_money = 0", "width = 0", "width = 1",
            "power = 0", "power = 1", "stop_width = 0", "stop_width = 1", "rates = [0.5, -0.1]", "name = 'a b'",
            "rules = 'odd'",
        )),
        *((f"{ONE}[cluster]\n{name} = 0\n", f"line 5, cluster.{name}")
          for name in ("jobs", "at_once", "in_hand", "cpus")),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_study_of_one_part_is_named_as_it_stands_there(text: str, said: str) -> None:
    with pytest.raises(StudyError) as fault:
        parse("study.toml", text.encode(), entry.labs())
    assert said in str(fault.value)


def test_a_mistyped_label_scheme_is_refused_with_the_schemes_of_the_home() -> None:
    rows = f"{ONE}[[table]]\nrows = ['label.resaon']\n".encode()
    assert parse("study.toml", rows, entry.labs()).tables  # the home has no schemes: labels may come with imported runs
    schemes.path().parent.mkdir(parents=True, exist_ok=True)
    schemes.path().write_text(schemes.EXAMPLE, encoding="utf-8")
    with pytest.raises(StudyError, match=r"line 5, table.1.rows: .*'resaon' in labels.toml. Did you mean reason\?"):
        parse("study.toml", rows, entry.labs())
    assert parse("study.toml", rows.replace(b"resaon", b"reason"), entry.labs()).tables


def test_a_file_of_the_largest_size_is_read_and_a_byte_more_is_not(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(ONE + "#" * (256_000 - len(ONE)))
    assert read(file, entry.labs()).name == "one"
    file.write_text(ONE + "#" * (256_001 - len(ONE)))
    with pytest.raises(StudyError, match="larger than 256 kB"):
        read(file, entry.labs())
    with pytest.raises(StudyError, match="cannot be read: No such file"):
        read(tmp_path / "none.toml", entry.labs())
    with pytest.raises(StudyError, match="line 3: this is not UTF-8 text"):
        parse("s.toml", b"a = 1\n\n\xff", entry.labs())


def test_what_a_study_is_called_and_what_stands_in_it_by_itself() -> None:
    one = parse("a.toml", b"\xef\xbb\xbf" + ONE.encode(), entry.labs())
    assert (one.name, one.title, one.about, one.at_once, one.rules) == ("a", "One", "", 4, "repaired")
    assert (one.budget_calls, one.budget_money, one.width, one.power, one.rates, one.stop_width) == (None,) * 6
    named = parse("a.toml", f'name = "b"\n{ONE}'.replace('title = "One"', "").encode(), entry.labs())
    assert (named.name, named.title) == ("b", "b")
    assert parse("a.toml", ONE.replace('title = "One"', "").encode(), entry.labs()).title == "a"
    more = parse("a.toml", f"rates = [0.7, 0.5]\nbudget_money = 0.5\npower = 0.8\n{ONE}".encode(), entry.labs())
    assert (more.rates, more.budget_money, more.power) == ((0.7, 0.5), 0.5, 0.8)
    least = parse("a.toml", f"{ONE}[cluster]\njobs = 1\nat_once = 1\ncpus = 1\n".encode(), entry.labs())
    assert least.cluster == ClusterOf() and ClusterOf().memory == "4GB"


def test_the_same_run_is_made_once_and_a_control_that_was_asked_for_is_no_control() -> None:
    [twice] = parse("a.toml", f"{ONE}grid = {{ seed = [1, 1] }}\n".encode(), entry.labs()).runs
    [again] = parse("a.toml", f"{ONE}grid = {{ seed = [1] }}\n".encode(), entry.labs()).runs
    assert twice.id == again.id == run_id(twice.lab, twice.spec)
    of = parse("a.toml", ONE.encode(), entry.labs())
    control = of.controls[0]
    assert of.stop_width_of(control) is None
    asked = parse(
        "a.toml",
        ONE.encode(),
        {"ask": control.lab.with_changes(robots=control.lab.robots.with_changes(calibration=lambda spec: [spec]))},
    )
    assert asked.controls == () and len(asked.all) == 1
    narrow = parse("a.toml", f"stop_width = 0.25\n{ONE}".encode(), entry.labs())
    assert [narrow.stop_width_of(run) for run in (*narrow.controls, *narrow.runs)] == [None] * len(narrow.controls) + [
        0.25
    ]


def test_the_models_whose_price_nobody_knows() -> None:
    grid = 'grid = { model = ["openai/zzz", "openai/gpt-4o-mini", "openai/aaa", "control/fickle"] }\n'
    assert unpriced(parse("a.toml", f"{ONE}{grid}".encode(), entry.labs())) == ["openai/aaa", "openai/zzz"]


LINES = """title = "x"

[[part]]
lab = "ask"
[part.spec]
"dataset" = "world"
[part.grid]
limit = [
  1,
]
[[part]]
lab = "check"
[[part.exclude]]
task = "a"
[[part.exclude]]
task = "b"
[cluster]
jobs = 0
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("title",), 1),
        (("part", 0), 3),
        (("part", 0, "lab"), 4),
        (("part", 0, "spec"), 5),
        (("part", 0, "spec", "dataset"), 6),
        (("part", 0, "spec", "model"), 5),
        (("part", 0, "grid", "limit", 0), 8),
        (("part", 1, "lab"), 12),
        (("part", 1, "exclude", 0, "task"), 14),
        (("part", 1, "exclude", 1, "task"), 16),
        (("part", 1, "spec", "dataset"), 11),
        (("cluster", "jobs"), 18),
        (("cluster", "walltime"), 17),
        (("table", 0), 1),
        ((), 1),
    ],
)
def test_a_setting_is_found_on_its_line(key: tuple[str | int, ...], line: int) -> None:
    assert line_of(LINES, key) == line
    # Headings are counted by the table that they belong to.
    more = LINES.replace('lab = "check"', 'lab = "check"\n[[part.exclude]]\ntask = "c"').replace(
        "limit = [", "[[part.exclude]]"
    )
    assert line_of(more, ("part", 1, "exclude", 2, "task")) == 18


NAMES = {
    "chen_table1": "01d2fe5063050819",
    "chen_table2": "1613cdf68b684a57",
    "chen_table3": "9eec68e52e889518",
    "chen_table4": "b16d49eaad9ae1e2",
    "dial": "e6d81207c41b39be",
    "example": "291b2affb8fbbdf3",
    "find_evaluators": "018fe5beb0c66104",
    "find_table2": "d87a6847bd661dc9",
    "madsen_fig6": "7c7f946b269dfb8f",
    "madsen_fig9": "36c40f545e2abedd",
    "plant_small": "f40f7356084eb485",
    "prompts": "3e2bf6b67ffb23b9",
    "robots": "56a2f0b62d9dcfff",
    "schema": "986fc560d1e113ae",
    "small": "baef69950ba8300e",
}
"""For each study that ships, the start of the SHA-256 over its runs' names. A different name is a different run: what
was made under the old one is made again. So these change only with a study or a prompt: a new field of a
specification is left out of its JSON at its default.
"""


@pytest.mark.parametrize("file", sorted(Path("studies").glob("*.toml")), ids=lambda file: file.stem)
def test_the_runs_of_the_studies_that_ship_keep_their_names(file: Path, tmp_path: Path) -> None:
    authors_repositories.in_home(tmp_path / "copies")
    names = "\n".join(run.id for run in read(file, entry.labs()).all)
    assert sha256(names.encode()).hexdigest()[:16] == NAMES[file.stem]


@pytest.mark.parametrize("file", sorted(Path("studies").glob("*.toml")), ids=lambda file: file.stem)
def test_the_studies_that_ship_can_be_planned(file: Path, tmp_path: Path) -> None:
    authors_repositories.in_home(tmp_path / "copies")
    study = read(file, entry.labs())
    assert study.runs and study.tables
    named = labels(study)
    assert named.keys() == {run.id for run in study.all}
    assert ("the paper's prompts" in " ".join(named.values())) == (file.stem == "prompts")
