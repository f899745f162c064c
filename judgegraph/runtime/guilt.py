"""Who is to blame for unclean exits of the process: which samples run alone, and which are given up.

A sample that was in flight when the process ended uncleanly has a strike. At two it is judged when all others are
finished, alone, so that one more exit strikes the guilty one only; at three it is given up, and the run goes on.
A machine that is preempted again and again must condemn nobody who did nothing wrong:

- The first new reply takes a sample's strikes away: what it was paid for lies in the ledger, so it came further than
  before. A guilty one escapes so as often as it has calls, and not once more.
- An exit counts for a third only where the sample, struck before, was waiting for a reply: its own code cannot have
  ended the process then, unless it runs beside the call.
- The oftener the run ended uncleanly, the more strikes it takes: of many kills from outside some meet a sample alone,
  in the moments that its own code takes. To meet the same one so again and again they would have to be many more; a
  guilty one ends the process whenever it is judged.
"""

from __future__ import annotations

from judgegraph.runtime.journal import STRIKE

ALONE, GUILTY = 2 * STRIKE, 3 * STRIKE  # from the first on a sample runs alone, at the second it may be given up
OFTEN = 7  # unclean exits of a run at which one strike more is asked; at 14 another, and so at each doubling
POISON = "in flight at three unclean exits of the process"


def needed(exits: int) -> int:
    """Thirds of strikes at which a sample is given up, after so many unclean exits of its run."""
    return GUILTY + STRIKE * (exits // OFTEN).bit_length()
