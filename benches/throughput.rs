//! How fast a log is read and judged, stage by stage; see `README.md` beside this file.
//!
//! ```text
//! cargo bench --bench throughput -- [--mb 1000] [--repeat 1] [--shapes 1|N|every]
//!                                                         [--runs 5] [--write PATH]
//! ```

#![allow(clippy::expect_used, clippy::print_stdout, clippy::panic)] // a benchmark talks, and stops when it cannot go on

mod fleet_log;
mod process;
mod sample;
mod typed;

use fleet_log::{FleetLog, Shapes};
use process::Program;
use retrylens::ingest::{self, Source, bench::has_outcome};
use retrylens::{judge, render, report};
use sample::Sample;
use std::fs;
use std::hint::black_box;
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};
use typed::Record;

/// Stages that need the text in memory take at most this much of it.
const IN_MEMORY: u64 = 1 << 30;
/// Starts of the program on a small file.
const STARTS: usize = 50;

struct Options {
    log: FleetLog,
    runs: usize,
    write: Option<PathBuf>,
}

fn main() {
    // `cargo test --all-targets` runs benchmarks too, without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let options = options();
    if let Some(path) = &options.write {
        write(&options.log, path).expect("the log can be written");
        return;
    }
    let path = kept_log(&options.log);
    in_memory(&path, options.runs);
    let attempts = stages(&path, options.runs);
    whole(&path, attempts, options.runs);
}

fn options() -> Options {
    let log = FleetLog { bytes: 1_000_000_000, repeat: 1, shapes: Shapes::Orders(1) };
    let mut options = Options { log, runs: 5, write: None };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
        let number = || value.parse::<u32>().unwrap_or_else(|_| panic!("{name} {value}: not a number")).max(1);
        match name.as_str() {
            "--mb" => options.log.bytes = u64::from(number()) * 1_000_000,
            "--repeat" => options.log.repeat = number(),
            "--shapes" if value == "every" => options.log.shapes = Shapes::EveryLine,
            "--shapes" => options.log.shapes = Shapes::Orders(u64::from(number())),
            "--runs" => options.runs = number() as usize,
            "--write" => options.write = Some(PathBuf::from(value)),
            _ => panic!("{name}: known are --mb, --repeat, --shapes, --runs, --write"),
        }
    }
    options
}

/// The log, made unless an earlier run left it.
fn kept_log(log: &FleetLog) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/data");
    let path = folder.join(format!("fleet-{}.jsonl", log.stamp()));
    if !path.exists() {
        fs::create_dir_all(&folder).expect("benches/data can be made");
        // Under another name until it is whole.
        let unfinished = folder.join("unfinished.jsonl");
        write(log, &unfinished).expect("the log can be written");
        fs::rename(&unfinished, &path).expect("the log can be renamed");
    }
    path
}

fn write(log: &FleetLog, path: &Path) -> io::Result<()> {
    let start = std::time::Instant::now();
    let attempts = log.write(&mut BufWriter::with_capacity(1 << 20, fs::File::create(path)?))?;
    let (bytes, seconds) = (fs::metadata(path)?.len(), start.elapsed().as_secs_f64());
    println!(
        "wrote {}: {bytes} bytes, {attempts} attempts, {} bytes each, {:.0} MB/s",
        path.display(),
        bytes / attempts.max(1),
        bytes as f64 / 1e6 / seconds
    );
    Ok(())
}

/// Stages on text in memory, one thread.
fn in_memory(path: &Path, runs: usize) {
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|file| file.take(IN_MEMORY).read_to_end(&mut bytes)).expect("the log can be read");
    bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1));
    let text = simdutf8::basic::from_utf8(&bytes).expect("the log is UTF-8");
    let attempts = memchr::memchr_iter(b'\n', &bytes).count();
    println!("\n{} MB in memory, {attempts} attempts, one thread", bytes.len() / 1_000_000);
    sample::head();
    let show = |name: &str, sample: Sample| sample.show(name, bytes.len(), attempts);

    show("newline scan", Sample::of(runs, || memchr::memchr_iter(b'\n', black_box(&bytes)).count()));
    show("UTF-8 check", Sample::of(runs, || simdutf8::basic::from_utf8(black_box(&bytes)).is_ok()));
    let parse = |name: &str, reads: &mut dyn FnMut(&str) -> bool| {
        let sample = Sample::of(runs, || {
            let read = text.lines().filter(|line| reads(line)).count();
            assert_eq!(read, attempts, "{name} refuses lines");
        });
        show(name, sample);
    };
    parse("parse, retrylens", &mut has_outcome);
    parse("parse, serde_json", &mut |line| serde_json::from_str::<Record<'_>>(line).is_ok());
    parse("parse, sonic-rs", &mut |line| sonic_rs::from_str::<Record<'_>>(line).is_ok());
    // It unescapes in place, so each line is copied first; and it needs room for a tape.
    let (mut copy, mut buffers) = (Vec::new(), simd_json::Buffers::default());
    parse("parse, simd-json", &mut |line| {
        copy.clear();
        copy.extend_from_slice(line.as_bytes());
        simd_json::serde::from_slice_with_buffers::<Record<'_>>(&mut copy, &mut buffers).is_ok()
    });
}

/// Stages of an analysis, apart; gives the number of attempts.
fn stages(path: &Path, runs: usize) -> usize {
    let bytes = fs::metadata(path).expect("the log is there").len() as usize;
    let sources = [Source::File(path.to_owned())];
    let read = || ingest::read(&sources, &ingest::Options::default(), &|_| ()).expect("the log can be read");
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let ingested = pool(2).install(read);
    let rows = ingested.table.rows.len();
    println!(
        "\n{} MB on disk, {rows} attempts, {} bytes kept of each",
        bytes / 1_000_000,
        ingested.table.bytes() / rows
    );
    sample::head();
    for threads in [1, 2] {
        let pool = pool(threads);
        let sample = pool.install(|| Sample::of(runs, read));
        sample.show(&format!("ingest, {threads} threads"), bytes, rows);
        let options = judge::Options::default();
        let sample = pool.install(|| {
            Sample::of(runs, || {
                let judgement = judge::judge(&ingested.table, &options);
                let report = report::build(&ingested, &judgement, &options.rules);
                let mut json = Vec::new();
                render::json::render(&report, &mut json).expect("memory takes what is written");
                json.len()
            })
        });
        sample.show(&format!("judge, report, JSON, {threads} threads"), bytes, rows);
    }
    rows
}

/// The program itself, from start to exit.
fn whole(path: &Path, attempts: usize, runs: usize) {
    let bytes = fs::metadata(path).expect("the log is there").len() as usize;
    for threads in ["1", "2"] {
        let program = Program { log: path, threads };
        Sample::of(runs, || program.run()).show(&format!("analyze, {threads} threads"), bytes, attempts);
    }
    let peaks: Vec<u64> = ["1", "2"].map(|threads| Program { log: path, threads }.peak_kib() >> 10).to_vec();
    println!("\npeak memory of analyze: {} MiB with 1 thread, {} MiB with 2", peaks[0], peaks[1]);

    let small = path.with_file_name("three-lines.jsonl");
    let log = fs::File::open(path).map(io::BufReader::new).expect("the log can be read");
    let lines: Vec<String> = io::BufRead::lines(log).take(3).map(|line| line.expect("a line") + "\n").collect();
    fs::write(&small, lines.concat()).expect("benches/data can be written");
    let program = Program { log: &small, threads: "2" };
    let starts = Sample::of(STARTS, || program.run());
    println!("analyze, 3 lines: {}", starts.milliseconds());
}
