"""The command `explain-yourself`: without arguments it opens the app, with arguments it is the command line."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the app or one command, and return the exit code."""
    if sys.argv[1:]:
        from .core.__main__ import main as command

        return command()
    from .core.commands.app import serve

    return serve()


if __name__ == "__main__":
    sys.exit(main())
