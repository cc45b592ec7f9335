"""The small world is complete and consistent, true where this can be checked, and read and written without loss."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.labs.ask import world as worlds
from core.labs.ask.tasks import questions
from core.labs.ask.world import Question, lookup_form
from core.package_data import table
from tests.support.chance import tenth

WORLD = worlds.load()
KNOWN = list(WORLD.known())


def test_it_is_large_enough() -> None:
    assert len(WORLD.things) >= 70
    assert len(WORLD.abilities) >= 14
    assert len(WORLD.kinds) >= 12


def test_every_rule_holds_for_more_members_than_it_fails_for() -> None:
    for kind, members in WORLD.kinds.items():
        for ability in WORLD.abilities:
            if WORLD.rule(kind, ability) is not None:
                broken = WORLD.exceptions(kind, ability)
                assert len(broken) * 2 < len(members) + 1, (kind, ability, broken)


def test_where_a_kind_has_a_rule_the_world_knows_the_fact_for_every_member() -> None:
    for thing, kind in WORLD.things.items():
        for ability in WORLD.abilities:
            rule = WORLD.rule(kind, ability)
            if rule is not None:
                assert WORLD.fact(thing, ability) is (rule != (thing in WORLD.exceptions(kind, ability)))


def test_enough_kinds_are_split_for_an_explanation_to_go_wrong() -> None:
    split = [(kind, ability) for kind in WORLD.kinds for ability in WORLD.abilities if WORLD.exceptions(kind, ability)]
    assert len(split) >= 25


@pytest.mark.parametrize(
    ("question", "truth"),
    [
        ("Can penguins fly?", False),
        ("Can an ostrich fly?", False),
        ("Can an eagle fly?", True),
        ("Can a kakapo climb trees?", True),
        ("Can a bat fly?", True),
        ("Can a platypus lay eggs?", True),
        ("Can a whale breathe under water?", False),
        ("Can a hippo swim?", False),
        ("Could a trout swim?", True),
        ("Can a guppy lay eggs?", False),
        ("Can an electric eel breathe air?", True),
        ("Can a flying fish fly?", False),
        ("Can a flea fly?", False),
        ("Can a wasp sting?", True),
        ("Can an adder lay eggs?", False),
        ("Would a pear float?", True),
        ("Would a grape float?", False),
        ("Does a pineapple grow on trees?", False),
        ("Can potatoes be eaten raw?", False),
        ("Can carrots grow underground?", True),
        ("Can an ice lolly melt in the sun?", True),
        ("Can a submarine travel under water?", True),
        ("Can a paper boat carry passengers?", False),
        ("Can a steam train run on electricity?", False),
        ("Can a helicopter hover?", True),
        ("Could Concorde break the sound barrier?", True),
        ("Can Reykjavik be reached by train?", False),
        ("Can Neptune be seen with the naked eye?", False),
        ("Can an axe cut wood?", True),
        ("Can a gas stove run on electricity?", False),
        ("Does a cork float?", True),
        ("Can penguins swim?", True),
        ("Can eagles swim?", None),
        ("Can a penguin melt in the sun?", None),
    ],
)
def test_facts(question: str, truth: bool | None) -> None:
    read = WORLD.read(question)
    assert read is not None
    assert WORLD.truth(read) is truth


def test_the_ready_made_questions_of_this_world_are_answered_as_their_key_says() -> None:
    ours = [one for one in questions() if one.world]
    assert len(ours) >= 10
    for one in ours:
        read = WORLD.read(one.question)
        assert read is not None, one.question
        assert WORLD.truth(read) is (one.answer == "yes"), one.question


@pytest.mark.parametrize("negated", [False, True])
def test_what_is_written_is_read_for_every_thing_and_ability(negated: bool) -> None:
    for thing in WORLD.things:
        for ability in WORLD.abilities:
            question = Question(thing, ability, negated)
            assert WORLD.read(WORLD.write(question)) == question


@pytest.mark.parametrize("opening", ["Can {}", "could {}", "Is it true that {} can", "Do you think {} could", "Do {}"])
def test_plurals_are_read(opening: str) -> None:
    for thing in WORLD.things:
        assert WORLD.read(f"{opening.format(WORLD.plural(thing))} fly?") == Question(thing, "fly")


_ASKED = st.builds(
    lambda known, before, inserted, end: (
        known,
        f"{before} {inserted} {known.thing} {known.ability}{end}",
    ),
    st.sampled_from(KNOWN),
    st.sampled_from(["Can a", "can the", "COULD any", "Would every", "  Can \n an"]),
    st.sampled_from(["", "typical", "really", "ordinary adult", "normally"]),
    st.sampled_from(["?", "", " ??", ".", " \n"]),
)


@given(_ASKED)
def test_case_space_punctuation_and_inserted_words_do_not_matter(asked: tuple[Question, str]) -> None:
    known, text = asked
    assert WORLD.read(text) == known
    assert WORLD.read(text.upper()) == known


@pytest.mark.parametrize(
    "text",
    [
        "Can't a penguin fly?",
        "Can’t penguins fly?",
        "Cannot a penguin fly?",
        "Can a penguin not fly?",
        "Is it true that penguins cannot fly?",
        "Is it true that a penguin can't fly?",
        "Couldn't a penguin fly?",
        "Are penguins not able to fly?",
        "Don't penguins fly?",
    ],
)
def test_negations(text: str) -> None:
    question = WORLD.read(text)
    assert question == Question("penguin", "fly", negated=True)
    assert WORLD.truth(question) is True


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "Can",
        "Can a penguin",
        "Can fly",
        "Can a young penguin fly?",
        "Can no penguin fly?",
        "Can birds fly?",
        "Can a dragon fly?",
        "Can't a penguin not fly?",
        "Can a penguin fly and swim?",
        "Is it false that penguins can fly?",
        "Is it not true that penguins can fly?",
        "Is it hard to find a BLT in Casablanca?",
    ],
)
def test_what_is_outside_is_not_guessed_at(text: str) -> None:
    assert WORLD.read(text) is None


@settings(max_examples=tenth(40))
@given(st.text())
def test_any_text_is_read_or_not_and_gets_suggestions(text: str) -> None:
    WORLD.read(text)
    suggestions = WORLD.suggestions(text)
    assert len(set(suggestions)) == 3
    read = [WORLD.read(suggestion) for suggestion in suggestions]
    assert all(question and WORLD.truth(question) is not None for question in read)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("Can pengins fly?", "Can a penguin fly?"),
        ("Can a shark lay eggs?", "Can a hammerhead shark lay eggs?"),
        ("Can a potatoe be eaten raw?", "Can a potato be eaten raw?"),
    ],
)
def test_suggestions_come_nearest_first_and_differ(text: str, nearest: str) -> None:
    suggestions = WORLD.suggestions(text)
    assert suggestions[0] == nearest
    read = [question for suggestion in suggestions if (question := WORLD.read(suggestion))]
    assert len({question.ability for question in read}) == 3
    assert len({WORLD.things[question.thing] for question in read}) == 3


def test_articles() -> None:
    assert WORLD.write(Question("ostrich", "fly")) == "Can an ostrich fly?"
    assert WORLD.write(Question("unicycle", "fly")) == "Can a unicycle fly?"
    assert WORLD.write(Question("Paris", "fly")) == "Can Paris fly?"
    assert WORLD.write(Question("spinach", "fly", negated=True)) == "Is it true that spinach cannot fly?"


def test_the_world_file_contradicts_itself_nowhere() -> None:
    world = table("controls/world")
    kinds = world["kinds"]
    things = [thing for kind in kinds.values() for thing in kind["things"]]
    assert len(set(things)) == len(things) and all(kind["things"] for kind in kinds.values())
    entries = [*kinds.values(), *(entry for kind in kinds.values() for entry in kind["things"].values())]
    claims = [(set(one.get("can", ())), set(one.get("cannot", ()))) for one in entries]
    assert all(can.isdisjoint(cannot) for can, cannot in claims)
    assert set().union(*(can | cannot for can, cannot in claims)) == set(world["abilities"])
    for kind in kinds.values():
        for thing, entry in kind["things"].items():
            assert set(entry.get("can", ())).isdisjoint(kind.get("can", ())), thing
            assert set(entry.get("cannot", ())).isdisjoint(kind.get("cannot", ())), thing


def test_no_form_of_a_word_has_two_meanings() -> None:
    world = table("controls/world")
    of_things = {
        thing: {thing, WORLD.plural(thing), *entry.get("also", ())}
        for kind in world["kinds"].values()
        for thing, entry in kind["things"].items()
    }
    of_kinds = {name: {name, kind["plural"]} for name, kind in world["kinds"].items()}
    of_abilities = {name: {name, *also} for name, also in world["abilities"].items()}
    for spelt in (of_things, of_kinds, of_abilities):
        forms = [form for each in spelt.values() for form in {lookup_form(one) for one in each}]
        assert "" not in forms and len(set(forms)) == len(forms)
