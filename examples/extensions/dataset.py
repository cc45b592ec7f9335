"""A data set of yes-or-no questions about whole numbers. Copy this file into $EXPLAIN_HOME/extensions."""

import explain_yourself as ey


@ey.dataset("primes", "strategyqa", title="Prime numbers", licence="CC0")
def primes():
    """Whether each number from 2 to 101 is prime."""
    for number in range(2, 102):
        is_prime = all(number % divisor for divisor in range(2, number))
        yield {"id": str(number), "question": f"Is {number} a prime number?", "label": "yes" if is_prime else "no"}
