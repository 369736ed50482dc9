"""What judges see of queries and documents, for the description of the interface."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Reply(BaseModel):
    """An answer of the server; nothing else is in it."""

    model_config = ConfigDict(extra="forbid")


class QueryShown(Reply):
    """A query as it is shown."""

    query: str = Field(description="the id")
    text: str
    description: str = Field(description="what is needed")
    subtopic: str = Field(description="what the subtopic means, if one is asked about")


class DocumentShown(Reply):
    """What a result list shows of a document."""

    doc: str = Field(description="the id")
    title: str
    snippet: str
    url: str
    page: bool = Field(description="whether there is a page to open: GET /api/task/{task_id}/text")
