"""`python -m jury`: the command line."""

from jury.cli.__main__ import main

if __name__ == "__main__":
    main()
