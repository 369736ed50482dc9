"""A query goes into its place as it is, whatever it looks like; secrets go to the server only."""

from __future__ import annotations

import json
import tracemalloc
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.engines.engine import Engine
from karat.engines.templates import in_json
from karat.errors import BadInput

TEMPLATES = [
    '{"q": "{{query}}", "n": {{depth}}}',
    '{"q": "##query##", "n": "{{depth}}"}',
    '{"q": "#$query##", "n": {{ depth }}}',
    '{"q": "%SearchText%", "n": {{depth}}}',
    '{"q": {{query}}, "n": {{depth}}}',
]
#: What people and attackers type.
HOSTILE = [
    'say "hi"',
    "back\\slash",
    "{{query}}",
    "{{env:HOME}}",
    '"}, "x": {"',
    "a&b=c#d",
    "é 中 \u2028",
    "%SearchText%",
]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_query_is_one_text_in_json(template: str, text: str) -> None:
    sent = Engine("http://localhost/s", template=template).request_for({"query": text, "depth": 5}, {})
    assert json.loads(sent.body or "") == {"q": text, "n": 5}
    assert sent.verb == "POST"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_out_of_a_url_and_a_form_as_it_went_in(text: str) -> None:
    values = {"query": text, "depth": 5}
    url = Engine("http://localhost/s?q={{query}}&n={{depth}}").request_for(values, {})
    assert parse_qs(urlsplit(url.url).query, keep_blank_values=True)["q"] == [text]
    form = Engine("http://localhost/s", template="q=##query##&n={{depth}}").request_for(values, {})
    assert parse_qs(form.body, keep_blank_values=True) == {"q": [text], "n": ["5"]}
    assert form.headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_columns_of_the_queries_have_places_and_unknown_places_are_refused() -> None:
    engine = Engine("http://localhost/{{shop}}/s?q={{query}}")
    assert engine.request_for({"query": "a", "depth": 5, "shop": "de/at"}).url == "http://localhost/de%2Fat/s?q=a"
    with pytest.raises(BadInput, match=r"the place \{\{shop\}\}: expected \{\{query\}\}, \{\{depth\}\}, or"):
        engine.request_for({"query": "a", "depth": 5})


def test_a_request_without_the_query_is_refused() -> None:
    with pytest.raises(BadInput, match="so that every query would get the same list"):
        Engine("http://localhost/s", template='{"q": "horse"}').request_for({"query": "a", "depth": 5})


def test_a_template_that_is_no_json_says_where(tmp_path: object) -> None:
    with pytest.raises(BadInput, match=r"expected JSON, or a form .* found something else \(.*line 2"):
        Engine("http://localhost/s", template='{"q": "{{query}}",\n "size": }').request_for({"query": "a", "depth": 5})


def test_secrets_are_sent_and_never_shown() -> None:
    engine = Engine(
        "http://localhost/s?q={{query}}&key={{env:KEY}}",
        headers={"Authorization": "Basic env:LOGIN", "X-Shop": "7"},
    )
    shown = engine.request_for({"query": "{{env:KEY}}", "depth": 5})
    assert shown.shown == (
        "GET http://localhost/s?q=%7B%7Benv%3AKEY%7D%7D&key={{env:KEY}}\n"
        "Accept: application/json\nAuthorization: Basic {{env:LOGIN}}\nX-Shop: 7"
    )
    sent = engine.request_for({"query": "a", "depth": 5}, {"env:KEY": "s3cret/", "env:LOGIN": "me:pw"})
    assert sent.url.endswith("&key=s3cret%2F")
    assert sent.headers["Authorization"] == "Basic me:pw"  # encoded when it is sent
    with pytest.raises(
        BadInput, match="the header X-Api-Key: expected a secret from the environment, found one in plain"
    ):
        Engine("http://localhost/?q={{query}}", headers={"X-Api-Key": "abcd"})


@pytest.mark.parametrize(
    "url", ["localhost:9200", "ftp://x/{{query}}", "http://", "http://a b/", "queries.csv", "", "http://x:y"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="the address: expected a URL such as"):
        Engine(url)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(BadInput, match="Authorization: Basic env:VARIABLE") as error:
        Engine("http://me:s3cret@localhost/?q={{query}}")
    assert "s3cret" not in str(error.value)


def test_a_long_text_in_a_template_takes_little_memory() -> None:
    text = f'{{"a": "{"x" * 900_000}", "q": "{{{{query}}}}"}}'
    tracemalloc.start()
    filled = in_json(text, {"query": "tea"})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert filled.endswith('"q": "tea"}')
    assert peak < 10 * len(text)


def test_a_template_of_megabytes_is_refused() -> None:
    engine = Engine("http://localhost/s", system="new", template='{"q": "{{query}}"' + " " * 1_000_000 + "}")
    with pytest.raises(BadInput, match="the template of new: expected at most 1,000,000 characters, found 1,000,018"):
        engine.request_for({"query": "a", "depth": 5})
