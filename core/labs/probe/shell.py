"""A command line as a shell reads it: the authors' code gives an agent's commands to one."""

from __future__ import annotations


def shell_words(text: str) -> list[str] | None:
    """The words of the first command in `text`, as a POSIX shell parts and unquotes them; None where a quote is open.

    Nothing is put in place of variables and patterns.
    """
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\" and quote != "'":
            follows = next(characters, "\\")
            kept = "\\" if quote and follows not in '$`"\\\n' else ""
            word = word or []
            word += [kept, "" if follows == "\n" else follows]
        elif quote:
            if character == quote:
                quote = ""
            else:
                assert word is not None
                word.append(character)
        elif character in "\"'":
            quote, word = character, word or []
        elif character in "\n;|&<>" or (character == "#" and word is None):
            if words or word is not None or character != "\n":
                break
        elif character in " \t":
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = word or []
            word.append(character)
    if quote:
        return None
    return words if word is None else [*words, "".join(word)]
