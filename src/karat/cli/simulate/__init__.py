"""`karat simulate`: studies whose truth is known."""

from karat.cli.lazy_group import LazyGroup

EXAMPLES = """\b
Examples:
  karat simulate bronze --n-studies 10000
  karat simulate two-systems --judge lenient --out study
  karat simulate judging --wikipedia 0.5 --n-spammers 2 --out study
  karat simulate context --out study
  karat simulate llm-judge --obeys 0.9 --out study
  karat simulate preferences --utility "RBP(p=0.8)" --out study
  karat simulate clicks --out shop"""


simulate = LazyGroup(
    __name__,
    {
        "Studies": {
            "bronze": "One system, judges who err: do intervals hold the truth?",
            "two-systems": "Two systems, a judge who errs, some gold labels.",
            "judging": "Gold labels, professionals, a biased crowd, clicks, runs.",
            "context": "Pages judged alone and after another one, aspect by aspect.",
            "disagreement": "Users who disagree: two assessors a query, and a crowd.",
            "llm-judge": "An LLM with faults: lenient, talked round, fond of a side.",
            "preferences": "Users who choose between two lists side by side.",
            "clicks": "A log of users who look at ranks and click.",
            "interleaving": "A log of lists that two systems share.",
        }
    },
    file="subcommands",
    epilog=EXAMPLES,
    help="Studies with planted effects: does an analysis find them, and stay silent where there is nothing?",
)
