"""What printed figures are worth: a score from a paper, or a difference, corrected for how often its judges erred."""
