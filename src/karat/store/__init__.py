"""The database of a study: tasks, the queue, people, and the log of all that was said."""

from karat.store.answering import (
    Outcome,
    answer,
    cant_tell,
    later,
    opened,
    recent,
    undo,
)
from karat.store.database import Database
from karat.store.log import Answer
from karat.store.queue import Turn, held_task, next_task
from karat.store.rejecting import reject_judge
from karat.store.store import Closed, Conflict, NotYours, Store
from karat.store.tasks import Added, add_tasks

__all__ = [
    "Added",
    "Answer",
    "Closed",
    "Conflict",
    "Database",
    "NotYours",
    "Outcome",
    "Store",
    "Turn",
    "add_tasks",
    "answer",
    "cant_tell",
    "held_task",
    "later",
    "next_task",
    "opened",
    "recent",
    "reject_judge",
    "undo",
]
