"""Spoilt files to every reader and every command that reads: no fault, no hang, little memory.

    python benchmarks/fuzz.py --inputs 20000 --seed 1
    python benchmarks/fuzz.py --seed 1 --case 1234       (one of them again, with its traceback)

Each input is a sample of `fuzz_samples.py` with one to four things wrong, and goes to a reader or command drawn for it.
Right is an answer, or an error in words with exit code 1 or 2. A fault is anything else: a traceback, a crash of the
process, an escape sequence in what is printed, more than 10 seconds of the processor, or more than 2 GB. Workers are
processes of their own, so that a crash or a hang ends one of them only; the limit on unpacked bytes is 50 MB here
(KARAT_MAX_BYTES).
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]

import karat as kt  # noqa: E402
from commands import karat  # noqa: E402
from fuzz_mutations import spoilt  # noqa: E402
from fuzz_samples import SAMPLES  # noqa: E402
from karat.engines.engine import Engine  # noqa: E402
from karat.engines.hits import read_hits  # noqa: E402

#: Seconds and bytes that no input may take, and bytes that a packed one may unpack to.
LONGEST, MOST_MEMORY, UNPACKED = 10.0, 2 << 30, 50_000_000

#: Answers of people, by the tools that collect them; and an engine whose answers are read.
CROWDS = (
    "mturk.csv",
    "radio.csv",
    "crowd-form.csv",
    "toloka.tsv",
    "appen.csv",
    "studio.",
    "prodigy.jsonl",
    "doccano.jsonl",
)
ENGINE = Engine("http://localhost/?q={{query}}")

#: The readers of Python, each with the samples that are meant for it; one in five gets another's.
READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "read_judgments": (
        kt.read_judgments,
        (
            "labels.",
            "qrels.txt",
            "gold.csv",
            "book.json",
            "basic.csv",
            "judges.csv",
            "wide.csv",
            "umbrela.jsonl",
            "nested.json",
            "opensearch.json",
            "request.json",
            "case.json",
            "raters-case.json",
            "snapshot.csv",
            "judgements",
            "nuggets.jsonl",
            "beir.tsv",
            "letor.txt",
            "crowd-kit.csv",
            *CROWDS,
        ),
    ),
    "read_crowds": (kt.read_judgments, CROWDS),
    "read_runs": (
        kt.read_runs,
        (
            *("a.run", "run.", "nested.json", "evaluated.jsonl", "response.json", "snapshot.csv", "metadata.run"),
            *("pyterrier.csv", "msmarco.tsv", "evaluations.json", "packed.lz4", "cbor.json", "predictions.json"),
            *("compared.json", "searched.", "searches.json"),
        ),
    ),
    "read_preferences": (kt.read_preferences, ("preferences.", "answers.")),
    "read_clicks": (kt.read_clicks, ("clicks.csv", "log.csv", "ubi.ndjson", "events.csv")),
    "read_queries": (kt.read_queries, ("queries.csv", "topics.xml", "classic.txt", "texts.tsv", "beir-queries.jsonl")),
    "read_subtopics": (kt.read_subtopics, ("subtopics.csv", "topics.xml")),
    "read_documents": (kt.read_documents, ("documents.", "beir-documents.jsonl", "texts.tsv")),
    "read_hits": (lambda path: read_hits(ENGINE, Path(path).read_text(errors="replace"), 5), ("answer-",)),
    "read_session_lists": (kt.read_session_lists, ("sessions.csv",)),
    "read_ratings": (kt.read_ratings, ("ratings.csv",)),
}

#: The commands, in a folder with all samples; X is the spoilt one of those named after the colon, T its text.
COMMANDS = """
convert X out.csv : labels. qrels.txt book.json basic.csv judges.csv umbrela.jsonl run. a.run
convert X out.csv : nested.json opensearch.json evaluated.jsonl compared.json request.json response.json
convert X out.csv : case.json raters-case.json snapshot.csv judgements nuggets.jsonl
convert X out.csv : searched. searches.json
score qrels.txt searches.json -m P@3 : searches.requests.ndjson
convert X out.csv --kind documents : nuggets.jsonl rag-answers.jsonl
convert X out.run : rag-answers.jsonl
score X X -m NuggetRecall,CitationPrecision : nuggets.jsonl
compare X X -m NuggetRecall : nuggets.jsonl
convert X out.csv : preferences. clicks.csv queries.csv topics.xml documents.
convert X out.txt : qrels.txt book.json basic.csv run.
convert X out.jsonl : labels. log.csv topics.xml run.
convert X out.parquet : labels. documents.
convert X out.json : labels. qrels.txt
convert X out.json --to ranx : qrels.txt a.run nested.json
convert X out.json --to opensearch : qrels.txt opensearch.json
convert X out.json --to rank-eval : qrels.txt request.json
convert X out.csv --consensus --map 2=1 : labels.
convert X out.csv : mturk.csv radio.csv crowd-form.csv toloka.tsv appen.csv crowd-kit.csv
convert X out.csv : studio. prodigy.jsonl doccano.jsonl
convert X out.csv : beir letor.txt metadata.run pyterrier.csv evaluations.json ubi.ndjson events.csv classic.txt
convert X out.csv --kind documents : texts.tsv beir-documents.jsonl
convert X out.csv --kind runs : msmarco.tsv pyterrier.csv
convert X out.csv --to pyterrier : qrels.txt a.run pyterrier.csv
convert X out.txt --to letor : labels.csv letor.txt
convert X out.csv --to crowd-kit : labels.
convert X out.tsv --to beir : qrels.txt beir.tsv
convert X out.csv --from mturk : mturk.csv radio.csv labels.csv
convert X out.csv --from label-studio : studio. labels.
convert labels.csv out.csv --columns T : columns.txt
score qrels.txt a.run -m T : measure.txt
score qrels.txt a.run --scale T : scale.txt
fetch http://127.0.0.1:9/ queries.csv --template X --show-request : template.json
fetch http://127.0.0.1:9/ X --template template.json --show-request : queries.csv classic.txt texts.tsv
fetch X queries.csv --show-request : engines.toml
judges X : mturk.csv toloka.tsv appen.csv studio. prodigy.jsonl
disagree by labels.csv kind --queries X : queries.csv topics.xml
disagree consistency X : labels.
context labels X a.run --out out.csv : labels.
validate correlation X a.run b.run run.csv -m P@3,nDCG@5 : qrels.txt
validate fit X qrels.txt a.run b.run -m RBP --vary p=0.5,0.8 : preferences.
validate ratings X qrels.txt sessions.csv -m P@3 --rating satisfied : ratings.csv
validate ratings ratings.csv qrels.txt X -m P@3 --rating satisfied : sessions.csv
score X a.run b.run : labels. qrels.txt book.json umbrela.jsonl
score qrels.txt X --by-query : a.run run.
score qrels.txt a.run --gold X -m P@3 : gold.csv
score qrels.txt a.run -m P@3 --scale 0..3 --json : qrels.txt
score labels.csv a.run -m alpha_nDCG@5,nDCG@5,ERR@5,RBP : labels.
compare X a.run b.run -m nDCG@5 : labels. qrels.txt
compare qrels.txt X b.run -m P@3 : a.run run.
compare qrels.txt a.run b.run --gold X -m P@3 : gold.csv
compare qrels.txt a.run b.run --queries X --by kind -m P@3 : queries.csv topics.xml
correct labels.csv a.run -m P@3 --gold X : gold.csv
correct labels.csv a.run b.run -m DCG@5 --confusion X : confusion.csv
judges X : labels. book.json judges.csv umbrela.jsonl
judges gold labels.csv --gold X : gold.csv
judges clicks labels.csv --clicks X : clicks.csv log.csv
judges bias labels.csv --gold gold.csv --documents X --queries queries.csv : documents.
judges bias labels.csv --gold gold.csv --documents documents.csv --queries X : queries.csv topics.xml
judges llm X --gold gold.csv : umbrela.jsonl labels. book.json
clicks X --out out.csv : log.csv ubi.ndjson events.csv
interleave X : teams.csv
disagree X : labels.
disagree users X --draws 0 : labels.
disagree gains X --out out.csv : labels.
disagree by X judge --draws 0 : labels.
disagree opinions X --latex : labels.
plan disagree X : labels.
context X a.run : labels.
validate agreement X qrels.txt a.run b.run -m P@3 --split difference : preferences.
validate agreement preferences.csv qrels.txt a.run b.run -m P@3 --split kind --queries X : queries.csv topics.xml
validate agreement preferences.csv X a.run b.run -m P@3 : qrels.txt labels.
validate votes X : preferences.
validate documents X qrels.txt a.run : answers. preferences.csv
plan documents qrels.txt --preferences X --n-pairs 3 : answers.
score X a.run -m Compat : answers.
validate judges X : preferences.
validate ranking X : preferences.
validate clicks X qrels.txt a.run : clicks.csv log.csv
validate reasons X : reasons.csv preferences.
plan gold X a.run b.run -n 5 --force --out out.csv : labels. qrels.txt
plan gold qrels.txt a.run b.run -n 5 --force --gold X --out out.csv : gold.csv
plan pairs X a.run b.run --min-difference nDCG@10=0.01 --out out.csv : qrels.txt
plan context X --out out.csv : a.run run.
plan power X a.run b.run --difference 0.1 : qrels.txt labels.
import study X : tasks.csv labels. preferences. gold.csv reasons.csv
import study X --kind tasks : tasks.csv
score spoilt : study.toml
ask spoilt --model m --estimate : study.toml
ask a.run --queries X --documents documents.jsonl --model m --estimate --scale 0..3 --out out.csv : queries.csv
ask a.run --queries queries.csv --documents X --model m --estimate --scale 0..3 --out out.csv : documents.
"""
#: Those that take a second, drawn less often.
SLOW_COMMANDS = """
report X a.run b.run -o out.html --draws 100 : labels. qrels.txt
report qrels.txt a.run b.run --gold X -o out.html --draws 100 : gold.csv
report qrels.txt a.run b.run --preferences X -o out.html --draws 100 : preferences.
train labels.csv --features X --folds 3 --draws 0 : features.csv
"""
TARGETS, SLOW_TARGETS = (
    [(line.partition(" : ")[0].split(), tuple(line.partition(" : ")[2].split())) for line in lines.strip().splitlines()]
    for lines in (COMMANDS, SLOW_COMMANDS)
)


class Fault(Exception):
    """What should not be."""


def prepare(folder: Path) -> None:
    """The samples, and a study to import into."""
    for name, data in SAMPLES.items():
        (folder / name).write_bytes(data)
    for name in ("study", "spoilt"):
        (folder / name / "runs").mkdir(parents=True)
        (folder / name / "study.toml").write_bytes(SAMPLES["study.toml"])
        (folder / name / "judgments.csv").write_bytes(SAMPLES["labels.csv"])
        for run in ("a.run", "b.run"):
            (folder / name / "runs" / run).write_bytes(SAMPLES[run])


def run_case(seed: int, number: int, folder: Path, *, commands: float = 0.35) -> str:
    """Run one input in the folder; returns what it went to, and raises `Fault` where karat breaks."""
    rng = random.Random(f"{seed}:{number}")
    by_command = rng.random() < commands
    targets = SLOW_TARGETS if rng.random() < 0.01 else TARGETS
    words, meant = rng.choice(targets) if by_command else ([name := rng.choice(list(READERS))], READERS[name][1])
    fitting = [name for name in SAMPLES if name.startswith(meant)] if rng.random() < 0.8 or by_command else [*SAMPLES]
    sample = rng.choice(fitting)
    data = spoilt(SAMPLES[sample], rng)
    name = "spoilt/study.toml" if sample == "study.toml" and by_command else f"x.{sample}"
    path = folder / name
    path.write_bytes(data)
    text = data.decode(errors="replace").replace("\0", "")  # a word that is typed has no zero byte
    told = f"{' '.join(words)} {sample}"
    try:
        if not by_command:
            READERS[words[0]][0](str(path))
        else:
            with chdir(folder):
                _command([name if word == "X" else text if word == "T" else word for word in words], told)
    except kt.KaratError as error:
        if not str(error):
            raise Fault(f"{told}: an error without words") from error
    return told


def _command(words: list[str], told: str) -> None:
    done = karat(*words)
    if done.returncode not in (0, 1, 2):
        raise Fault(f"{told}: exit {done.returncode}: {done.stderr[-300:]}")
    if "\x1b" in done.stdout + done.stderr or "Traceback" in done.stderr:
        raise Fault(f"{told}: an escape sequence or a traceback: {done.stderr[-300:]}")


def worker(seed: int, first: int, last: int) -> None:
    """Run inputs, a line before and after each: the parent sees by it which one hung or crashed."""
    os.environ["KARAT_MAX_BYTES"] = str(UNPACKED)
    said = os.fdopen(os.dup(1), "w")
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, whatever library it hangs in
    with tempfile.TemporaryDirectory() as place:
        prepare(Path(place))
        for number in range(first, last):
            print("start", number, file=said, flush=True)
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            try:
                told = run_case(seed, number, Path(place))
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
                result = f"memory {told}: {peak:,} bytes" if peak > MOST_MEMORY else f"fine {told}"
            except BaseException as error:  # a panic of Polars is no Exception
                where = traceback.extract_tb(error.__traceback__)[-1]
                result = f"fault {type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {error}"
            print(" ".join(result.split())[:400], file=said, flush=True)
            if result.startswith("memory"):
                return


def results(seed: int, first: int, last: int) -> Iterator[tuple[int, str, float]]:
    """Each input's number, result and seconds; a worker that hangs or dies is replaced from the next input on."""
    while first < last:
        command = [sys.executable, __file__, "--worker", str(seed), str(first), str(min(last, first + 2000))]
        # Samples are small: threads would only wait for each other.
        alone = {**os.environ, "POLARS_MAX_THREADS": "1"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=alone)
        assert process.stdout is not None
        number, begun, ended = first, time.monotonic(), False
        first = min(last, first + 2000)
        while not ended:
            ready, _, _ = select.select([process.stdout], [], [], 30 * LONGEST)
            line = process.stdout.readline() if ready else ""
            if line.startswith("start"):
                number, begun = int(line.split()[1]), time.monotonic()
                continue
            spent, ended = time.monotonic() - begun, not line.startswith(("fine", "fault"))
            if line:
                yield number, line.strip(), spent
            elif not ready or process.wait() == -signal.SIGPROF:
                yield number, "hang", spent
            elif process.wait():
                yield number, f"crash, exit {process.returncode}", spent
            else:
                number = first - 1
            first = number + 1 if ended else first
        process.kill()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", type=int)
    parser.add_argument("--worker", type=int, nargs=3)
    given = parser.parse_args()
    if given.worker:
        return worker(*given.worker)
    if given.case is not None:
        os.environ["KARAT_MAX_BYTES"], os.environ["KARAT_DEBUG"] = str(UNPACKED), "1"
        with tempfile.TemporaryDirectory() as place:
            prepare(Path(place))
            print(run_case(given.seed, given.case, Path(place)))
        return None
    print(f"seed {given.seed}", flush=True)
    begun, kinds, slowest, wrong = time.monotonic(), Counter[str](), (0.0, ""), 0
    for number, result, seconds in results(given.seed, given.first, given.first + given.inputs):
        kinds[result.split()[0]] += 1
        slowest = max(slowest, (seconds, f"{number} {result}"))
        if not result.startswith("fine"):
            wrong += 1
            print(f"--seed {given.seed} --case {number}: {result}", flush=True)
        if (number + 1) % 5000 == 0:
            print(f"{number + 1:,} inputs, {time.monotonic() - begun:.0f} s, {dict(kinds)}", flush=True)
    print(f"{sum(kinds.values()):,} inputs in {time.monotonic() - begun:.0f} s: {dict(kinds)}; slowest {slowest}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
