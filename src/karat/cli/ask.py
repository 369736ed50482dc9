"""`karat ask`: language models as judges."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.options import OneOf, columns
from karat.cli.terminal import tell_notes, visible
from karat.errors import KaratError, Undefined

if TYPE_CHECKING:
    from karat.llm.answer_rows import Judge
    from karat.llm.panel import Panel

EXAMPLES = """\b
Examples:
  karat ask my-study --model gpt-4o-mini --estimate     (what it would cost; nothing is sent)
  karat ask my-study --model gpt-4o-mini --budget 5
  karat ask my-study --model small --url http://localhost:8080/v1 --audit --gold gold.csv
  karat ask a.run b.run --queries q.csv --documents d.jsonl --model gpt-4o-mini --out llm.csv
  karat ask my-study --model gpt-4o-mini --show-prompt"""


@click.command(epilog=EXAMPLES, short_help="Ask language models for labels, and audit them as judges.")
@click.argument("paths", metavar="[STUDY] [RUN]...", nargs=-1)
@click.option("--model", "models", metavar="NAME", multiple=True, help="A model to ask; several are several judges.")
@click.option("--url", metavar="URL", default="", help="The server, as http://localhost:8080/v1; else the vendor's.")
@click.option("--dialect", type=OneOf("karat.llm.dialects:DIALECTS"), default="openai", help="What it speaks.")
@click.option(
    "--prompt", "prompts", metavar="NAME|FILE", multiple=True, help="How it is asked; several are several judges."
)
@click.option("--as", "names", metavar="JUDGE", multiple=True, help="The judge's name, one for each model and prompt.")
@options.queries
@options.documents
@options.runs
@options.depth(10)
@options.gold
@options.scale
@click.option("--guidelines", metavar="FILE", help="Guidelines for judges, beside the scale.")
@click.option("--reasons", is_flag=True, help="Ask for a reason, after the grade.")
@click.option("--logprobs", is_flag=True, help="Ask for log-probabilities: columns expected_grade and mass.")
@click.option("--expected", is_flag=True, help="Label with the expected grade, a real number, not the likeliest.")
@click.option(
    "--most-shown", default=12_000, type=click.IntRange(100), help="Characters of a document; the rest is cut."
)
@click.option("--temperature", default=0.0, type=click.FloatRange(0, 2), help="How freely the model chooses its words.")
@click.option("--max-tokens", default=400, type=click.IntRange(1), help="The longest answer, in tokens.")
@options.seed
@click.option("--audit", is_flag=True, help="Ask only what tells whether the judge can be trusted.")
@click.option("--estimate", is_flag=True, help="Say what it would take, and send nothing.")
@click.option(
    "--show-prompt", is_flag=True, help="Print the first question of each judge word for word, and send nothing."
)
@click.option("--replay", is_flag=True, help="Make the labels anew from stored answers, and send nothing.")
@click.option(
    "--allow-model",
    "allowed",
    metavar="NAME",
    multiple=True,
    help="Accept answers of this model, too, where a server replies with another name.",
)
@click.option("--batch", is_flag=True, help="By the vendor's batches: half the price, within a day.")
@click.option("--retry", type=OneOf("karat.llm.outcomes:NO_ANSWER"), multiple=True, help="Ask these again.")
@click.option(
    "--budget",
    type=click.FloatRange(0),
    metavar="DOLLARS",
    help="The most to spend, stored answers of earlier runs included; asking stops before it is exceeded.",
)
@click.option("--price", metavar="IN/OUT", help="Dollars for a million tokens of questions and answers: 0.15/0.60.")
@click.option("--rpm", type=click.FloatRange(0, min_open=True), help="The most calls a minute.")
@click.option("--tpm", type=click.FloatRange(0, min_open=True), help="The most tokens a minute.")
@options.concurrency(8)
@options.attempts(6)
@options.timeout(120.0)
@click.option("--key-env", metavar="VARIABLE", help="The variable of the environment that holds the key.")
@options.answers
@options.database
@columns
@options.out
@options.as_json
def ask(paths: tuple[str, ...], as_json: bool, **typed: Any) -> None:
    """Ask language models for labels: a study's tasks, or the documents that runs have down to a depth.

    A model is a judge of the group llm of the study; people's tasks stay theirs. Every answer is kept as it came:
    the same command again asks what is missing. If a run is killed, requests in flight, at most --concurrency, are
    sent again and may be paid for twice. What is no grade (refused, cut off, invalid, too
    long, other model, transport) is counted, leaves the document unjudged, and is asked again by --retry. The key comes
    from the environment: OPENAI_API_KEY or ANTHROPIC_API_KEY, or with --url what --key-env names.
    """
    from karat.cli.ask_inputs import asked_for
    from karat.cli.ask_outputs import tell, tell_estimate
    from karat.cli.open_study import alone_asking
    from karat.llm.answer_store import AnswerStore
    from karat.llm.costs import Budget
    from karat.llm.panel import Panel

    with ExitStack() as stack:
        asked = asked_for(stack, paths, typed)
        judges = asked.judges(typed)
        if typed["show_prompt"]:
            with closing(AnswerStore(":memory:")) as empty:
                Panel(judges, empty)  # refuses a prompt that is for none of the tasks
            for judge in judges:
                _show_prompt(judge, several=len(judges) > 1)
            return
        sends = not (typed["estimate"] or typed["replay"])
        if sends:
            stack.enter_context(alone_asking(asked.answers, f"process {os.getpid()}"))
        if sends or asked.answers.is_file() or typed["replay"]:
            store = AnswerStore(asked.answers, made=sends)
        else:
            store = AnswerStore(":memory:")
        stack.callback(store.close)
        panel = Panel(judges, store, Budget(typed["budget"]))
        if typed["estimate"]:
            tell_estimate(panel, typed, as_json)
            return
        stopped = _sent(panel, typed) if sends else None
        left = tell(panel, asked, typed["out"], as_json, expected=typed["expected"], sends=sends)
    if stopped is not None:
        raise stopped
    if left:
        raise Undefined(left)


def _show_prompt(judge: Judge, *, several: bool) -> None:
    """The first question of a judge, and the mark of its prompt, which is kept with every answer."""
    from karat.llm.answer_rows import prompt_of, requests_of
    from karat.llm.asking import NoText

    for task in judge.tasks:
        with suppress(NoText):
            request = requests_of(judge.asker, task)[0]
            if several:
                click.echo(visible(f"=== {judge.name}"))
            click.echo(visible(f"{request.system}\n---\n{request.user}"))
            prompt = prompt_of(judge, task)
            tell_notes([f"the prompt {prompt.name}, {judge.prompt_versions(task['kind'])[0]}"])
            return
    raise Undefined("there is no question to show: no document has a text")


def _sent(panel: Panel, typed: dict[str, Any]) -> KaratError | None:
    """Ask the panel; why it had to stop, if it had to."""
    from karat.cli.ask_outputs import asking_bar
    from karat.engines.http_calls import Stopped
    from karat.llm.panel import Manners

    if typed["batch"]:
        why = "a batch is handed in as a whole"
        options.refuse("rpm", "tpm", "concurrency", "attempts", why=why)
    manners = Manners(
        typed["concurrency"], typed["rpm"], typed["tpm"], typed["attempts"], typed["timeout"], typed["key_env"]
    )
    try:
        with asking_bar(panel) as told:
            asked = panel.ask_in_batches if typed["batch"] else panel.ask
            asked(manners, retry=typed["retry"], told=told)
    except Stopped as error:
        return error
    except KeyboardInterrupt:
        kept = "stopped; the answers so far are kept, and the same command goes on from there"
        if typed["batch"]:
            return Undefined(kept)
        most = f"at most {typed['concurrency']}"
        return Undefined(
            f"{kept}. It sends the requests that were in flight again ({most}), which may then be paid for twice."
        )
    return None
