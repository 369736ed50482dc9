"""PostgreSQL's full-text search: the query is a bound parameter, and nothing but reading is possible."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="no psycopg: pip install 'karat[collect]'")

import psycopg

import karat as kt
from commands import karat
from karat.engines.sql import bound
from karat.errors import BadInput

RANKED = """
select name as doc, ts_rank(words, q) as score, title, body as text
from fetch_pages, websearch_to_tsquery('english', :query) q
where words @@ q order by score desc, name limit :depth
"""


@pytest.fixture(scope="module")
def pages(postgres: str) -> str:
    """A database with 300 pages in which horses, hooves and saddles stand more or less often."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("drop table if exists fetch_pages")  # of this file's tests before others came between
        connection.execute("create table fetch_pages (name text primary key, title text, body text, words tsvector)")
        rows = []
        for n in range(300):
            body = "horse " * (n % 7) + "hooves " * (n % 5) + "saddle " * (n % 3) + "field grass"
            rows.append((f"p{n}", f"Page {n}", body))
        with connection.cursor() as cursor:
            insert = "insert into fetch_pages values (%s, %s, %s, to_tsvector('english', %s))"
            cursor.executemany(insert, [(*row, row[2]) for row in rows])
    return postgres


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    texts = ["horse", "hooves saddle", "'; drop table fetch_pages; --", "horses or 100%", "grass -horse"]
    (tmp_path / "q.csv").write_text("query,text\n" + "".join(f'q{n},"{text}"\n' for n, text in enumerate(texts)))
    return tmp_path / "q.csv"


def test_the_run_is_what_the_database_itself_ranks(pages: str, queries: Path, tmp_path: Path) -> None:
    (tmp_path / "search.sql").write_text(RANKED)
    words = ["--sql", f"{tmp_path}/search.sql", "--depth", "15", "--out", f"{tmp_path}/sql.run"]
    done = karat("fetch", pages, str(queries), *words, "--documents", f"{tmp_path}/docs.jsonl")
    assert done.returncode == 0, done.stderr
    run = kt.read_runs(tmp_path / "sql.run").frame.sort("query", "score", descending=[False, True])
    own = RANKED.replace(":query", "%s").replace(":depth", "15")
    with psycopg.connect(pages) as connection:
        for query, text in kt.read_queries(queries).frame.select("query", "text").iter_rows():
            wanted = [row[0] for row in connection.execute(own, (text,)).fetchall()]
            assert run.filter(query=query)["doc"].to_list() == wanted
    assert run["query"].n_unique() == 4  # the third finds nothing, and drops nothing
    assert "search: nothing found for 1 query (q2)" in " ".join(done.stdout.split())
    assert "Page " in kt.read_documents(tmp_path / "docs.jsonl").frame["title"][0]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "select * from fetch_pages where body = '{{query}}'",
            "sql=: expected a parameter :query, found {{query}}; a",
        ),
        ("delete from fetch_pages where name = :query returning name as doc", "found syntax error at or near"),
        (
            "with gone as (delete from fetch_pages where name = :query returning name) select name as doc from gone",
            "must not contain data-modifying statements",
        ),
        ("select nextval('fetch_numbers')::text as doc, :query", "read-only transaction"),
        ("select name as doc from fetch_pages where name = :query; select 1", "syntax error|multiple commands"),
        ("select title from fetch_pages where title <> :query", "expected hits of a known form, found none"),
        ("select name as doc from no_such_table where name = :query", 'relation "no_such_table" does not exist'),
    ],
)
def test_nothing_but_a_read_with_a_bound_query_is_asked(pages: str, queries: Path, sql: str, said: str) -> None:
    with psycopg.connect(pages, autocommit=True) as connection:
        connection.execute("create sequence if not exists fetch_numbers")
        with pytest.raises(BadInput, match=said.replace("{{", r"\{\{")):
            kt.fetch(pages, kt.read_queries(queries), sql=sql)
        assert connection.execute("select count(*) from fetch_pages").fetchone() == (300,)
        assert connection.execute("select last_value from fetch_numbers").fetchone() == (1,)


def test_a_query_that_takes_too_long_fails_alone(pages: str) -> None:
    sql = (
        "select name as doc, pg_sleep(case when :query = 'slow' then 5 else 0 end)::text as s from fetch_pages limit 1"
    )
    asked = kt.Queries.of([{"query": "1", "text": "quick"}, {"query": "2", "text": "slow"}])
    found = kt.fetch(pages, asked, sql=sql, timeout=0.3)
    assert found.failed.rows() == [("127.0.0.1", "2", "no answer within 0.3 seconds (timeout=)")]
    assert found.runs.frame["query"].to_list() == ["1"]


def test_no_password_is_said(queries: Path) -> None:
    with pytest.raises(BadInput, match="expected an answer, found ") as error:
        kt.fetch(
            "postgresql://me:s3cret@127.0.0.1:9/none", kt.read_queries(queries), sql="select :query as doc", timeout=3
        )
    assert "s3cret" not in str(error.value)
    with pytest.raises(BadInput, match="expected postgresql://NAME@HOST/DATABASE beside sql="):
        kt.fetch("http://localhost", kt.read_queries(queries), sql="select :query as doc")


def test_only_what_is_a_parameter_is_bound() -> None:
    sql = (
        "select ':query', \":query\", $$:query$$, x::text, a[1:2], E'\\':query' -- :query\n, :query /* :query */, a % 2"
    )
    made, used = bound(sql, {"query": "x", "depth": 3})
    assert made.count("%(query)s") == 1
    assert "a %% 2" in made
    assert used == {"query": "x"}
