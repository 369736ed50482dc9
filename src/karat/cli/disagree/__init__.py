"""`karat disagree`: how many users would call this result top, given what one judge said?"""

from karat.cli.lazy_group import LazyGroup

disagree = LazyGroup(
    __name__,
    {
        "Parts": {
            "weights": "The weight of each level, P(at least M of N users say top).",
            "by": "How far users disagree by a column, such as the kind of query.",
            "combined": "Weights of combined levels, as of snippet and page.",
            "consistency": "Judges compared with themselves and with each other.",
            "robustness": "One judge's ranking scored with another's labels.",
            "users": "What a random user says, of the judge's group or another.",
            "gains": "What each document is worth to users, written as labels.",
            "resampled": "How well few labels of a document tell it.",
            "opinions": "What every judge said of every document of a query.",
        }
    },
    default="weights",
    file="subcommands",
    help="""What a grade is worth to users who disagree.

    Without a part, as karat disagree crowd.csv, the weights. LABELS are those of several judges for a document, in a
    file or a study's folder. Where a third label was asked only when the first two differed, which shows in the data,
    the first two of each document are used.
    """,
)
