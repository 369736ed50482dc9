"""The database of a study: tasks, the queue, people, and the log of all that was said."""

from karat.store.answering import answer, cant_tell, later, opened, recent, undo
from karat.store.log import Answer
from karat.store.queue import next_task
from karat.store.rejecting import reject_judge
from karat.store.store import Closed, Conflict, NotYours, Store
from karat.store.tasks import add_tasks

__all__ = ["Answer", "Closed", "Conflict", "NotYours", "Store", "add_tasks", "answer", "cant_tell", "later"]
__all__ += ["next_task", "opened", "recent", "reject_judge", "undo"]
