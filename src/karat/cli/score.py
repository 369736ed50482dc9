"""`karat score`: how good are these rankings?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import polars as pl

from karat.cli import options
from karat.cli.inputs import Reading, measures_among, read_several, run_files
from karat.cli.query_filter import Kept, only_of
from karat.cli.query_filter import only as only_queries
from karat.cli.results import tell_as
from karat.cli.terminal import waiting
from karat.errors import BadInput, EmptyRun
from karat.formats import read_subtopics, read_user_weights
from karat.formats.label_batches import BUCKET, LARGE, deal_labels, size_of_labels
from karat.formats.open_files import File
from karat.formats.partitions import MOST, Piles
from karat.formats.read import new_names, read_runs
from karat.formats.run_batches import by_batches, follows_scores, parts_of
from karat.labels.label_table import Facts
from karat.measures import Measure, Profile, as_measures, at_level, profile_named
from karat.measures.scorer import NOT_TOLD, OF_A_SAMPLE, Buckets, ScoredQueries, Scorer, nothing_in_common
from karat.measures.scores import Scores
from karat.records import Result, Runs, Scale
from karat.records.list_order import FOLLOWS_SCORE, with_given_scores
from karat.study import Study


def are_large(labels: str) -> bool:
    """Whether labels should not be read at once, and need not."""
    return size_of_labels(labels) > LARGE


def score_in_buckets(
    labels: str,
    files: Sequence[str],
    measures: list[Measure],
    *,
    scale: Scale | None,
    profile: Profile,
    complete: bool,
    **chance: Any,
) -> Scores:
    """The scores of the runs in these files; the order of a query's rows is that of the files."""
    in_context = any(getattr(measure, "context", 0) for measure in measures)
    apart = ("context", "subtopic") if in_context else ("subtopic",)
    number = min(size_of_labels(labels) // BUCKET + 1, MOST)
    with TemporaryDirectory(prefix="karat-") as name, waiting("Dealing", 1 + len(files)) as one_done:
        folder = Path(name)
        dealt = deal_labels(labels, folder / "labels", number, scale, apart)
        one_done()
        runs = []
        for place, path in enumerate(files):
            runs.append(_deal_runs(path, folder / f"run{place}", number))
            one_done()
        facts = Facts.made(dealt.columns, dealt.counted, None if scale is None else scale.top.grade, apart)
        renamed = new_names([systems for _, systems in runs], list(files))
        named = [[new.get(one, one) for one in old] for (_, old), new in zip(runs, renamed, strict=True)]
        buckets = Buckets(facts, measures, scale, profile, complete, dealt.one_each)
        found = []
        for bucket in range(number):
            lists = [piles.taken(bucket)[0] for piles, _ in runs]
            lists = [one.with_columns(pl.col("system").replace(new)) for one, new in zip(lists, renamed, strict=True)]
            found.append(buckets.score(*dealt.taken(bucket), list(zip(lists, named, strict=True))))
    queries = pl.concat(found).sort("system", "query")
    for system in (system for systems in named for system in systems):
        if not (queries["system"] == system).any():
            raise nothing_in_common(f"the run of {system}")
    return Scores.of_queries(
        queries,
        [str(measure) for measure in measures],
        systems=[system for systems in named for system in systems],
        profile=profile.name,
        notes=[*([OF_A_SAMPLE] if facts.of_a_sample else []), f"labels larger than memory: {NOT_TOLD}"],
        **chance,
    )


def _deal_runs(path: str, folder: Path, buckets: int) -> tuple[Piles, list[str]]:
    """The runs of a file in buckets, and its systems."""
    systems: dict[str, None] = {}
    with Piles(folder, buckets) as piles:
        file = File(path)
        follows = pl.lit(follows_scores(file)).alias(FOLLOWS_SCORE)
        for runs in parts_of(file, True) or iter([read_runs(path)]):
            systems |= dict.fromkeys(runs.systems)
            piles.add(with_given_scores(runs.frame).with_columns(follows))
    return piles, list(systems)


#: More threads than this would wait for the one that scores what they read.
MOST_THREADS = 4
#: Labels in files of so many bytes, packed or not, fit into memory.
SMALL = 1 << 22
#: What is shown when no measure is asked for: what each tool is known for.
DEFAULTS = {
    "ndeval": ["alpha_nDCG@10", "ERR_IA@10", "NRBP", "P_IA@10", "StRecall@10"],
    "gdeval": ["nDCG@20", "ERR@20"],
}
DEFAULT = ["nDCG@10", "AP", "RR", "P@10", "Judged@10"]

EXAMPLES = """\b
Examples:
  karat score qrels.txt bm25.run neural.run -m nDCG@10 -m AP
  karat score qrels.txt runs/*.run.gz -m nDCG@10,P@5 --tsv > scores.tsv
  karat score qrels.txt my.run --all -l 2
  karat score my-study -m nDCG@10 --only kind=head
  karat score llm.csv my.run -m nDCG@10 --gold gold.csv
  karat score diversity.qrels my.run -m alpha_nDCG@10 --profile ndeval
  karat score labels.parquet 'hdfs:///runs/*.parquet' --spark yarn -m nDCG@10
  zcat my.run.gz | karat score labels.csv - --by-query --json

`karat measures` lists the measures."""


@click.command(epilog=EXAMPLES)
@click.argument("labels")
@click.argument("runs", metavar="[RUN...]", nargs=-1)
@options.measure(several=True, otherwise="what the profile's tool is known for")
@click.option("--all", "every", is_flag=True, help="All measures of trec_eval that karat has, as its -m all_trec.")
@options.relevance_level
@options.gold
@options.calibrate
@options.queries_are
@options.queries
@only_queries
@options.by_query
@options.profile
@options.complete
@options.resampling
@click.option("--weights", metavar="FILE", help="Weights for udm gains, as karat disagree --out writes them.")
@click.option("--subtopics", metavar="FILE", help="Weights of subtopics: a table of query, subtopic, weight.")
@click.option(
    "--spark",
    metavar="MASTER",
    help="Score by Spark: local[4], yarn, spark://HOST:7077, sc://HOST. Paths are those that Spark reads.",
)
@options.corrected
@options.form
def score(
    labels: str,
    runs: tuple[str, ...],
    measure: tuple[str, ...],
    every: bool,
    relevance_level: float | None,
    gold: str | None,
    calibrate: bool | tuple[str, ...],
    queries_are: str,
    queries: str | None,
    only: str | None,
    by_query: bool,
    profile: str,
    complete: bool,
    weights: str | None,
    subtopics: str | None,
    spark: str | None,
    reading: Reading,
    form: options.Form,
    **chance: Any,
) -> None:
    """Score runs against labels, with intervals over queries.

    LABELS are qrels, CSV, JSON lines, Parquet or a Quepid book; each RUN has TREC's six columns, or is CSV, JSON
    lines or Parquet. Files may be packed (.gz, .zst); - is standard input. LABELS may be a study's folder: then labels
    and scale are the study's, and its runs are scored unless some are named. With --gold, trusted labels for a
    sample of documents (karat plan gold draws it), scores are corrected for label errors and shown with the uncorrected
    ones. With --spark, LABELS and RUN are files, folders or globs that Spark reads (Parquet, CSV, TREC's lines).
    """
    files, names = measures_among(runs, measure)
    tool = profile_named(profile)
    if every:
        names = [*names, "all_trec"]
    measures = as_measures(names or DEFAULTS.get(tool.name, DEFAULT))
    if relevance_level is not None:
        measures = at_level(measures, relevance_level)
    if spark is not None:
        _tell(_on_cluster(spark, labels, files, measures, profile, complete, reading, chance), form, by_query)
        return
    files = run_files(labels, files)
    if [labels, *files].count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    if not any("udm(" in str(measure) for measure in measures):
        options.refuse("weights", why='no measure has gains of users who disagree, as "nDCG(gains=udm(1/3))@10"')
    if not any(measure.diverse for measure in measures):
        options.refuse("subtopics", why="no measure looks at subtopics, as alpha_nDCG@10 and P_IA@10 do")
    # A name mistyped at the end should not cost the work on the others.
    for path in files if Path(labels).is_dir() else [labels, *files]:
        File(path).check()
    if gold is None:
        options.refuse("queries_are", why="without --gold nothing is random on fixed queries")
        options.refuse("calibrate", why="it is about gold labels, and none are named by --gold")
    if only is None or "=" not in only:
        options.refuse("queries", why="queries are read for --only COLUMN=VALUE; for those of a file: --only FILE")
    whole = any(one is not None for one in (gold, only, weights, subtopics)) or reading.looks_at_all
    if not whole and not any("udm(" in str(measure) for measure in measures) and _may_be_large(labels):
        pass

        if are_large(labels):
            scale = Scale.parse(reading.scale) if isinstance(reading.scale, str) else reading.scale
            how = {"scale": scale, "profile": tool, "complete": complete, **chance}
            _tell(score_in_buckets(labels, files, measures, **how), form, by_query)
            return
    wanted = ("queries",) if only is not None else ()

    def against() -> tuple[Study, Scorer, Kept]:
        """What the runs are scored against, and the queries of theirs that count."""
        study, kept = only_of(reading.study(labels, only=wanted, gold=gold, queries=queries), only)
        scorer = Scorer(
            study.judged,
            measures,
            profile=tool,
            complete=complete,
            **chance,
            weights=None if subtopics is None else read_subtopics(subtopics),
            user_weights=None if weights is None else read_user_weights(weights),
        )
        return study, scorer, kept

    if gold is not None:
        from karat.correction.corrected_scores import correct_scores
        from karat.correction.gold_sample import Gold

        study, scorer, kept = against()
        lists = kept.all_runs(read_several(files))
        plain = scorer.score_all(lists)
        golden = study.gold
        assert golden is not None
        fixed = queries_are == "fixed"
        _tell(correct_scores(plain, scorer, lists, Gold.of(golden), calibrate, fixed=fixed), form, by_query)
        return
    _tell(_score_files(files, lambda: against()[1:]), form, by_query)


def _may_be_large(labels: str) -> bool:
    return Path(labels).is_file() and Path(labels).stat().st_size > SMALL


def _score_files(files: list[str], against: Callable[[], tuple[Scorer, Kept]]) -> Scores:
    """The scores of the runs in these files, which are read in batches, one file on each core.

    The first batches are read while `against` reads the labels.
    """
    context, cores = copy_context(), os.cpu_count() or 1
    # A thread more than cores reads a single run, as one waits for the file; one each where there are runs for all.
    threads = min(cores // max(len(files), 1) + 1, MOST_THREADS)
    ready: Future[tuple[Scorer, Kept]] = Future()
    with ThreadPoolExecutor(min(len(files), cores)) as pool, waiting("Scoring", len(files)) as one_done:

        def of_kept(batches: Iterator[Runs]) -> ScoredQueries:
            first = list(islice(batches, 1))
            scorer, kept = ready.result()
            return scorer.by_query(map(kept.runs, chain(first, batches)))

        def score_one(path: str) -> ScoredQueries:
            try:
                scored = context.copy().run(by_batches, path, of_kept, threads=threads)
            except EmptyRun:
                if ready.result()[1].queries is None:
                    raise
                raise EmptyRun.at(path, expected="some of the queries that are scored", found="none") from None
            one_done()
            return scored

        coming = [pool.submit(score_one, path) for path in files]
        try:
            ready.set_result(against())
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            ready.set_exception(error)
            raise
        parts = [one.result() for one in coming]
    scorer = ready.result()[0]
    clashes = new_names([part.systems for part in parts], files)
    return scorer.scores([part.renamed(clash) for part, clash in zip(parts, clashes, strict=True)])


def _on_cluster(
    master: str,
    labels: str,
    files: list[str],
    measures: list[Measure],
    profile: str,
    complete: bool,
    reading: Reading,
    chance: dict[str, Any],
) -> Scores:
    """The scores by Spark, which reads the files itself."""
    why = "with --spark labels are taken as they are, from files that Spark reads"
    options.refuse("queries", "only", "gold", "calibrate", "weights", "subtopics", why=why)
    options.refuse("aspect", "drop_bad_labels", "time_format", "database", why=why)
    if not files:
        raise BadInput("no run to score; the labels come first, then the runs")
    from karat.spark.files import score_files

    scale = Scale.parse(reading.scale) if isinstance(reading.scale, str) else reading.scale
    return score_files(master, labels, files, measures, scale=scale, profile=profile, complete=complete, **chance)


def _tell(scores: Scores, form: options.Form, by_query: bool) -> None:
    def show() -> None:
        from karat.cli.results import print_scores

        print_scores(scores, by_query)

    rows = Result(_rows(scores, by_query), scores.finding, scores.notes)
    tell_as(
        form,
        scores.to_dict(by_query=by_query),
        rows,
        show,
        tables={"Scores": scores},
    )


def _rows(scores: Scores, by_query: bool) -> pl.DataFrame:
    """The means, the best system first, with each query's uncorrected values above them if asked for."""
    means = scores.to_frame().select("system", pl.lit("all").alias("query"), pl.exclude("system"))
    order = pl.DataFrame({"system": scores.best_first()}).with_row_index("place")
    rows = means.join(order, on="system", maintain_order="left").sort("place", maintain_order=True).drop("place")
    if by_query:
        name = "uncorrected" if scores.has_gold else "value"
        each = scores.queries.unpivot(index=["system", "query"], variable_name="measure", value_name=name)
        each = each.with_columns(pl.lit(1, dtype=pl.Int64).alias("n"))
        rows = pl.concat([each, rows], how="diagonal_relaxed").select(rows.columns)
    return rows.with_columns(pl.col(pl.Float64).fill_nan(None))
