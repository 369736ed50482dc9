"""`karat validate`: do measures agree with users?"""

from karat.cli.lazy_group import LazyGroup

validate = LazyGroup(
    __name__,
    {
        "Measures against preferences": {
            "agreement": "How often a measure prefers the system that users prefer.",
            "tables": "The tables of Sanderson et al. (SIGIR 2010).",
            "curves": "Agreement along shares of ties and weights of context.",
            "fit": "A measure's parameters fitted to what users prefer.",
            "correlation": "How alike measures rank systems.",
        },
        "Preferences alone": {
            "votes": "What users answered, pair by pair.",
            "ranking": "A ranking of systems, by Bradley and Terry's model.",
            "documents": "Pairs of documents: their order, and who agrees with it.",
            "judges": "Those who answered: sides, pace, traps.",
        },
        "Other signs of users": {
            "clicks": "Measures against click rates, over queries.",
            "ratings": "Measures against ratings of whole searches.",
            "reasons": "Why users preferred it: comments sorted into classes.",
        },
    },
    default="agreement",
    file="subcommands",
    help="""Check measures against what users prefer, side by side.

    Without a part, as karat validate preferences.csv labels.csv a.run b.run, the agreement. What users said comes
    first, then labels, then runs; a study's folder stands for all of them.

    A preference has query, left, right (systems), choice (left, equal, right, none), and maybe subtopic, strength,
    judge, trap and expected (the right answer to a trap). Judges who failed a trap are left out.
    """,
)
