"""`karat plan`: what should be judged next?"""

from karat.cli.lazy_group import LazyGroup

plan = LazyGroup(
    __name__,
    {
        "Commands": {
            "power": "How many queries, and how many gold labels, a difference needs.",
            "gold": "Draw the documents whose gold labels say most.",
            "context": "The judgments to collect alone and in context.",
            "pairs": "Pairs of lists worth showing to users, as tasks.",
            "documents": "Pairs of documents whose comparison tells most, as tasks.",
            "disagree": "Queries to have judged twice, to know how users disagree.",
            "preferences": "How many pairs and judges show that a measure agrees with users.",
        }
    },
    help="What to have judged next, with its number and cost before anything is written.",
)
