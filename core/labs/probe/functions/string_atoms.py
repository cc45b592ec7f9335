"""What the 67 string atoms do to a text, with the quirks Q1 to Q8 of the published generator (docs/measuring.md §4.2).

Plain functions of a text and their parameters. Two of them accept a random number generator and sample a position at
every call. Errors are those of the published scripts: IndexError on an empty text, KeyError for a number that has no
word, ValueError and TypeError for letters outside the alphabet. n is the number of characters, positions start at 0.
"""

import string

import numpy as np

VOWELS = "aeiouAEIOU"
CONSONANTS = "bcdfghjklmnpqrstvwxyz"

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
WORDS = dict(enumerate([*_UNITS, *(f"twenty-{unit}" for unit in _UNITS[1:10]), "thirty"]))
"""The words for 0 to 30; no other number has one."""


def rotate(character: str, by: int) -> str:
    """A letter moved `by` places round the alphabet, case kept; letters beyond a–z land in it. The rest stays."""
    if not character.isalpha():
        return character
    base = 97 if character.islower() else 65
    return chr((ord(character) - base + by) % 26 + base)


def rotate_all(text: str, by: int) -> str:
    """Rotate every letter `by` places."""
    return "".join(rotate(character, by) for character in text)


def replace_at(text: str, position: int, new: str) -> str:
    """Replace the character at `position`, which counts from the start, by `new`."""
    return text[:position] + new + text[position + 1 :]


# Case, order, dropping

convert_to_lowercase = str.lower
convert_to_uppercase = str.upper
capitalize_string = str.capitalize
string_strip = str.strip
string_lstrip = str.lstrip
string_rstrip = str.rstrip


def capitalize_alternating_letters(text: str) -> str:
    """Write characters at even positions in upper case, the others in lower case."""
    return "".join(c.upper() if k % 2 == 0 else c.lower() for k, c in enumerate(text))


def reverse_string(text: str) -> str:
    """Reverse the text."""
    return text[::-1]


def reverse_string_first_half(text: str) -> str:
    """Reverse the first n // 2 characters."""
    half = len(text) // 2
    return text[:half][::-1] + text[half:]


def reverse_string_last_half(text: str) -> str:
    """Reverse all but the first n // 2 characters."""
    half = len(text) // 2
    return text[:half] + text[half:][::-1]


def reverse_words(text: str) -> str:
    """Reverse every word, and separate them by single spaces."""
    return " ".join(word[::-1] for word in text.split())


def remove_digits(text: str) -> str:
    """Remove the digits."""
    return "".join(c for c in text if not c.isdigit())


def extract_uppers(text: str) -> str:
    """Keep only the upper-case letters."""
    return "".join(c for c in text if c.isupper())


def remove_whitespace(text: str) -> str:
    """Remove all white space."""
    return "".join(text.split())


def remove_duplicates(text: str) -> str:
    """Keep each character only where it first occurs."""
    return "".join(dict.fromkeys(text))


def swap_first_last(text: str) -> str:
    """Swap the first and the last character."""
    return text if len(text) < 2 else text[-1] + text[1:-1] + text[0]


def swap_rand(text: str, index1: int, index2: int) -> str:
    """Swap the characters at two positions; a text that lacks one of them stays as it is."""
    if len(text) <= max(index1, index2):
        return text
    characters = list(text)
    characters[index1], characters[index2] = characters[index2], characters[index1]
    return "".join(characters)


# Numbers as words


def extract_digits(text: str) -> str:
    """Return the words of its digits."""
    by_digit = {str(number): WORDS[number] for number in range(10)}
    return " ".join(by_digit[c] for c in text if c.isdigit())


def get_string_length(text: str) -> str:
    """Return the word for n, "unknown" beyond 30."""
    return WORDS.get(len(text), "unknown")


def get_digit_indexes(text: str) -> str:
    """Return the word for the first position of the last character if that is a digit, else nothing (Q2)."""
    # Q2: each character forgets what was found before, but every digit's word is still looked up on the way.
    found = ""
    for character in text:
        found = WORDS[text.index(character)] if character.isdigit() else ""
    return found


def get_alpha_indexes(text: str) -> str:
    """Return, for every letter, the word for its first position."""
    return " ".join(WORDS[text.index(c)] for c in text if c.isalpha())


def count_vowels(text: str) -> str:
    """Return the word for the number of vowels."""
    return WORDS[sum(c in VOWELS for c in text)]


def count_consonants(text: str) -> str:
    """Return the word for the number of consonants, counting lower-case a (Q3)."""
    # Q3: today's generator takes the lower-case a for a consonant.
    return WORDS[sum(c in CONSONANTS or c in CONSONANTS.upper() or c == "a" for c in text)]


def count_consonants_released(text: str) -> str:
    """Return the word for the number of the 21 true consonants, as the released functions count them (Q3)."""
    return WORDS[sum(c in CONSONANTS or c in CONSONANTS.upper() for c in text)]


def count_uppercase(text: str) -> str:
    """Return the word for the number of upper-case letters."""
    return WORDS[sum(c.isupper() for c in text)]


def count_lowercase(text: str) -> str:
    """Return the word for the number of lower-case letters."""
    return WORDS[sum(c.islower() for c in text)]


def count_letter(text: str, letter: str) -> str:
    """Return the word for how often `letter` occurs in the text."""
    return WORDS[text.count(letter)]


count_character_repetitions = count_substring = count_letter


def find_string(text: str, letter: str) -> str:
    """Return the word for the first position of `letter`, "none" without it."""
    position = text.find(letter)
    return "none" if position < 0 else WORDS[position]


def _ordinality(character: str) -> str:
    return WORDS[string.ascii_lowercase.index(character.lower()) + 1] if character.isalpha() else WORDS[0]


def get_first_character_ordinality(text: str) -> str:
    """Return the word for the first character's place in the alphabet, from 1; "zero" if it is no letter."""
    return _ordinality(text[0])


def get_last_character_ordinality(text: str) -> str:
    """Return the word for the last character's place in the alphabet, from 1; "zero" if it is no letter."""
    return _ordinality(text[-1])


def get_mid_character_ordinality(text: str) -> str:
    """Return the word for the alphabet place, from 1, of the character at n // 2; "zero" if it is no letter."""
    return _ordinality(text[len(text) // 2])


# Single characters


def get_first_character(text: str) -> str:
    """Return the first character."""
    return text[0]


def get_last_character(text: str) -> str:
    """Return the last character."""
    return text[-1]


def get_mid_character(text: str) -> str:
    """Return the middle character, or the middle two."""
    half = len(text) // 2
    return text[half : half + 1] if len(text) % 2 else text[max(half - 1, 0) : half + 1]


def duplicate_first_letter(text: str) -> str:
    """Append the first character."""
    return text + text[0]


def duplicate_last_letter(text: str) -> str:
    """Append the last character."""
    return text + text[-1]


def duplicate_mid_letter(text: str) -> str:
    """Append the character at n // 2."""
    return text + text[len(text) // 2]


# Vowels


def replace_vowels_with_character(text: str, letter: str) -> str:
    """Replace every vowel by `letter`."""
    return "".join(letter if c in VOWELS else c for c in text)


def replace_vowels_with_first(text: str) -> str:
    """Replace every vowel by the first character."""
    return replace_vowels_with_character(text, text[0])


def replace_vowels_with_last(text: str) -> str:
    """Replace every vowel by the last character."""
    return replace_vowels_with_character(text, text[-1])


def replace_vowels_with_mid(text: str) -> str:
    """Replace every vowel by the character at n // 2; a single character stays as it is."""
    return text if len(text) < 2 else replace_vowels_with_character(text, text[len(text) // 2])


def replace_vowels_with_ind_of_count(text: str) -> str:
    """Replace every vowel by the v-th character, where v is the number of vowels; by the last one if v is 0."""
    return replace_vowels_with_character(text, text[sum(c in VOWELS for c in text) - 1])


def reverse_vowels(text: str) -> str:
    """Reverse the order of the vowels, and leave everything else where it is."""
    vowels = [c for c in text if c in VOWELS]
    return "".join(vowels.pop() if c in VOWELS else c for c in text)


# Rotation


def add_number_to_string(text: str, number: int) -> str:
    """Rotate every letter `number` places."""
    return rotate_all(text, number)


def subtract_number_to_string(text: str, number: int) -> str:
    """Rotate every letter `number` places back."""
    return rotate_all(text, -number)


def add_len_to_string(text: str) -> str:
    """Rotate every letter n places."""
    return rotate_all(text, len(text))


def _by_character_order(text: str, index: int, sign: int) -> str:
    # Q4: the key may be any character, and everything comes out in lower case.
    if len(text) <= index:
        return text
    by = sign * (ord(text[index].lower()) - 97)
    return "".join(chr((ord(c.lower()) - 97 + by) % 26 + 97) if c.isalpha() else c for c in text)


def advance_by_character_order(text: str, index: int) -> str:
    """Rotate every letter by the alphabet place, from 0, of the character at `index` (Q4)."""
    return _by_character_order(text, index, 1)


def substract_by_character_order(text: str, index: int) -> str:
    """Rotate every letter back by the alphabet place, from 0, of the character at `index` (Q4)."""
    return _by_character_order(text, index, -1)


def _rotate_middle(text: str, by: int) -> str:
    half = len(text) // 2
    if len(text) % 2 == 0 or len(text) < 3:
        return text
    return replace_at(text, half, rotate(text[half], by))


def add_number_to_middle(text: str, number: int) -> str:
    """Rotate the middle letter `number` places, if n is odd and at least 3."""
    return _rotate_middle(text, number)


def subtract_middle_character(text: str, number: int) -> str:
    """Rotate the middle letter `number` places back, if n is odd and at least 3."""
    return _rotate_middle(text, -number)


def add_len_to_middle(text: str) -> str:
    """Rotate the middle letter n places, if n is odd and at least 3."""
    return _rotate_middle(text, len(text))


def rotate_at(text: str, position: int, sign: int) -> str:
    """Rotate the character at `position` by that many places; texts of fewer than two characters stay as they are."""
    return text if len(text) < 2 else replace_at(text, position, rotate(text[position], sign * position))


def add_order_to_inx(text: str, rng: np.random.Generator) -> str:
    """Rotate the character at a position sampled by `rng` by that position."""
    return text if len(text) < 2 else rotate_at(text, int(rng.integers(len(text))), 1)


def sub_order_to_inx(text: str, rng: np.random.Generator) -> str:
    """Rotate the character at a position sampled by `rng` back by that position."""
    return text if len(text) < 2 else rotate_at(text, int(rng.integers(len(text))), -1)


def add_order_of_inx1_to_inx2(text: str, index1: int, index2: int) -> str:
    """Rotate the character at `index2` by `index1` places (Q1)."""
    # Q1: the amount is the number index1 itself; the "sub" twin adds as well.
    if len(text) <= max(index1, index2):
        return text
    return replace_at(text, index2, rotate(text[index2], index1))


sub_order_of_inx1_to_inx2 = add_order_of_inx1_to_inx2


# Inserting and replacing


def insert_in_middle(text: str, new: int | str) -> str:
    """Insert `new` before the character at n // 2."""
    half = len(text) // 2
    return f"{text[:half]}{new}{text[half:]}"


insert_number = insert_letter = insert_in_middle


def add_letter_if_needed(text: str, letter: str) -> str:
    """Append `letter`, unless the text ends with it."""
    return text if text.endswith(letter) else text + letter


def split_string(text: str, letter: str) -> str:
    """Replace every `letter` by a space."""
    return text.replace(letter, " ")


def string_concatenate(text: str, text_to_add: str) -> str:
    """Append `text_to_add`."""
    return text + text_to_add


def remove_substring(text: str, letter: str) -> str:
    """Remove every `letter`."""
    return text.replace(letter, "")


def replace_substring(text: str, old: str, new: str) -> str:
    """Replace every `old` by `new`."""
    return text.replace(old, new)


def map_string(text: str, mapping: str) -> str:
    """Replace each letter by its image; `mapping` holds the 26 images of a to z in order."""
    images = dict(zip(string.ascii_lowercase, mapping, strict=True))
    return "".join(images.get(c.lower(), c) for c in text)


# Moving one end by a shift


def _shift_at(text: str, position: int, by: int, turning: str, start: str) -> str:
    # Q5: one letter wraps whatever the shift; all others run on through the character table.
    if not text or not text[position].isalpha():
        return text
    character = text[position]
    if character.lower() == turning:
        new = start if character.islower() else start.upper()
    else:
        new = chr(ord(character) + by)
    return text[:-1] + new if position == -1 else new + text[1:]


def shift_last_letter_rand(text: str, shift: int) -> str:
    """Move the last letter `shift` characters on; z becomes a (Q5)."""
    return _shift_at(text, -1, shift, "z", "a")


def shift_first_letter_rand(text: str, shift: int) -> str:
    """Move the first letter `shift` characters on; z becomes a (Q5)."""
    return _shift_at(text, 0, shift, "z", "a")


def shift_last_letter_predecessor_rand(text: str, shift: int) -> str:
    """Move the last letter `shift` characters back; a becomes z (Q5)."""
    return _shift_at(text, -1, -shift, "a", "z")


def shift_first_letter_predecessor_rand(text: str, shift: int) -> str:
    """Move the first letter `shift` characters back; a becomes z (Q5)."""
    return _shift_at(text, 0, -shift, "a", "z")
