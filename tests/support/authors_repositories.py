"""Small folders in the layouts of the papers' authors' repositories, with texts made up for the tests."""

import shutil
from pathlib import Path

from core.__main__ import main

PACK = Path(__file__).resolve().parents[1] / "data/sets/prompt_packs/own.json"

_QUERY = """
    async def _query_mood(self, {arguments}, generate_text):
        user_prompt = ''
        if self._is_enabled('c-persona-you'):
            user_prompt += f'YOU {about}?'
        elif self._is_enabled('c-persona-human'):
            user_prompt += f'PERSON {about}?'
        else:
            user_prompt += f'ANYONE {about}?'
        if not self._is_enabled('c-no-redacted'):
            word = self._ifelse_enabled("m-removed", "removed", "hidden")
            user_prompt += f' Some words may be {{word}}: {{self._mask_special_token}}.'
        user_prompt += (
            {listed}
            f' Say no more.\\n\\n'
            f'Text: {{paragraph}}'
        )
        return (user_prompt, await generate_text([]))
"""

_SESSION = """
class {name}(FaithfulTask, Task):
    async def _task(self, observation, generate_text):
        paragraph = observation['paragraph']
        asked, answer = await self._query_mood(paragraph, generate_text)
        {opposite} = self._opposite(observation['label'])
        {variable}_prompt = ''
{body}
        {variable}_prompt += (
            f' Say no more.\\n\\n' +
            f'Text: {{paragraph}}'
        )
        if {opposite} is not None:
            answer = await generate_text([])
        return {{'prompt': {variable}_prompt}}
"""


def _branches(variable: str, you: str, human: str, otherwise: str, letter: str = "e", deep: int = 2) -> str:
    space = "    " * deep
    return (
        f"{space}if self._is_enabled('{letter}-persona-you'):\n{space}    {variable}_prompt += {you}\n"
        f"{space}elif self._is_enabled('{letter}-persona-human'):\n{space}    {variable}_prompt += {human}\n"
        f"{space}else:\n{space}    {variable}_prompt += {otherwise}\n"
    )


def _three(variable: str, what: str, letter: str = "e", deep: int = 2) -> str:
    return _branches(variable, f"f'YOU {what}.'", f"f'PERSON {what}.'", f"f'ANYONE {what}.'", letter, deep)


def introspection(folder: Path) -> Path:
    """Write a folder in the layout of llm-introspection."""
    tasks = folder / "introspect" / "tasks"
    tasks.mkdir(parents=True)
    for task, prefix, about, arguments, listed in (
        ("sentiment", "Sentiment", "mood", "paragraph", "' Good, \"bad\" or neither.'"),
        ("multi_choice", "MultiChoice", 'reply to "{question}"', "question, choices, paragraph", _CHOICES),
        ("entailment", "Entailment", 'say "{hypothesis}"', "hypothesis, paragraph", "' 1) yes 2) no 3) neither.'"),
    ):
        base = f"class {prefix}Task(AbstractTask):\n" + _QUERY.format(arguments=arguments, about=about, listed=listed)
        target = "opposite_mood" if task != "multi_choice" else "alternative_choice"
        wanted = f'wanting "{{{target}}}"' if task != "entailment" else "where it {verb}"
        verb = f"            verb = 'holds' if {target} == 'yes' else 'fails'\n" if task == "entailment" else ""
        edit = (
            "        if self._is_enabled('e-implcit-target'):\n"
            + _three("counterfactual", f"turn {about}", deep=3)
            + f"        else:\n{verb}"
            + _three("counterfactual", f"edit {about} {wanted}", deep=3)
        )
        hide = (
            "        if self._is_enabled('e-short'):\n"
            + _three("redacted", "hide with {self._mask_special_token}", deep=3)
            + "        else:\n"
            + _three("redacted", f"hide {about} at length with {{self._mask_special_token}}", deep=3)
        )
        sessions = {
            "Answerable": ("ability", _three("ability", f"can {about}", "i") + _OPTIONS),
            "Counterfactual": ("counterfactual", edit),
            "Redacted": ("redacted", hide),
            "Importance": ("importance", _three("importance", f"list {about}")),
        }
        classes = [
            _SESSION.format(name=f"{prefix}{name}Task", variable=variable, body=body, opposite=target)
            for name, (variable, body) in sessions.items()
        ]
        (tasks / f"{task}.py").write_text("\n".join((base, *classes)), encoding="utf-8")
    model = folder / "introspect" / "model"
    model.mkdir()
    (model / "falcon.py").write_text(
        "class Falcon:\n    _default_system_message = (\n        'You are' ' a bird.'\n    )\n"
    )
    (model / "llama2.py").write_text("class Llama2:\n    _default_system_message = 'You are an animal.'\n")
    return folder


_CHOICES = """f' One of {self._make_answer_choices(choices + ["unknown"])}.'"""
_OPTIONS = "        if self._is_enabled('i-options'):\n            ability_prompt += ' There are options.'\n"

_INTERPRETER = """
commandTable = pd.DataFrame({
    'GPT Commands': ['PYTHON(function.py)'],
    'GPT Explanations': ['Calls the file.'],
    'Raw Translation': ['python {}']
})

def return_sysPrompt(model):
    if model in ['llama-2']:
        sysPrompt = 'Run things. ' \\
        'These:\\n{}\\nAlways {}.'
    else:
        sysPrompt = 'You may run:\\n{}\\nWait for "Response: ".'
    return sysPrompt

def main(args):
    if args.hints:
        prompt += f'\\nStart with: {initial}'
"""
_FUNCTION = """
con1 = 'a thing'
{more}
def function(input, sys_prompt):
    messages=[
        {{"role": "system", "content": sys_prompt}},
        {{"role": "user", "content": {content} +
          f"Word: {{input}}"}}
    ]

if __name__ == '__main__':
    prompt = "You know {category}."
"""


def find(folder: Path) -> Path:
    """Write a folder in the layout of FIND."""
    prompts, tests = folder / "src/run_interpretations/prompts", folder / "src/evaluate_interpretations"
    for place in (prompts, tests / "utils"):
        place.mkdir(parents=True)
    for name in ("numeric", "numeric_mlp", "strings", "neurons_entities", "neurons_relations"):
        text = (
            f"Guess the {name} function in {{DIR2FUNC}}: run PYTHON({{DIR2FUNC}} input), then write [DESCRIPTION]: it."
        )
        (prompts / f"{name}.txt").write_text(text)
    (prompts.parent / "collect_interpretations.py").write_text(_INTERPRETER)
    (tests / "unit_testing.py").write_text("sys_prompt = \"Pick one: '[ANSWER]: <index>'.\"\n")
    for category in ("entities", "strings", "relations"):
        options = "".join(f"{n + 1}: IN{n}{'' if category == 'entities' else f' gives OUT{n}'}\n" for n in range(3))
        (tests / f"utils/prompt_eval_{category}.txt").write_text(f"It is told: DESC\nWhich?\n{options}")
    for category, number, more, content in (
        ("entities", 0, "", 'f"Is it {con1}? "'),
        ("entities", 1, "con2 = 'b'", 'f"Is it {con1} or {con2}? "'),
        ("relations", 0, "con2 = 'b'", 'f"Of {con1} give {con2}. "'),
        ("relations", 1, "con2 = 'b'\nexc = 'c'", 'f"Of {con1} give {con2}, " + f"unless {exc}. "'),
    ):
        place = folder / f"src/find-dataset/neurons_{category}/f{number:05}"
        place.mkdir(parents=True)
        code = _FUNCTION.format(more=more, content=content, category=category)
        (place / "function_code.py").write_text(code)
    return folder


def simulatability(folder: Path) -> Path:
    """Write a folder in the layout of the counterfactual-simulatability repository."""
    (folder / "prompts").mkdir(parents=True)
    shutil.copy(PACK, folder / "prompts" / "prompts.json")
    return folder


def in_home(folder: Path) -> None:
    """Put the prompts of the three, written into `folder`, into the home."""
    assert main(["prompts", "read", str(all_of(folder))]) == 0


def all_of(folder: Path) -> Path:
    """Write the three into one folder."""
    introspection(folder / "introspection")
    find(folder / "find")
    simulatability(folder / "simulatability")
    return folder
