"""Judges logs on any path that Hadoop reads, with retrylens on every worker.

    spark-submit --files /usr/local/bin/retrylens retrylens_job.py --input 's3a://logs/2026-11-30/*' --output out
        [--task-mb 512] [--fan-in 16] [--binary NAME] [--read "OPTIONS"] [--judge "OPTIONS"]

Each task reads some files and writes what it read as a partial (`retrylens analyze --partial`). Partials are merged, so many at a
time, and the driver judges what they come to (`retrylens merge`), with the report that one machine would give. A partial depends
on nothing but the bytes of its files, so a task that Spark runs again counts nothing twice.
"""

import argparse
import math
import os
import pathlib
import posixpath
import shlex
import subprocess
import sys
import tempfile

from pyspark import SparkConf, SparkContext, SparkFiles, StorageLevel

# Of `retrylens`: nothing found, something found, and everything judged but for inputs that could not be read to their end.
JUDGED = (0, 1, 74)
# Files named on one command line; Linux takes 2 MB of arguments.
FILES_AT_ONCE = 1000


class Failed(Exception):
    """What ends the job, as a sentence."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", required=True, action="append", help="a file, folder or pattern; may be given again")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="a folder of the driver for reports and tables")
    parser.add_argument("--task-mb", type=int, default=512, help="megabytes of files a task reads (default: 512)")
    parser.add_argument("--fan-in", type=int, default=16, help="partials merged at a time (default: 16)")
    parser.add_argument("--binary", default="retrylens", help="the program: its name in --files, or its path on every worker")
    parser.add_argument("--read", type=shlex.split, default=[], help="options of analyze that say how lines are read")
    parser.add_argument("--judge", type=shlex.split, default=[], help="options of merge that say how to judge and what to write")
    options = parser.parse_args()
    if options.fan_in < 2 or options.task_mb < 1:
        parser.error("--fan-in takes 2 or more, --task-mb 1 or more")

    # A task reads whole files, as many as make up so many bytes.
    conf = SparkConf().set("spark.files.maxPartitionBytes", str(options.task_mb << 20)).setIfMissing("spark.app.name", "retrylens")
    spark = SparkContext(conf=conf)
    try:
        status = run(spark, options)
    except Failed as failed:
        status = f"retrylens_job: {failed}"
    finally:
        spark.stop()
    sys.exit(status)


def run(spark, options):
    """Reads, merges and judges; the exit code of `retrylens merge`."""
    files = spark.binaryFiles(",".join(options.input))
    paths = known(lambda: files.keys().collect())
    if not paths:
        raise Failed(f"no file in {', '.join(options.input)}")
    root = posixpath.commonpath([posixpath.dirname(path) for path in paths])
    binary, read = options.binary, options.read
    partials = files.mapPartitions(lambda some: partials_of(binary, read, some, root)).persist(StorageLevel.MEMORY_AND_DISK)
    count = known(partials.count)
    while count > options.fan_in:
        count = math.ceil(count / options.fan_in)
        partials = partials.coalesce(count).mapPartitions(lambda some: [merged(binary, some)]).persist(StorageLevel.MEMORY_AND_DISK)
        known(partials.count)
    options.output.mkdir(parents=True, exist_ok=True)
    output = options.output.resolve()
    forms = [argument for form, name in FORMS.items() for argument in ("--output", f"{form}={output / name}")]
    with tempfile.TemporaryDirectory() as folder:
        names = kept(folder, partials.toLocalIterator())
        return checked(subprocess.run([located(binary), "merge", *forms, *options.judge, *names], cwd=folder), "merge").returncode


FORMS = {"html": "report.html", "json": "report.json", "sarif": "report.sarif", "parquet": "tables"}


def known(action):
    """What an action of Spark gives; a failure of a worker in its own words."""
    try:
        return action()
    except Exception as error:
        told = [line for line in str(error).splitlines() if "Failed: " in line]
        if told:
            raise Failed(told[-1].split("Failed: ", 1)[1]) from None
        raise


def partials_of(binary, options, files, root):
    """Partials of files, each (path, bytes), named by their paths below `root`."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for path, content in files:
            name = posixpath.relpath(path, root)
            if name.startswith(".."):
                raise Failed(f"{path} is not below {root}")
            place = pathlib.Path(folder, "logs", name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            names.append(name)
        for at in range(0, len(names), FILES_AT_ONCE):
            out = pathlib.Path(folder, f"{at}.rlp")
            some = sorted(names)[at : at + FILES_AT_ONCE]
            command = [located(binary), "analyze", *options, "--partial", str(out), "--", *some]
            checked(run_quietly(command, os.path.join(folder, "logs")), "analyze --partial")
            yield out.read_bytes()


def merged(binary, partials):
    """One partial of several."""
    with tempfile.TemporaryDirectory() as folder:
        names = kept(folder, partials)
        checked(run_quietly([located(binary), "merge", "--partial", "merged.rlp", *names], folder), "merge --partial")
        return pathlib.Path(folder, "merged.rlp").read_bytes()


def kept(folder, partials):
    """The names of files in `folder` that hold partials."""
    names = []
    for number, partial in enumerate(partials):
        names.append(f"{number}.rlp")
        pathlib.Path(folder, names[-1]).write_bytes(partial)
    return names


def located(binary):
    """The program on this machine."""
    shipped = pathlib.Path(SparkFiles.get(binary)) if os.sep not in binary else pathlib.Path(binary)
    if not shipped.is_file():
        raise Failed(f"{binary} is not on this worker: give its path to spark-submit --files, or its path on every worker to --binary")
    shipped.chmod(shipped.stat().st_mode | 0o100)
    return str(shipped)


def run_quietly(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")


def checked(done, what):
    if done.returncode not in JUDGED:
        told = (done.stderr or "").strip().splitlines()
        raise Failed(f"retrylens {what} ended with {done.returncode}: {told[0] if told else 'see its output'}")
    return done


if __name__ == "__main__":
    main()
