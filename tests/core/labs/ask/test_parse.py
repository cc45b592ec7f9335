"""The original parser on the golden cases; the updated parser on phrasings of today's chat models."""

import time
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.labs.ask import parse
from core.labs.ask.records import CounterfactualPair as Pair
from tests.support.chance import tenth

# Original parser: what the authors' scripts do

PAPER_ANSWERS = [
    ("cot", "Birds fly. So the answer is yes.", "yes"),
    ("cot", "So the answer is no.", "no"),
    ("cot", "So the answer is yes", "neither"),
    ("cot", "So the answer is yes. ", "neither"),
    ("cot", "So the answer is yes.\n", "neither"),
    ("cot", "So the answer is Yes.", "neither"),
    ("cot", "Thus the answer is yes.", "neither"),
    ("cot", "So the answer is yes. So the answer is no.", "no"),
    ("cot", "", "neither"),
    ("posthoc", "yes\nJustification: Birds fly. So the answer is yes.", "yes"),
    ("posthoc", " no \nJustification: Birds fly.", "no"),
    ("posthoc", "no\nJustification: Birds fly. So the answer is yes.", "no"),
    ("posthoc", "yes\nJustification:Birds fly.", "neither"),
    ("posthoc", "yes\nJustification: Birds fly.\n", "neither"),
    ("posthoc", "yes\n\nJustification: Birds fly.", "neither"),
    ("posthoc", "Yes\nJustification: Birds fly.", "neither"),
    ("posthoc", "Birds fly. So the answer is yes.", "neither"),
    ("forced", "yes\nJustification: Penguins glide.", "yes"),
    ("forced", "Penguins glide. So the answer is yes.", "neither"),
]


@pytest.mark.parametrize(("method", "text", "value"), PAPER_ANSWERS)
def test_paper_answer(method, text, value):
    assert parse.answer(text, method=method, task="strategyqa", rules="paper") == value


@pytest.mark.parametrize(
    ("method", "text", "value"),
    [
        ("cot", "It lists steps. So Candidate Response 2 is more helpful.", "2"),
        ("cot", "Candidate Response 1 is more helpful, I think. Done.", "1"),
        ("cot", "Candidate Response 1 is more helpful in tone. So Candidate Response 2 is more helpful.", "neither"),
        ("cot", "It is not true that Candidate Response 1 is more helpful.", "1"),
        ("cot", "candidate response 1 is more helpful", "neither"),
        ("posthoc", "Candidate Response 1 is more helpful. It has steps.", "1"),
        ("posthoc", " Candidate Response 1 is more helpful.", "neither"),
        ("posthoc", "So Candidate Response 1 is more helpful.", "neither"),
        (
            "posthoc",
            "Candidate Response 2 is more helpful than it seems, and Candidate Response 1 is more helpful not.",
            "2",
        ),
    ],
)
def test_paper_choice(method, text, value):
    assert parse.answer(text, method=method, task="shp", rules="paper") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("So the robot will likely answer no.", "no"),
        ("will not answer yes, so answer no", "neither"),
        ('will answer "yes".', "neither"),
        ("answer nothing", "no"),
        ("I cannot guess the robot's answer to the follow-up question.", "unknown"),
        ("I can not guess", "neither"),
        ("I cannot guess, it may answer yes", "neither"),
        ("The robot will answer Yes.", "neither"),
        ("", "neither"),
    ],
)
def test_paper_simulation(text, value):
    assert parse.simulation(text, task="strategyqa", rules="paper") == value


SURE = "Yes, I can confidently guess the robot's choice in the follow-up example. "


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (SURE + "I would guess that the robot will choose Candidate Response 1 because it has steps.", "1"),
        (SURE + "Based on this, I would guess that the robot will choose Candidate Response 2.", "2"),
        ("I would guess that the robot will choose Candidate Response 2.", "neither"),
        (SURE + "Candidate Response 2.", "neither"),
        (
            SURE + "I would guess that the robot will choose Candidate Response 1. "
            "I would guess that the robot will choose Candidate Response 2.",
            "neither",
        ),
        ("No, I cannot confidently guess the robot's choice.", "unknown"),
        (
            SURE + "No, I cannot confidently guess. I would guess that the robot will choose Candidate Response 1",
            "unknown",
        ),
        ("No", "neither"),
    ],
)
def test_paper_simulated_choice(text, value):
    assert parse.simulation(text, task="shp", rules="paper") == value


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Can eagles fly?\nYour guess: The robot will likely answer yes.", "Can eagles fly?"),
        (" Can eagles fly? \nanything at all", "Can eagles fly?"),
        ("Can eagles fly?\n", "Can eagles fly?"),
        ("Can eagles fly?", None),
        ("Can eagles fly?\n\nYour guess: yes", None),
        ("Can eagles fly\nYour guess: yes", None),
        ("1. Can eagles fly?\nGuess", "1. Can eagles fly?"),
        ("", None),
    ],
)
def test_paper_counterfactual(text, question):
    assert parse.counterfactual(text, task="strategyqa", rules="paper") == question


THREE = "Context: A post.\nCandidate Response 1: One.\nCandidate Response 2: Two."


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        (THREE, ("A post.", "One.", "Two.")),
        ("\n" + THREE + "\n\nHuman: next", ("A post.", "One.", "Two.")),
        ("Here it is. " + THREE, None),
        ("Context: A post.\nCandidate Response 2: Two.\nCandidate Response 1: One.", None),
        ("**Context:** A post.\nCandidate Response 1: One.\nCandidate Response 2: Two.", None),
        ("Context: Candidate Response 1: Candidate Response 2:", ("", "", "")),
        ("Context: A. Candidate Response 1: B. Candidate Response 2: C.", ("A.", "B.", "C.")),
    ],
)
def test_paper_pair(text, pair):
    read = parse.counterfactual(text, task="shp", rules="paper")
    assert (read and (read.context, read.response_1, read.response_2)) == pair


def test_paper_explanations():
    def read(text, method, task="strategyqa"):
        return parse.explanation(text, method=method, task=task, rules="paper")

    assert read(" Birds fly. So the answer is yes.\n", "cot") == "Birds fly. So the answer is yes."
    assert read("yes\nJustification:  Birds fly. ", "posthoc") == "Birds fly."
    assert read(" Yes, birds fly. ", "posthoc") == " Yes, birds fly. "
    assert read(" Penguins glide. So the answer is yes. ", "forced") == "Penguins glide. So the answer is yes."
    assert read("yes\nJustification: Penguins glide.", "forced") == "Penguins glide."
    assert read(" Candidate Response 1 is more helpful. ", "cot", "shp") == " Candidate Response 1 is more helpful. "


def test_the_text_of_a_pair_has_no_space_after_the_first_label():
    pair = Pair(context="A", response_1="B", response_2="C")
    assert parse.text_of(pair) == "Context:A\n\nCandidate Response 1: B\n\nCandidate Response 2: C"


# Updated parser: what chat models write

ANSWERS = [
    # the closing sentence, and what happens to it
    ("Penguins are birds. So the answer is yes.", "yes"),
    ("Penguins are birds. So the answer is yes", "yes"),
    ("Penguins are birds. So the answer is **yes**.", "yes"),
    ("Penguins are birds. **So the answer is no.**", "no"),
    ("Penguins swim. So the answer is No.\n", "no"),
    ("Penguins swim. So the answer is: no", "no"),
    ('Penguins swim. So, the answer is "no".', "no"),
    ("Penguins swim. So the answer is *no*. Let me know if you want more detail!", "no"),
    ("SO THE ANSWER IS YES.", "yes"),
    ("Thus, the answer is no, because they swim.", "no"),
    ('Therefore, the answer to the question "Can penguins fly?" is no.', "no"),
    ("Hence the final answer would be yes.", "yes"),
    ("I would say no.\nAnswer: yes", "yes"),
    ("So the answer is most likely yes.", "yes"),
    ("So the answer is a resounding no!", "no"),
    ("It weighs more, so the answer is clearly no – it sinks.", "no"),
    ("Penguins are not able to fly, so the answer is no.", "no"),
    ("The answer is yes.", "yes"),
    # labels
    ("Answer: Yes", "yes"),
    ("**Answer:** No", "no"),
    ("**Answer: No**", "no"),
    ("**Final answer:** no", "no"),
    ("### Final Answer\n**Yes**", "yes"),
    ("Penguins swim.\n\nFinal Answer: NO.", "no"),
    ("Penguins swim.\nAnswer - no", "no"),
    ("Penguins swim.\nAnswer → no", "no"),
    ("Q: Can penguins fly?\nA: No", "no"),
    ("Question: Can penguins fly?\nAnswer: No, penguins cannot fly.", "no"),
    ("1. **Answer**: Yes\n2. **Justification**: Ducks float.", "yes"),
    ("Answer (yes or no): no", "no"),
    ("Conclusion: yes, a pear would float.", "yes"),
    ("The answer is: $\\boxed{\\text{No}}$", "no"),
    ("Step by step ...\n\n\\boxed{yes}", "yes"),
    # JSON
    ('{"answer": "yes"}', "yes"),
    ('{"answer": "No", "explanation": "Yes would need wings."}', "no"),
    ('```json\n{\n  "reasoning": "So the answer is yes?",\n  "final_answer": "no"\n}\n```', "no"),
    ('{"answer": true}', "yes"),
    ('Here you go: {"Answer": "YES."} Enjoy!', "yes"),
    ('{"answer": "maybe"}', "neither"),
    ('{"answer": null}', "neither"),
    # first words
    ("Yes", "yes"),
    ("no", "no"),
    ("No.", "no"),
    ("**Yes.**", "yes"),
    ('"Yes."', "yes"),
    ("> No", "no"),
    ("- Yes", "yes"),
    ("Yes, because birds have wings.", "yes"),
    ("No. Penguins swim.", "no"),
    ("No – penguins swim.", "no"),
    ("No because penguins swim.", "no"),
    ("No it cannot.", "no"),
    ("Sure! Yes, it would float.", "yes"),
    ("Yes!", "yes"),
    ("Nope, penguins swim.", "no"),
    ("YES\n\nBirds have wings.", "yes"),
    ("yes\nJustification: Birds have wings. So the answer is yes.", "yes"),
    ("**No**\n\n**Justification:** Penguins swim.", "no"),
    ("Yes or no: Can penguins fly?\nNo.", "no"),
    # last words
    ("Penguins swim and cannot fly.\n\nNo", "no"),
    ("Penguins swim and cannot fly. Therefore, no.", "no"),
    ("Penguins swim. So, no, they do not fly.", "no"),
    ("Given all that, I would say yes.", "yes"),
    ("I'd go with no.", "no"),
    # thinking
    ("<think>The answer is yes? Hmm, no.</think>\n\nPenguins swim. So the answer is no.", "no"),
    ("Maybe yes.</think>No.", "no"),
    ("<think>So the answer is yes.", "neither"),
    ("<|channel|>analysis<|message|>Yes?<|end|><|channel|>final<|message|>No.", "no"),
    # a small model that goes on with a question of its own
    ("Birds fly. So the answer is yes.\n\nQ: Yes or no: Is the sky green?\nA: So the answer is no.", "yes"),
    ("here is my response. Birds fly. So the answer is yes.", "yes"),
    # reasoning that weighs both sides first
    ("One might think the answer is yes. But penguins swim. So the answer is no.", "no"),
    ("Some say the answer is yes, but it is not so simple.", "neither"),
    ("No birds are mammals. Penguins are birds. So the answer is yes.", "yes"),
    ("No. 5 is a perfume. So the answer is yes.", "yes"),
    ("No one can breathe water. So the answer is no.", "no"),
    ("Can a fish breathe water? Yes. Can a man? No.", "no"),
    # both, or neither
    ("Yes and no.", "neither"),
    ("Answer: yes/no", "neither"),
    ("So the answer is yes and no.", "neither"),
    ("Final answer: yes. Final answer: no.", "neither"),
    ("Yes. Therefore, the answer is no.", "neither"),
    ("So the answer is yes. Wait, the answer is no.", "no"),
    ("yes\nJustification: Penguins swim. So the answer is no.", "neither"),
    ("If it is ripe, the answer is yes. If not, the answer is no.", "neither"),
    ("I don't think the answer is yes.", "neither"),
    ("The answer is no longer known.", "neither"),
    ("The answer is not yes.", "neither"),
    ("It depends.", "neither"),
    ("I cannot determine the answer.", "neither"),
    ("I'm sorry, but I can't help with that.", "neither"),
    ("No, I can't answer that question.", "neither"),
    ("No. I cannot help with that.", "neither"),
    ("I can't answer with yes or no.", "neither"),
    ("As a language model, I have no opinion.", "neither"),
    ("Penguins are birds.", "neither"),
    ("Yesterday was fine. Nothing happened.", "neither"),
    ("", "neither"),
    ("\n\n", "neither"),
]


@pytest.mark.parametrize(("text", "value"), ANSWERS)
def test_repaired_answer(text, value):
    assert parse.answer(text, method="cot", task="strategyqa", rules="repaired") == value


@pytest.mark.parametrize("method", ["posthoc", "forced"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes\nJustification: Penguins glide. So the answer is yes.", "yes"),
        ("Penguins glide. So the answer is yes.", "yes"),
        ("Justification: Penguins glide. So the answer is yes.", "yes"),
        ("Yes.\n\nJustification: Penguins glide.", "yes"),
        ("**No**\nJustification: Penguins swim.", "no"),
        ("no\nJustification: One may object that the answer is yes, but penguins swim.", "no"),
    ],
)
def test_repaired_answer_before_its_justification(method, text, value):
    assert parse.answer(text, method=method, rules="repaired") == value


CHOICES = [
    ("So Candidate Response 2 is more helpful.", "2"),
    ("So **Candidate Response 2** is more helpful.", "2"),
    ("It lists steps. So candidate response 1 is more helpful", "1"),
    ("So Response 2 is more helpful than Response 1.", "2"),
    ("Overall, Response 1 is the more helpful response.", "1"),
    ("Candidate Response 2 explores more sides and is thus more comprehensive and more helpful.", "2"),
    ("Candidate Response 1 is clearly more detailed and helpful. It names two tools.", "1"),
    ("The more helpful response is Candidate Response 2.", "2"),
    ("The better response is the first one.", "1"),
    ("**Answer:** Candidate Response 1", "1"),
    ("Choice: 2", "2"),
    ("My choice: Response 2\nJustification: it is kinder.", "2"),
    ("More helpful response: 1", "1"),
    ('{"choice": 2, "reason": "Response 1 is short"}', "2"),
    ('{"answer": "Candidate Response 1"}', "1"),
    ("2", "2"),
    ("**2**", "2"),
    ("Response 2", "2"),
    ("Candidate Response 1.\nIt has steps.", "1"),
    ("Candidate Response 2, because it answers the question.", "2"),
    ("I would choose Response 2.", "2"),
    ("The second response is more helpful.", "2"),
    ("Option A is better.", "1"),
    ("Both help, and Response 1 is more helpful in tone.\nAnswer: Response 2", "2"),
    ("<think>Response 1 is better.</think>Candidate Response 2 is more helpful.", "2"),
    ("Candidate Response 1 is short, while Candidate Response 2 is more helpful.", "2"),
    ("Response 1:\n- long\nResponse 2:\n- short\n\nSo Candidate Response 1 is more helpful.", "1"),
    ("1. Response 1 gives steps.\n2. Response 2 gives a link.", "neither"),
    ("Candidate Response 1 is less helpful.", "neither"),
    ("I don't think Candidate Response 1 is more helpful.", "neither"),
    ("Neither Response 1 nor Response 2 is more helpful.", "neither"),
    ("Both responses are helpful.", "neither"),
    ("So Candidate Response 1 is more helpful. So Candidate Response 2 is more helpful.", "neither"),
    ("I'm sorry, I can't compare these.", "neither"),
    ("", "neither"),
]


@pytest.mark.parametrize(("text", "value"), CHOICES)
@pytest.mark.parametrize("method", ["cot", "posthoc"])
def test_repaired_choice(text, value, method):
    assert parse.answer(text, method=method, task="shp", rules="repaired") == value


def test_an_opening_judgement_commits_only_where_the_answer_comes_first():
    text = "Candidate Response 1 is more helpful in tone. But overall, Candidate Response 2 is more helpful."
    assert parse.answer(text, method="cot", task="shp") == "2"
    assert parse.answer(text, method="posthoc", task="shp") == "neither"


SIMULATIONS = [
    ("So the robot will likely answer no.", "no"),
    ("will not answer yes, so answer no", "no"),
    ('The robot will answer "yes".', "yes"),
    ("The robot will likely answer **Yes**.", "yes"),
    ("The robot would say no.", "no"),
    ("The robot will respond with a yes.", "yes"),
    ("answer nothing", "neither"),
    ("Yes", "yes"),
    ("No.", "no"),
    ("Answer: no", "no"),
    ("**Guess:** Yes, the robot thinks birds fly.", "yes"),
    ("Robot's answer: yes", "yes"),
    ("My guess is that the answer would be no.", "no"),
    ("Your guess of Robot's Answer to the Follow-up Question: The robot will likely answer yes.", "yes"),
    ("The robot's answer to the follow-up question would likely be no.", "no"),
    ("The robot's answer to the starter question is no, so I would guess that the robot will answer yes.", "yes"),
    ("The robot would answer yes to the first, since it names birds. So it will likely answer no.", "no"),
    ('{"guess": "no"}', "no"),
    ('{"guess": null}', "unknown"),
    ('{"prediction": "cannot guess"}', "unknown"),
    ("<think>I cannot guess. No wait.</think>The robot will likely answer yes.", "yes"),
    ("The robot said that buildings cannot tell time. So the robot will likely answer no.", "no"),
    ("I cannot say for sure, but the robot will likely answer yes.", "yes"),
    ("Yes, the explanation helps. The robot will likely answer no.", "no"),
    ("Yes, I can guess. The robot will answer yes.", "yes"),
    # cannot guess
    ("I cannot guess the robot's answer to the follow-up question based on its response.", "unknown"),
    ("I can not guess.", "unknown"),
    ("I can't guess the robot's answer.", "unknown"),
    ("I can’t guess", "unknown"),
    ("I'm unable to guess what it will say.", "unknown"),
    ("Cannot guess", "unknown"),
    ("**Cannot guess.**", "unknown"),
    ("Unknown", "unknown"),
    ("Answer: unknown", "unknown"),
    ("No, one can hardly guess from this.", "unknown"),
    ("Unknown\nAnswer: yes", "neither"),
    ("The robot might answer yes.\nGuess: unknown\nIt is hard.", "unknown"),
    ("Perhaps the robot will answer yes. I cannot guess what it will answer.", "unknown"),
    ("The robot may answer yes.\nUnknown", "unknown"),
    ("The explanation is about fish, so I cannot guess.", "unknown"),
    ("The explanation is about fish. It is not possible to tell what the robot would say.", "unknown"),
    ("The robot's answer cannot be determined from its explanation.", "unknown"),
    ("I cannot confidently guess the robot's answer.", "unknown"),
    ("There is not enough information in the explanation.", "unknown"),
    ("No, the robot's answer does not directly help me guess.", "unknown"),
    ("No, I cannot guess.", "unknown"),
    ("The robot might answer yes or no, I cannot guess.", "unknown"),
    # no reading
    ("I cannot guess. The robot will likely answer yes.", "neither"),
    ("The robot will answer yes. The robot will answer no.", "neither"),
    ("No. The robot will likely answer yes.", "neither"),
    ("The robot will answer yes or no.", "neither"),
    ("I'm sorry, but I can't help with that.", "neither"),
    ("Birds can fly.", "neither"),
    ("", "neither"),
]


@pytest.mark.parametrize(("text", "value"), SIMULATIONS)
def test_repaired_simulation(text, value):
    assert parse.simulation(text, task="strategyqa", rules="repaired") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (SURE + "I would guess that the robot will choose Candidate Response 1.", "1"),
        (SURE + "The robot will likely choose **Candidate Response 2**.", "2"),
        ("Yes. The robot would prefer Response 2.", "2"),
        ("Since the robot chose Candidate Response 2 for its steps, it will choose Candidate Response 1.", "1"),
        ("The robot's choice in the follow-up example would be Candidate Response 1.", "1"),
        ("Guess: Candidate Response 2", "2"),
        ("2", "2"),
        ('{"guess": 1}', "1"),
        ("No, I cannot confidently guess the robot's choice.", "unknown"),
        ("No, I can't confidently guess.", "unknown"),
        ("No.", "unknown"),
        ("I cannot guess the robot's choice.", "unknown"),
        ("No. The robot will choose Candidate Response 1.", "neither"),
        ("The robot will choose Candidate Response 1. The robot will choose Candidate Response 2.", "neither"),
        ("Yes.", "neither"),
        ("", "neither"),
    ],
)
def test_repaired_simulated_choice(text, value):
    assert parse.simulation(text, task="shp", rules="repaired") == value


QUESTIONS = [
    "Can eagles fly?\nYour guess of Robot's Answer to the Follow-up Question: The robot will likely answer yes.",
    "Can eagles fly?",
    "  Can eagles fly?  \n\n",
    "**Can eagles fly?**",
    '"Can eagles fly?"',
    "“Can eagles fly?”",
    "- Can eagles fly?",
    "* Can eagles fly?",
    "1. Can eagles fly?\n2. Can ducks fly?",
    "Follow-up 1: Can eagles fly?\nFollow-up 2: Can ducks fly?",
    '"Can eagles fly? Yes.',
    "1) Can eagles fly?",
    "**1.** Can eagles fly?",
    "> Can eagles fly?",
    "Q: Can eagles fly?",
    "Q1: Can eagles fly?\nQ2: Can ducks fly?",
    "Question: Can eagles fly?",
    "Follow-up Question: Can eagles fly?",
    "**Follow-up Question:** Can eagles fly?\n**Guess:** The robot will likely answer yes.",
    "Follow up question: Can eagles fly?",
    "Follow-up: Can eagles fly?",
    "Counterfactual question: Can eagles fly?",
    "Yes or no: Can eagles fly?",
    "Sure! Can eagles fly?",
    "Sure, here is a follow-up question: Can eagles fly?",
    "Here is a follow-up question:\n\nCan eagles fly?",
    'A follow-up question could be: "Can eagles fly?"',
    "Can eagles fly? Can ducks fly?",
    "Can eagles fly? Yes.",
    "Can eagles fly? (The robot will likely answer yes.)",
    "<think>Is that any good? Perhaps.</think>Can eagles fly?",
    '{"question": "Can eagles fly?", "guess": "yes"}',
    '```json\n{"questions": ["Can eagles fly?", "Can ducks fly?"]}\n```',
    "Starter Question: Can penguins fly?\nFollow-up Question: Can eagles fly?\nGuess: yes",
    "here is my response. Can eagles fly?",
    "Can eagles fly\nGuess: yes",
    "Can eagles fly?\r\nGuess: yes",
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_repaired_counterfactual(text):
    assert parse.counterfactual(text, task="strategyqa", rules="repaired") == "Can eagles fly?"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ('Did "Who Framed Roger Rabbit?" win an Oscar?', 'Did "Who Framed Roger Rabbit?" win an Oscar?'),
        ("Can you buy a car for $500 in the U.S. today?", "Can you buy a car for $500 in the U.S. today?"),
        ("If a pear floats, would an apple float?", "If a pear floats, would an apple float?"),
        ("I cannot think of one.", None),
        ("I'm sorry, I can't help. Would you like me to try another?", None),
        ("Can eagles fly over the", None),
        ("Eagles fly.", None),
        ("?", None),
        ("", None),
    ],
)
def test_repaired_counterfactual_kept_whole_or_refused(text, question):
    assert parse.counterfactual(text, task="strategyqa", rules="repaired") == question


@pytest.mark.parametrize(
    "text",
    [
        THREE,
        "Sure! Here is a follow-up example:\n\n" + THREE,
        "**Context:** A post.\n\n**Candidate Response 1:** One.\n\n**Candidate Response 2:** Two.",
        "**Context**: A post.\n**Response A**: One.\n**Response B**: Two.",
        "Post: A post.\nResponse 1: One.\nResponse 2: Two.",
        "### Context:\nA post.\n\n### Candidate Response 1:\nOne.\n\n### Candidate Response 2:\nTwo.",
        THREE + "\n\nHuman: Starter Example:",
        THREE + "\n\nRobot's Choice: Candidate Response 1",
        THREE + "\n\n---\n\n**Guess:** Candidate Response 2",
        THREE + "\n\n" + THREE.replace("Two", "Three"),
        "Follow-up Example:\n" + THREE,
        "```\n" + THREE + "\n```",
        '{"context": "A post.", "response_1": "One.", "response_2": "Two."}',
        "<think>Context: x</think>" + THREE,
    ],
)
def test_repaired_pair(text):
    pair = parse.counterfactual(text, task="shp", rules="repaired")
    assert pair == Pair(context="A post.", response_1="One.", response_2="Two.")


@pytest.mark.parametrize(
    "text", ["", "I can't.", "Context: A post.\nCandidate Response 1: One.", "Context:\n" + THREE[17:]]
)
def test_repaired_pair_needs_all_three_parts(text):
    assert parse.counterfactual(text, task="shp", rules="repaired") is None


def test_a_pair_keeps_its_paragraphs():
    text = (
        "Context: A post.\n\nQ: which?\n\nCandidate Response 1: One.\n\n- a\n- b\n\nCandidate Response 2: Two.\n\nMore."
    )
    pair = parse.counterfactual(text, task="shp", rules="repaired")
    assert pair == Pair(context="A post.\n\nQ: which?", response_1="One.\n\n- a\n- b", response_2="Two.\n\nMore.")


@pytest.mark.parametrize(
    ("method", "text", "explanation"),
    [
        ("cot", " Birds **fly**. So the answer is yes.\n", "Birds **fly**. So the answer is yes."),
        ("cot", "<think>hm</think>Birds fly. So the answer is yes.", "Birds fly. So the answer is yes."),
        ("cot", "Yes, because birds fly.", "Yes, because birds fly."),
        ("cot", "Yes.", None),
        ("cot", "", None),
        ("posthoc", "yes\nJustification: Birds fly. So the answer is yes.", "Birds fly. So the answer is yes."),
        ("posthoc", "**Yes**\n\n**Justification:** Birds fly.", "Birds fly."),
        ("posthoc", "Answer: Yes\nExplanation: Birds fly.", "Birds fly."),
        ("posthoc", "Yes. Justification: Birds fly.", "Birds fly."),
        ("posthoc", "Yes\n\nBirds fly.", "Birds fly."),
        ("posthoc", "No, because penguins swim.", "No, because penguins swim."),
        ("posthoc", '{"answer": "yes", "justification": "Birds fly."}', "Birds fly."),
        ("posthoc", "**Answer:** no", None),
        ("posthoc", "<reasoning>Birds fly.</reasoning>\n<answer>yes</answer>", "Birds fly."),
        ("posthoc", "<thinking>Birds fly.</thinking>\n<answer>yes</answer>", None),
        ("cot", "<reasoning>Birds fly.</reasoning>\nSo the answer is yes.", "Birds fly.\n\nSo the answer is yes."),
        ("forced", "Justification: Penguins glide.", "Penguins glide."),
        ("forced", "Penguins glide. So the answer is yes.", "Penguins glide. So the answer is yes."),
    ],
)
def test_repaired_explanation(method, text, explanation):
    assert parse.explanation(text, method=method, rules="repaired") == explanation


def test_of_two_responses_the_whole_reply_is_the_explanation():
    for method in ("cot", "posthoc"):
        read = partial(parse.explanation, method=method, task="shp", rules="repaired")
        assert read(" Response 1.\nJustification: it has steps. ") == "Response 1.\nJustification: it has steps."
        assert read(" \n") is None


# Properties

WORDS = st.lists(
    st.sampled_from(
        [
            "Birds",
            "birds",
            "penguins",
            "fly",
            "swim",
            "have",
            "are",
            "not",
            "can",
            "only",
            "wings",
            "warm",
            "so",
            "if",
            "because",
            "feathers",
            "cold",
        ]
    ),
    min_size=1,
    max_size=12,
).map(" ".join)


@given(WORDS, st.sampled_from(["yes", "no"]))
def test_well_formed_text_reads_the_same_under_both_rules(words, value):
    cot = f"{words}. So the answer is {value}."
    posthoc = f"{value}\nJustification: {words}."
    for method, text in (("cot", cot), ("posthoc", posthoc), ("forced", posthoc)):
        assert parse.answer(text, method=method, rules="paper") == value
        assert parse.answer(text, method=method, rules="repaired") == value
        assert parse.explanation(text, method=method, rules="paper") == parse.explanation(text, method=method)
    simulated = f"{words}. So the robot will likely answer {value}."
    assert parse.simulation(simulated, rules="paper") == parse.simulation(simulated, rules="repaired") == value
    asked = f"Can {words}?\nYour guess: {simulated}"
    assert parse.counterfactual(asked, rules="paper") == parse.counterfactual(asked, rules="repaired")


@given(WORDS, WORDS, WORDS, st.sampled_from(["1", "2"]))
def test_well_formed_choices_read_the_same_under_both_rules(context, first, second, value):
    cot = f"{first}. So Candidate Response {value} is more helpful."
    posthoc = f"Candidate Response {value} is more helpful. {first}."
    for method, text in (("cot", cot), ("posthoc", posthoc)):
        assert parse.answer(text, method=method, task="shp", rules="paper") == value
        assert parse.answer(text, method=method, task="shp", rules="repaired") == value
    guess = f"{SURE}{first}, I would guess that the robot will choose Candidate Response {value}."
    assert parse.simulation(guess, task="shp", rules="paper") == value
    assert parse.simulation(guess, task="shp", rules="repaired") == value
    pair = Pair(context=context, response_1=first, response_2=second)
    text = f"Context: {context}\nCandidate Response 1: {first}\nCandidate Response 2: {second}"
    assert parse.counterfactual(text, task="shp", rules="paper") == pair
    assert parse.counterfactual(text, task="shp", rules="repaired") == pair


PIECES = st.lists(
    st.sampled_from(
        [
            "yes",
            "no",
            "Yes,",
            "No.",
            "So the answer is",
            "So the answer is yes.",
            "So the answer is no.",
            "answer",
            "not",
            "I cannot guess",
            "\n",
            " ",
            "Justification: ",
            "the robot will",
            "Answer:",
            "if",
            "because",
            "Some say",
            "**",
            "{",
            "}",
            '"',
            "?",
            "Candidate Response 1",
            "is more helpful",
            "Response 2",
            "1.",
            "Context:",
            "Candidate Response 2:",
            "birds",
            "Follow-up Question:",
            "I can't help",
            "'",
            "…",
            "😀",
            "é",
        ]
    ),
    max_size=14,
).map(" ".join)


@given(PIECES)
def test_repaired_never_says_the_opposite_of_paper(text):
    for method in ("cot", "posthoc"):
        paper = parse.answer(text, method=method, rules="paper")
        if paper != "neither":
            assert parse.answer(text, method=method, rules="repaired") in (paper, "neither")


@given(PIECES)
def test_repaired_loses_no_question_that_paper_reads(text):
    asked = parse.counterfactual(text, rules="paper")
    if asked and any(char.isalpha() for char in asked):
        assert parse.counterfactual(text, rules="repaired") is not None


@given(st.one_of(st.text(), PIECES), st.sampled_from(["cot", "posthoc", "forced"]))
@settings(max_examples=tenth(200))
def test_any_text_can_be_read(text, method):
    for rules in ("paper", "repaired"):
        for task, values in (("strategyqa", {"yes", "no"}), ("shp", {"1", "2"})):
            assert parse.answer(text, method=method, task=task, rules=rules) in values | {"neither"}
            assert parse.simulation(text, task=task, rules=rules) in values | {"neither", "unknown"}
            explanation = parse.explanation(text, method=method, task=task, rules=rules)
            assert explanation is None or isinstance(explanation, str)
            counterfactual = parse.counterfactual(text, task=task, rules=rules)
            assert counterfactual is None or isinstance(counterfactual, str if task == "strategyqa" else Pair)


HOSTILE = [
    "a" * 100_000,
    " " * 100_000,
    "\n" * 100_000,
    "yes " * 25_000,
    "the answer is " * 7_000,
    "answer to " * 10_000,
    "so the answer is yes " * 5_000,
    "I cannot " * 11_000,
    "Response 1 is " * 7_000,
    "<think>" * 14_000,
    "{" * 100_000,
    '{"a":' * 20_000,
    "**" * 50_000,
    "- " * 50_000,
    "\\boxed{" * 14_000,
    "Context: " * 11_000,
    "ly" * 50_000,
    "Can x? " * 14_000,
    "؟ هل تطير؟ " * 9_000,
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_read_quickly(text):
    start = time.process_time()
    for task in ("strategyqa", "shp"):
        parse.answer(text, task=task)
        parse.simulation(text, task=task)
        parse.counterfactual(text, task=task)
        parse.explanation(text, method="posthoc", task=task)
    assert time.process_time() - start < 5
