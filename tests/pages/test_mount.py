"""The data that a page gives to its viewer."""

from streamlit.testing.v1 import AppTest

from core.report.viewer_assets import stage_files
from core.scene import Scene
from tests.pages.conftest import staged

AS_IT_COMES = {
    "mode": "read", "follow": [], "rows": [], "names": [], "judgements": [], "judged": {}, "card": "",
    "steps": False, "reader": "", "place": 0, "series": None, "listed": [], "here": None,
}  # fmt: skip


def plain() -> None:
    from core.scene import Scene
    from pages.viewer.component import stage

    assert stage("read", [Scene(lab="x")], "plain") == "", "nobody wanted anything yet"


def full() -> None:
    from core.scene import Scene
    from core.server.jobs import HowFar
    from pages.viewer.component import Follow, ListRow, Staging, stage

    follow = Follow("r", "q", HowFar(share=0.5, words="half", around="1"), 2.0)
    stage(
        "tell", [Scene(lab="x"), Scene(lab="y")], "full", follow=[follow, None],
        staging=Staging(
            "a", 3, True, [ListRow(("r", "q", "a"), (), 7)], here=ListRow(("r", "q", "b"), ("?",)),
            reader="me", judgements=[("reading", "Read", "right", "wrong")], judged={"a": {"reading": "right"}},
            rows=[(["a", None], "so")], names=["A", "B"], series={"head": "All"},
        ),
    )  # fmt: skip


def pack() -> None:
    from core.report.game.pack import load_pack
    from pages.viewer.component import game

    game(load_pack("first"), "game")


def test_what_is_not_named_is_as_it_comes() -> None:
    [given] = staged(AppTest.from_function(plain).run())
    assert given.pop("scenes") == [Scene(lab="x").model_dump(mode="json")] and given == AS_IT_COMES


def test_what_is_named_is_handed_over() -> None:
    [given] = staged(AppTest.from_function(full).run())
    assert [scene["lab"] for scene in given.pop("scenes")] == ["x", "y"]
    followed, nothing = given.pop("follow")
    told = {"run": "r", "case": "q", "share": 0.5, "words": "half", "pace": 2.0}
    assert nothing is None and told.items() <= followed.items() and given == {
        "mode": "tell", "rows": [[["a", None], "so"]], "names": ["A", "B"],
        "judgements": [["reading", "Read", "right", "wrong"]], "judged": {"a": {"reading": "right"}}, "card": "a",
        "steps": True, "reader": "me", "place": 3, "series": {"head": "All"},
        "listed": [{"place": ["r", "q", "a"], "lead": [], "number": 7}],
        "here": {"place": ["r", "q", "b"], "lead": ["?"], "number": 0},
    }  # fmt: skip


def several() -> None:
    from core.scene import RunScene, Scene, Verdict, from_emphasis
    from pages.viewer.component import stage

    stage("read", [Scene(lab="x")], "one")
    stage("beside", [Scene(lab="x"), Scene(lab="y")], "two")
    stage("all", [RunScene(lab="x", verdict=Verdict(headline=from_emphasis("So.")))], "all")


def test_only_what_all_cases_came_to_is_a_component_of_its_own() -> None:
    """It takes less room than a case."""
    app = AppTest.from_function(several).run()
    names = [one.proto.component_name for one in app.main.children.values()]
    assert not app.exception and [name.rpartition(".")[2] for name in names] == ["stage", "stage", "stageall"]


def test_a_game_is_a_part_of_its_page() -> None:
    [given] = staged(AppTest.from_function(pack).run())
    game = given["game"]
    assert (given["mode"], given["scenes"], game["isInline"], game["isInApp"]) == ("play", [], True, True)
    assert game["pack"]["name"] == "first" and game["pack"]["cards"]


def test_no_line_of_the_stage_is_longer_than_one_of_python() -> None:
    folder = stage_files()["stage.js"].parent
    long = [
        f"{file.name}:{number}"
        for file in sorted([*folder.glob("*.js"), *folder.glob("*.css")])
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > 120
    ]
    assert long == []
