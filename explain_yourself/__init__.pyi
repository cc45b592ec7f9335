"""Made from the registry by tools/stubs.py."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

from .core.notebook import Items as Items
from .core.notebook import Run as Run
from .core.notebook import RunError as RunError
from .core.notebook import Study as Study
from .core.notebook import dataset as dataset
from .core.notebook import items as items
from .core.notebook import lab as lab
from .core.notebook import metric as metric
from .core.notebook import model as model
from .core.notebook import open as open
from .core.notebook import study as study

def ask(
    subject: str | Items | None = None,
    /,
    *,
    question: str | None = None,
    seed: int | None = None,
    task: Literal['strategyqa', 'shp'] | None = None,
    dataset: str | None = None,
    path: str | None = None,
    split: Literal['train', 'valid', 'test'] | None = None,
    limit: int | None = None,
    columns: Mapping[str, str] | None = None,
    keep: str | Sequence[str] | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    method: Literal['cot', 'posthoc', 'forced'] | None = None,
    explained_by: Literal['answer', 'reasoning'] | None = None,
    context: str | None = None,
    response_1: str | None = None,
    response_2: str | None = None,
    gold: str | None = None,
    model: str | None = None,
    generators: str | Sequence[str] | None = None,
    simulator: str | None = None,
    simulators: str | Sequence[str] | None = None,
    blind: bool | None = None,
    reasoning: bool | None = None,
    reads: Literal['prose', 'steps'] | None = None,
    max_tokens: int | None = None,
    counterfactuals: int | None = None,
    answers: Literal['prose', 'schema'] | None = None,
    arms: Union[Literal['explanation', 'none', 'swapped', 'question_only'], Sequence[Literal['explanation', 'none', 'swapped', 'question_only']]] | None = None,
    exam: bool | None = None,
    votes: int | None = None,
    rules: Literal['paper', 'repaired'] | None = None,
    extra: str | Sequence[str] | None = None,
    prompts: str | None = None,
    generator: str | Sequence[str] | None = None,
    title: Any = None,
    shard: Any = None,
    explanation: Any = None,
    answer: Any = None,
    given: Any = None,
    given_from: Any = None,
) -> Run:
    "From its explanation, can you predict what it will answer next?"

def check(
    subject: str | Items | None = None,
    /,
    *,
    task: Literal['sentiment', 'multi_choice', 'entailment'] | None = None,
    text: str | None = None,
    question: str | None = None,
    choice: str | Sequence[str] | None = None,
    hypothesis: str | None = None,
    label: str | None = None,
    persona: Literal['objective', 'human', 'you'] | None = None,
    target: Literal['explicit', 'implicit'] | None = None,
    mask: Literal['redacted', 'removed'] | None = None,
    mask_sentence: bool | None = None,
    short: bool | None = None,
    options: bool | None = None,
    seed: int | None = None,
    dataset: str | None = None,
    path: str | None = None,
    split: Literal['train', 'valid', 'test'] | None = None,
    limit: int | None = None,
    columns: Mapping[str, str] | None = None,
    keep: str | Sequence[str] | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    explanations: Union[Literal['counterfactual', 'attribution', 'redaction'], Sequence[Literal['counterfactual', 'attribution', 'redaction']]] | None = None,
    every_wording: bool | None = None,
    answers: Literal['prose', 'schema'] | None = None,
    controls: int | None = None,
    answerable: bool | None = None,
    max_tokens: int | None = None,
    model: str | None = None,
    explanation: Union[Literal['counterfactual', 'attribution', 'redaction'], Sequence[Literal['counterfactual', 'attribution', 'redaction']]] | None = None,
    title: Any = None,
    shard: Any = None,
    items: Any = None,
    wordings: Any = None,
) -> Run:
    "Is it consistent with its own explanation in a fresh session?"

def probe(
    subject: str | Items | None = None,
    /,
    *,
    function: str | None = None,
    interpreter: Literal['aia', 'milan', 'aia+milan', 'fit', 'nearest', 'you', 'given'] | None = None,
    backbone: Literal['model', 'embedding', 'table'] | None = None,
    tools: bool | None = None,
    seed: int | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    category: Literal['numeric', 'strings', 'entities', 'relations'] | None = None,
    count: int | None = None,
    find_dir: str | None = None,
    limit: int | None = None,
    difficulty: Literal['easy', 'medium', 'hard'] | None = None,
    own: str | None = None,
    model: str | None = None,
    evaluator: str | None = None,
    module: str | None = None,
    rounds: int | None = None,
    probes: int | None = None,
    tokens: int | None = None,
    rules: Literal['paper', 'repaired'] | None = None,
    answers: Literal['prose', 'schema'] | None = None,
    triplets: int | None = None,
    title: Any = None,
    functions: Any = None,
    own_kind: Any = None,
    given: Any = None,
    beside: Any = None,
) -> Run:
    "Can it explain a black box whose truth we know?"

def plant(
    subject: str | Items | None = None,
    /,
    *,
    task: Literal['strategyqa', 'multi_choice', 'sentiment', 'entailment'] | None = None,
    seed: int | None = None,
    dataset: str | None = None,
    path: str | None = None,
    split: Literal['train', 'valid', 'test'] | None = None,
    limit: int | None = None,
    columns: Mapping[str, str] | None = None,
    keep: str | Sequence[str] | None = None,
    question: str | None = None,
    gold: str | None = None,
    cue: Literal['key', 'hint', 'crowd', 'pattern', 'word', 'name', 'aside'] | None = None,
    order: Literal['reasons first', 'answer first'] | None = None,
    length: Literal['short', 'usual', 'long'] | None = None,
    repeats: int | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    reader: str | None = None,
    model: str | None = None,
    title: Any = None,
    shard: Any = None,
) -> Run:
    "We know what moved its answer. Does its explanation say so?"
