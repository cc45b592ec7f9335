import pytest

from core.labs.probe.claim_extraction import claimed_intervals, quoted_pairs

INF = float("inf")


@pytest.mark.parametrize(
    ("domain", "intervals"),
    [
        ("There is a corrupted interval between 3 and -8.5.", ((-8.5, 3.0),)),
        ("Defined between -100 and 100. No unexpected behavior.", ()),
        ("For x > 33.1 the values are random around 5.", ((33.1, INF),)),
        ("The function is not corrupted between 3 and 5.", ()),
        ("All of [-128, 128]. In the interval [2.5, 9.3] the function is constant.", ((2.5, 9.3),)),
        ("Corrupted below −12.5: there the values are random.", ((-INF, -12.5),)),
        ("There is no noise, but the values are corrupted between 3 and 9.", ((3.0, 9.0),)),
        ("The function is not continuous, and corrupted between 3 and 9.", ((3.0, 9.0),)),
        ("It is no longer linear between 3 and 9: there it is random.", ((3.0, 9.0),)),
        ("Not corrupted in (3, 9), but noisy between 20 and 30.", ((20.0, 30.0),)),
        ("No unexpected behavior except between 3 and 9.", ((3.0, 9.0),)),
        ("It isn't corrupted between 3 and 9.", ()),
        ("Outputs are noisy for all x from -128 to 128.", ()),
        ("Noisy everywhere from 0 to 128.", ()),
        ("For all x between 3 and 9 the values are random.", ((3.0, 9.0),)),
        ("Defined for all real x except 0, tested between -100 and 100.", ()),
        ("Defined for all x except 0, tested between -50 and 50.", ()),
        ("Linear except 10 < x < 20.", ((10.0, 20.0),)),
        ("I tested between 3 and 9, where values are random.", ((3.0, 9.0),)),
        ("The observations are noisy: (3, 7.1), (3, 6.9).", ()),
        ("", ()),
    ],
)
def test_claimed_intervals(domain, intervals):
    assert claimed_intervals(domain) == intervals


def test_quoted_pairs():
    text = 'f(3) = 7 and f("cat") -> "tac"; (3, 7.0); 4 → 5'
    assert quoted_pairs(text) == (("3", "7"), ("cat", "tac"), ("3", "7.0"), ("4", "5"))


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("Corrupted in the open interval (4.1, 18.9615).", ()),
        ("The domain is (-100, 100).", ()),
        ("Corrupted intervals:\n- (4.1, 18.9)\n- (30, 40)", ()),
        ("(4.1, 18.9) is the corrupted interval.", ()),
        ("Random around 5 (4.1, 18.9).\nCorrupted between 4.1 and 18.9.", ()),
        ("It is max(0, 3) for x in (1, 2).", ()),
        ('It is x.replace("a", "b").', ()),
        ("Within the range I looked at, observations: (3, 7), (4, 9).", (("3", "7"), ("4", "9"))),
        ("The outputs look noisy: (3, 7), (3, 9).", (("3", "7"), ("3", "9"))),
        ("Observed:\n(3, 7)\n(4, 9)", (("3", "7"), ("4", "9"))),
        ("Corrupted in (4, 9). It doubles: (3, 6).", (("3", "6"),)),
        ('Replaces "a" -> "b".', ()),
        ('Letters are mapped:\n- "a" -> "b"\n- "c" -> "d"', ()),
        ('Replaces "a" -> "b", for example "cat" -> "cbt".', (("a", "b"), ("cat", "cbt"))),
        ('Reverses the letters: "cat" -> "tac".', (("cat", "tac"),)),
        ('Replaces "a".\nf("cat") -> "cbt"', (("cat", "cbt"),)),
        ("Input 3 -> 7; 'x' -> 'y'", (("3", "7"), ("x", "y"))),
    ],
)
def test_intervals_and_rules_for_letters_are_no_quotes(text, pairs):
    assert quoted_pairs(text) == pairs
