"""`karat judges`: can I trust these judges, and where do they go wrong?"""

from karat.cli.lazy_group import LazyGroup

judges = LazyGroup(
    __name__,
    {
        "Parts": {
            "all": "All that the data allows, the parts one after another.",
            "agreement": "How far judges agree, and whether groups differ in it.",
            "error": "Each judge: agreement, accuracy, leniency, pace; spammers.",
            "labels": "The probable grade of each document, by an error model.",
            "gold": "How labels err against gold labels, and where.",
            "confusion": "How often each true grade gets each label.",
            "clicks": "Whether labels prefer what users click.",
            "distribution": "How groups use the scale, and whether they differ in it.",
            "bias": "Queries and documents that judges rate too high or too low.",
            "order": "Whether what was judged before moves a label.",
            "rankings": "Whether labels rank systems as gold labels do.",
            "llm": "Whether to use an LLM as a judge, and with how many gold labels.",
        }
    },
    default="all",
    file="subcommands",
    help="""Agreement, errors and biases of judges, of any mix of groups.

    Without a part, as karat judges crowd.csv, all that the data allows. LABELS are files, or a study's folder; a file
    without a column group is a group of its own, named by the file. What stands beside the labels is named by options:
    --gold, --clicks, and for the features of query and document --documents, --queries and --runs.
    """,
)
