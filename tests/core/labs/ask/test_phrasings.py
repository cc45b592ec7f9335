"""More phrasings of chat models, one table for each kind of reply, with the updated parser."""

import pytest

from core.labs.ask import parse

ANSWERS = [
    ("Penguins are flightless birds, so no, they cannot fly.", "no"),
    ("No, it would not be hard. Casablanca has many international restaurants.", "no"),
    ("**Yes** – Casablanca is in Morocco, a Muslim-majority country.\n\nSo the answer is **yes**.", "yes"),
    ("**Reasoning:**\n- Pork is rare.\n- BLT contains bacon.\n\n**Answer: Yes**", "yes"),
    ("Let's think step by step.\n1. Hamsters are prey.\n2. Prey are food.\n\nSo the answer is yes.", "yes"),
    (
        "The density of a raw pear is about 0.59 g/cm^3. Objects less dense than water float. Thus, a "
        "pear would float. So the answer is no (it would not sink).",
        "no",
    ),
    ("The answer is **no**, a pear would not sink in water.", "no"),
    ("I believe the answer is yes.", "yes"),
    ("I think the answer is no", "no"),
    ("It's a no.", "no"),
    ("Short answer: no. Long answer: it depends on the breed.", "no"),
    ("Short answer: Yes", "yes"),
    ("In short: yes.", "yes"),
    ("Based on the above, the answer is: Yes.", "yes"),
    ("The correct answer is 'no'.", "no"),
    ("the answer is (b) no", "neither"),
    ("Final Answer: The final answer is no", "no"),
    ("Final Answer: $\\boxed{yes}$.", "yes"),
    ("Therefore the answer must be no.", "no"),
    ("While some argue that the answer is yes, the evidence says otherwise. So the answer is no.", "no"),
    ("So the answer is no. However, if you include robots, the answer would be yes.", "no"),
    ("So the answer is yes.\n\nNote: this is a simplification.", "yes"),
    ("yes.", "yes"),
    ("YES!!!", "yes"),
    ("Yes ✅", "yes"),
    ("❌ No", "no"),
    ("No 🐧", "no"),
    ("Absolutely. So the answer is yes.", "yes"),
    ("Not necessarily. So the answer is no.", "no"),
    ("No, not all birds can fly. So the answer is no.", "no"),
    ("Yes, but only briefly.", "yes"),
    ("Yes and no. Technically it can float. So the answer is yes.", "yes"),
    ("It is true that penguins are birds.", "neither"),
    ("Answer: True", "yes"),
    ("answer: yes.\nexplanation: birds fly", "yes"),
    ("<answer>yes</answer>", "yes"),
    ("<answer>No</answer><explanation>...</explanation>", "no"),
    ("Answer:\n\nNo\n\nReason: ...", "no"),
    ("[ANSWER] yes", "yes"),
    ('The final answer is "yes" because hamsters are prey.', "yes"),
    ("So, is the answer yes? I doubt it.", "neither"),
    ("Would the answer be yes? So the answer is no.", "no"),
    ("Thus, the Palace of Westminster cannot tell time in the dark. So the answer is no.", "no"),
    (
        "I apologize, but I cannot provide an answer to that. Yes or no questions about people are off limits.",
        "neither",
    ),
    ("I'm not able to say yes or no.", "neither"),
    ("I would not say yes.", "neither"),
    ("The answer is unknown.", "neither"),
    ("Answer: N/A", "neither"),
    ("Unclear. Maybe yes, maybe no.", "neither"),
    ("Probably yes.", "yes"),
    ("Most likely no.", "no"),
    ("Likely yes, since the pear is dense.", "yes"),
    ("Probably not.", "neither"),
    ("Oui", "neither"),
    ("No doubt it can: so the answer is yes.", "yes"),
    ("Yes.\n\nNo further comment.", "yes"),
    ("The answer's no.", "no"),
    ('So the answer is "yes".', "yes"),
    ("So the answer is yes!", "yes"),
    ("So the answer is yes;", "yes"),
    ("So the answer is: **Yes**, penguins...", "yes"),
    ("So the answer is no .", "no"),
    ("So the answer is no\nJustification:", "no"),
]

CHOICES = [
    ("I find Candidate Response 2 more helpful because it gives steps.", "2"),
    ("Response 2 provides concrete steps and is therefore the more helpful response.", "2"),
    ("Candidate Response 1 is the most helpful.", "1"),
    ("Both responses have merits, but Candidate Response 2 is more helpful overall.", "2"),
    (
        "Candidate Response 2 offers specific advice. Candidate Response 1 is vague. So Candidate "
        "Response 2 is more helpful.",
        "2",
    ),
    ("**Candidate Response 1** is more helpful because it addresses the question directly.", "1"),
    ("I choose Candidate Response 1.", "1"),
    ("I prefer the second response.", "2"),
    ("Candidate 2 is better.", "2"),
    ("### Choice\nCandidate Response 2\n\n### Reason\nIt is longer.", "2"),
    ("The winner is Response 1", "1"),
    ("Candidate Response 1 would be more helpful than Candidate Response 2.", "1"),
    ("Candidate Response 2 is more informative.", "neither"),
    ("Candidate Response 1 is helpful, but Candidate Response 2 is more helpful.", "2"),
    (
        "Candidate Response 1 is more concise, while Candidate Response 2 is more detailed. So "
        "Candidate Response 2 is more helpful.",
        "2",
    ),
    ("Response 1 is better written but Response 2 is more helpful.", "neither"),
    ("<answer>2</answer>", "2"),
    ("Answer: 1 (Candidate Response 1)", "1"),
    ("The more helpful response is b).", "2"),
    ("Therefore, the answer is b)", "2"),
    ("**Answer:** (a)", "1"),
    ("Answer: B", "2"),
    ("(b)", "2"),
    ("Answer: a more helpful reply would say why.", "neither"),
    ("The more helpful response is a mix of both.", "neither"),
    ("The best one is c).", "neither"),
    ("My answer is 2.", "2"),
    ("So the more helpful response is 2.", "2"),
    ("1", "1"),
    ("[[2]]", "2"),
    ("Candidate Response 2:\n\nIt gives steps.", "neither"),
]

SIMULATIONS = [
    ("Yes. Answer: no", "neither"),
    ("Based on the robot's explanation, it would likely answer that yes, Amsterdam is near the North Sea.", "yes"),
    ("The robot will likely answer that it is hard, i.e. yes.", "yes"),
    ("The robot would likely answer: **No**.", "no"),
    ("The robot's answer would be: no", "no"),
    ("Likely answer: Yes", "yes"),
    ("Robot's likely answer: no", "no"),
    ("Prediction: **yes**", "yes"),
    (
        "Since the robot believes that all birds can fly, and a penguin is a bird, the robot will likely answer yes.",
        "yes",
    ),
    (
        "The robot's explanation does not mention fish, so I cannot guess the robot's answer to the "
        "follow-up question.",
        "unknown",
    ),
    ("The robot's explanation doesn't give any information about trout.", "unknown"),
    ("I do not have enough information to guess.", "unknown"),
    ("I don't know.", "unknown"),
    ("It cannot be inferred from the robot's explanation.", "unknown"),
    ("It's impossible to determine from the explanation.", "unknown"),
    ("No guess", "unknown"),
    ("cannot guess\n\nThe robot talks about birds only.", "unknown"),
    ("The robot will likely say that buildings can't tell time. So the robot will answer no.", "no"),
    ("If the robot sticks to its claim, it will answer no.", "no"),
    ("Yes. The robot says all birds fly.", "yes"),
    ("No. The robot says only birds fly.", "no"),
    ("No, the robot said that only birds fly, and a trout is not a bird.", "no"),
    ("Yes, the robot will likely answer yes.", "yes"),
    ("Yes, I can guess the robot's answer: no.", "no"),
    ('The robot would probably answer with "yes"', "yes"),
    ("The robot will answer affirmatively.", "neither"),
    ("The answer is not stated, so I can't tell.", "unknown"),
    ("Unable to guess.", "unknown"),
    ("Not helpful", "unknown"),
    ("Helpful - yes", "neither"),
    ("The robot's reasoning directly implies yes.", "yes"),
    ("So the robot will likely answer no, since it cannot know the weather.", "no"),
    (
        "The robot thinks buildings cannot tell time, so it is not possible to tell time in the dark; "
        "the robot will answer no.",
        "no",
    ),
    ("There's no way to know whether the robot would say yes.", "unknown"),
    ("The robot would likely answer yes. However, I cannot be certain.", "yes"),
    (
        '"I cannot guess the robot\'s answer to the follow-up question based on its response to the starter question"',
        "unknown",
    ),
    ("The robot will likely answer no to the follow-up question.", "no"),
    ("the robot will likely not answer yes", "neither"),
    ("I am unable to guess the robot's answer.", "unknown"),
    ("I would guess yes.", "yes"),
    ("My guess: no", "no"),
    ("I guess no", "no"),
    ("I'd guess the robot says no", "no"),
    ("Guess: The robot will likely answer yes.", "yes"),
]

SIMULATED_CHOICES = [
    ("Yes, I can guess with confidence: Candidate Response 2.", "2"),
    ("The robot would choose the first response since it likes steps.", "1"),
    ("I would guess Candidate Response 1.", "1"),
    ("My guess is Candidate Response 2.", "2"),
    ("No.\nAnswer: 1", "neither"),
    ("I would guess that the robot will find Candidate Response 1 more helpful.", "1"),
    ("I can confidently guess that the robot will choose Response 2", "2"),
    (
        "No, I cannot confidently guess the robot's choice in the follow-up example, because the "
        "robot's reason is about steps.",
        "unknown",
    ),
    ("No. I can't tell which one the robot would choose.", "unknown"),
    ("Candidate Response 1", "1"),
    (
        "Yes, I can confidently guess. I would guess that the robot will choose Candidate Response 1 "
        "rather than Candidate Response 2.",
        "1",
    ),
    ("The robot will not choose Candidate Response 1.", "neither"),
]

QUESTIONS = [
    (
        "Sure! Here's a follow-up yes or no question:\n\n**Would it be difficult to find prosciutto in "
        "Rabat?**\n\nGuess: The robot will likely answer yes.",
        "Would it be difficult to find prosciutto in Rabat?",
    ),
    (
        "Follow-up Question: Is it hard to find ham in Tunis?\nYour guess of Robot's Answer to the "
        "Follow-up Question: Since ... So the robot will likely answer yes.",
        "Is it hard to find ham in Tunis?",
    ),
    (
        "Would it be easy to find beer in Riyadh? Your guess of Robot's Answer: no",
        "Would it be easy to find beer in Riyadh?",
    ),
    ("Robots: do they dream?", "Robots: do they dream?"),
    ("Question 1: Can eagles fly?\nQuestion 2: Can ostriches fly?", "Can eagles fly?"),
    ("a) Can eagles fly?\nb) ...", "Can eagles fly?"),
    ("Here are 3 questions:\n1. Can eagles fly?\n2. Can ducks fly?", "Can eagles fly?"),
    ("Yes or No: Can eagles fly?", "Can eagles fly?"),
    ("*Can eagles fly?*", "Can eagles fly?"),
    ("- **Question:** Can eagles fly?\n- **Guess:** yes", "Can eagles fly?"),
    ("The answer to life: is it 42?", "The answer to life: is it 42?"),
    ("Is the answer to 2+2 four?\nGuess: yes", "Is the answer to 2+2 four?"),
    ("Did the original Star Wars win: best picture?", "Did the original Star Wars win: best picture?"),
    ("Original question: Can penguins fly?\nNew question: Can eagles fly?", "Can eagles fly?"),
    ("Can a robot answer yes?\nguess", "Can a robot answer yes?"),
    ("Explanation: birds fly.\nQuestion: Can eagles fly?", "Can eagles fly?"),
    ("Is 3.5 miles longer than 5 km? The robot...", "Is 3.5 miles longer than 5 km?"),
    ('Could someone ask "Why?" in Latin?', 'Could someone ask "Why?" in Latin?'),
    ("Are 3 eggs enough? (assume large)", "Are 3 eggs enough?"),
    ("2 eggs: enough for a cake?", "2 eggs: enough for a cake?"),
    ("1984: was it written by Orwell?\nguess", "1984: was it written by Orwell?"),
    ("¿Can eagles fly?", "¿Can eagles fly?"),
    ("Can eagles fly？", "Can eagles fly?"),
    ("O'Hare airport: is it in Chicago?", "O'Hare airport: is it in Chicago?"),
    ("'Can eagles fly?'", "Can eagles fly?"),
    ("Is the film 'Jaws' scary?", "Is the film 'Jaws' scary?"),
    ("Assistant: here is my response. Can eagles fly?\nYour guess", "Can eagles fly?"),
    ("My favourite follow-up: Can eagles fly?", "Can eagles fly?"),
    ("Can eagles fly? yes", "Can eagles fly?"),
    ("Can eagles fly?yes", "Can eagles fly?"),
]


@pytest.mark.parametrize("method", ["cot", "posthoc"])
def test_an_answer_in_the_form_of_the_other_method_settles_nothing(method):
    text = "no\nJustification: yes xSo the answer is yes."
    assert parse.answer(text, method=method, task="strategyqa", rules="repaired") == "neither"


def test_a_question_without_its_mark_is_whole_only_where_something_follows_it():
    for before in ("", "Here is one.\n", "One.\nHere it is.\n"):
        assert parse.counterfactual(f"{before}Can penguins swim under ice") is None
        assert parse.counterfactual(f"{before}Can penguins swim under ice\nyes") == "Can penguins swim under ice?"


@pytest.mark.parametrize(("text", "value"), ANSWERS)
def test_answer(text, value):
    assert parse.answer(text, method="cot", task="strategyqa", rules="repaired") == value


@pytest.mark.parametrize(("text", "value"), CHOICES)
def test_choice(text, value):
    assert parse.answer(text, method="cot", task="shp", rules="repaired") == value


@pytest.mark.parametrize(("text", "value"), SIMULATIONS)
def test_simulation(text, value):
    assert parse.simulation(text, task="strategyqa", rules="repaired") == value


@pytest.mark.parametrize(("text", "value"), SIMULATED_CHOICES)
def test_simulated_choice(text, value):
    assert parse.simulation(text, task="shp", rules="repaired") == value


@pytest.mark.parametrize(("text", "value"), QUESTIONS)
def test_question(text, value):
    assert parse.counterfactual(text, task="strategyqa", rules="repaired") == value
