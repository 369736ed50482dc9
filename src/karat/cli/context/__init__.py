"""`karat context`: what judges say about each aspect of a document, alone and after another one."""

from karat.cli.lazy_group import LazyGroup

context = LazyGroup(
    __name__,
    {
        "Parts": {
            "all": "All that the data allows, the parts one after another.",
            "coverage": "How often judges have an answer to each aspect.",
            "distribution": "How grades spread, alone and in context.",
            "change": "How far grades change when another document was read before.",
            "correlation": "Which aspects go with overall, and change together.",
            "prediction": "How well aspects tell overall.",
            "agreement": "Whether judges agree, alone and in context.",
            "labels": "Labels in context that nobody gave, predicted and written.",
            "reuse": "Whether labels serve a run that had no part in what was judged.",
        }
    },
    default="all",
    file="subcommands",
    help="""Relevance by aspect, alone and in context.

    Without a part, as karat context judgments.csv, all that the data allows. LABELS, in a file or a study's folder,
    have the columns query, doc, label, and for what they are about: aspect (none: overall), context (the document read
    just before, none: alone) and judge. An empty label, or N/A, says that the judge could not tell.
    """,
)
