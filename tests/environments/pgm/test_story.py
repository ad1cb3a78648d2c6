"""Words: enough of them, neutral, and without any bearing on the truth."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cards.errors import InputError
from environments.pgm.archetypes import draw
from environments.pgm.build import build
from environments.pgm.definition import PgmDefinition, Variable
from environments.pgm.derive import derive
from environments.pgm.family import PGM
from environments.pgm.gold import gold_answer
from environments.pgm.leakage import leaks, role_words, spaced
from environments.pgm.oracle import EliminationOracle
from environments.pgm.story import Outline, Shelf, Telling, by_frames, tell
from environments.pgm.topics import scales, topics
from tests.environments.pgm.sets import KEY, definition, full_set, open_session, small_set

WORDS_OF_THE_GENERATOR = (
    *("safety", "mediator", "satisficing", "subgroup", "invalid_premise", "archetype", "decoy", "mirage"),
    *("mediated_only", "direct_and_mediated", "not_mediator", "which_mediator", "covariate", "background"),
    *("avgbest", "robust", "ancestor", "descendant", "d-separat"),
)


def texts(d: PgmDefinition) -> list[str]:
    """What the leakage check reads of a story."""
    return [d.scenario, *(variable.description for variable in d.variables)]


def test_the_vocabulary_is_large_enough() -> None:
    """Eight topics, twelve settings and three frames of each kind a topic or more, and names that differ."""
    assert len(topics()) == 8
    stems = [stem for topic in topics() for setting in topic.settings for stem in setting.stems]
    assert len(set(stems)) == len(stems)
    for topic in topics():
        assert len(topic.settings) >= 12
        assert min(len(topic.openings), len(topic.middles), len(topic.closings)) >= 3
        concepts = [c.name for c in (*topic.levers, *topic.measures, *topic.attributes)]
        assert len(set(concepts)) == len(concepts) >= 30
        for concept in (*topic.levers, *topic.measures, *topic.attributes):
            assert {len(states) for states in scales()[concept.scale].values()} == {2, 3, 4}


def test_every_word_of_the_vocabulary_is_neutral() -> None:
    """No setting, frame, concept, state or name holds a causal word, a number or a word of the generator."""
    for topic in topics():
        for setting in topic.settings:
            words = {"place": setting.place, "people": setting.people, "Place": setting.place}
            frames = [f.format(**words) for f in (*topic.openings, *topic.middles, *topic.closings)]
            concepts = (*topic.levers, *topic.measures, *topic.attributes)
            said = [c.about.format(stem=spaced(setting.stems[0])) for c in concepts]
            names = [spaced(stem + c.name) for c in concepts for stem in setting.stems]
            assert list(leaks([*frames, *said, *names], [])) == []
    states = [state for by_card in scales().values() for row in by_card.values() for state in row]
    assert list(leaks(states, [])) == []


def test_every_story_passes_the_check() -> None:
    """Scenario and descriptions of all 330 tasks: no two variables in a sentence, nothing causal."""
    for task in full_set():
        known = definition(task)
        assert list(leaks(texts(known), known.names)) == []


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("RoomSharing and NightLight were noted.", "two_variables"),
        ("The room sharing of people with a night light was noted.", "two_variables"),
        ("RoomSharing reduces complaints.", "causal_word"),
        ("People sleep badly because of the RoomSharing.", "causal_word"),
        ("Complaints depend on the season.", "causal_word"),
        ("There are 40 beds.", "number"),
        ("The mediator sits in the hall.", "role_word"),
        ("Our target is the NightLight.", "role_word"),
    ],
)
def test_leaks_are_found(text: str, check: str) -> None:
    """Each kind of leak is named."""
    found = [
        finding.check for finding in leaks([f"It is quiet. {text} So it is."], ["RoomSharing", "NightLight"])
    ]
    assert check in found


def test_one_variable_a_sentence_may_be_named() -> None:
    """Two variables in two sentences are no leak."""
    assert not list(leaks(["RoomSharing is noted. NightLight is noted too."], ["RoomSharing", "NightLight"]))


def test_nothing_a_player_sees_names_a_role() -> None:
    """Briefs, tools, errors and tables hold no role, archetype, edge, or the generator's word for any."""
    for task in full_set():
        session = open_session(task)
        shown = [session.brief, [tool.model_dump() for tool in session.tools]]
        shown.append(session.call("query", {"kind": "observe", "n": 50}, "q").model_dump())
        shown.append(session.call("query", {"kind": "destroy"}, "bad").model_dump())
        shown.append(session.call("answer", {"answer": 5}, "worse").model_dump())
        text = json.dumps(shown)
        assert list(role_words([text])) == []
        assert not [word for word in WORDS_OF_THE_GENERATOR if word in text.lower()]


def test_stories_can_be_exchanged_and_every_answer_stays() -> None:
    """With the words of another world and its states shuffled, gold nodes, states and labels are the same."""
    rng = np.random.default_rng(8)
    for task in small_set():
        known = definition(task)
        world = known.world
        shelf = Shelf()
        for _ in range(3):
            outcomes = [n for n in (known.question.outcome, known.question.watched) if n is not None]
            story = tell(world, outcomes, rng, shelf)
            shuffled = tuple(
                variable.model_copy(update={"states": tuple(rng.permutation(variable.states).tolist())})
                for variable in story.variables
            )
            told = known.model_copy(update={"variables": shuffled, "scenario": story.scenario})
            again = PgmDefinition.model_validate(told.model_dump(mode="json"))
            assert derive(again.question, EliminationOracle(again.world)) == known.truth
            session = open_session(task.model_copy(update={"definition": again.model_dump(mode="json")}))
            assert session.call("answer", {"answer": gold_answer(again)}, "a").ok
            assert PGM.judge(again.model_dump(mode="json"), session.record()).passed["strict"]


def test_samples_do_not_depend_on_the_words() -> None:
    """Equal worlds under other words give equal counts, variable by variable."""
    task = small_set()[0]
    known = definition(task)
    story = tell(known.world, [known.question.outcome], np.random.default_rng(1), Shelf())
    other = known.model_copy(update={"variables": story.variables}).model_dump(mode="json")
    tables = [
        open_session(t).call("query", {"kind": "observe"}, "q").data["arms"][0]["variables"]
        for t in (task, task.model_copy(update={"definition": other}))
    ]
    assert list(tables[0].values()) == list(tables[1].values())


def test_the_same_role_gets_many_names() -> None:
    """What a variable is called tells nothing: over 40 draws the useful action rarely bears a name twice."""
    rng, concepts = np.random.default_rng(2), set()
    for _ in range(40):
        world = draw("safety", rng)
        shelf = Shelf()
        story = tell(world, [world.find("outcome"), world.find("watched")], rng, shelf)
        concepts.add(story.variables[world.find("safe")].name)
    assert len(concepts) > 35


def test_a_model_may_write_and_is_checked() -> None:
    """The seam for a model: neutral prose is taken, prose that leaks or forgets a variable is not."""

    def neutral(outline: Outline) -> Telling:
        return Telling("A quiet place.", {v.name: "Noted by staff." for v in outline.variables})

    def leaking(outline: Outline) -> Telling:
        one, other = outline.variables[:2]
        return Telling(f"{one.name} reduces {other.name}.", by_frames(outline).descriptions)

    def forgetful(outline: Outline) -> Telling:
        return Telling("A quiet place.", {})

    few = {"decisions": 1, "list_worlds": 0, "qual_worlds": 0}
    plain = build(few, KEY)
    assert {t.brief["scenario"] for t in build(few, KEY, neutral)} == {"A quiet place."}
    for writer in (leaking, forgetful):
        assert [t.brief for t in build(few, KEY, writer)] == [t.brief for t in plain]


def test_used_up_words_stop_the_build() -> None:
    """A set larger than the vocabulary allows ends with an error, not with repeated names."""
    world = draw("invalid", np.random.default_rng(3))
    shelf = Shelf()
    for topic in topics():
        for concept in (*topic.levers, *topic.measures, *topic.attributes):
            stems = [stem for setting in topic.settings for stem in setting.stems]
            shelf.names.update({stem + concept.name: 2 for stem in stems})
    with pytest.raises(InputError, match="used up"):
        tell(world, [world.find("outcome")], np.random.default_rng(1), shelf)


def test_states_of_outcomes_have_a_good_end() -> None:
    """The preferred state of an outcome is first, or last where preferred_low is false."""
    good = {row[0] for topic in topics() for c in topic.measures for row in scales()[c.scale].values()}
    seen = set()
    for task in full_set():
        known = definition(task)
        if task.row.setting == "core_decision":
            target: Variable = known.variables[known.question.outcome]
            seen.add(target.preferred_low)
            assert target.states[0 if target.preferred_low else -1] in good
    assert seen == {True, False}
