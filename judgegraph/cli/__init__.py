"""The command line: each command parses, calls and prints; the work lives elsewhere."""

import sys

try:
    from judgegraph.cli.main import main
except KeyboardInterrupt:  # before anything of ours listens for it
    print("stopped", file=sys.stderr)
    raise SystemExit(130) from None

__all__ = ["main"]
