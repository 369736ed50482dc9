"""What should be judged next? Tasks for judges, with their number and cost before anyone starts."""
