"""How far a judge agrees with people: from a run or from any table."""
