"""``python -m jitlint``: the same as the ``jitlint`` command."""

from jitlint.cli import main

if __name__ == "__main__":
    main()
