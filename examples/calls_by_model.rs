//! How many calls of each model came to which end: the tables of an analysis in polars.
#![allow(clippy::print_stdout)]

use polars::prelude::DataFrame;
use retrylens::ingest::{self, Source};
use retrylens::{frames, judge, report};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    println!("{}", count(&ingest::resolve(&paths)?)?);
    Ok(())
}

fn count(logs: &[Source]) -> Result<DataFrame, Box<dyn Error>> {
    // The tables name calls and requests by their ids, which are not kept otherwise.
    let reading = ingest::Options { keep_ids: true, ..ingest::Options::default() };
    let log = ingest::read(logs, &reading, &|_| {})?;
    // Nothing follows these logs: a call whose last attempt failed has failed.
    let judging = judge::Options { complete: true, ..judge::Options::default() };
    let judgement = judge::judge(&log.table, &judging);
    let report = report::build(&log, &judgement, &judging.rules);
    println!("{}", report.verdict);

    let tables = frames::LogTables::new(&log.table, &judging);
    let [_attempts, calls] = tables.frames();
    let [_runs, _findings] = frames::of_report(&report);
    Ok(calls.to_polars()?.group_by_stable(["model", "outcome"])?.select(["call"]).count()?)
}
