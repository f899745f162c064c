"""`python -m judgegraph`."""

from judgegraph.cli import main

if __name__ == "__main__":
    main(prog_name="judgegraph")
