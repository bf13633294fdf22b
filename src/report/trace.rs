//! Forensics: the timeline of the calls an id belongs to.

use super::build::{finding_order, findings, masked, sighting};
use super::{Finding, Outcome, Sighting};
use crate::attempt::{AttemptTable, Flags, Time};
use crate::calls::{Call, group};
use crate::classify;
use crate::ingest::Ingested;
use crate::judge::{self, Judgement, horizon};
use serde::Serialize;
use std::collections::HashSet;

/// Calls shown of one run.
pub(super) const CALLS_SHOWN: usize = 50;

/// What an id led to.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    /// As given.
    pub id: String,
    /// What it names.
    pub matched: Match,
    /// The calls, in time order, the first ones of a large run.
    pub calls: Vec<TracedCall>,
    /// Calls left out.
    pub calls_omitted: u64,
    /// Inputs searched.
    pub files_searched: u64,
    /// Bytes searched, after decompression.
    pub bytes_searched: u64,
    /// Attempts among them.
    pub attempts_searched: u64,
}

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// An attempt, by its request id.
    Request,
    /// A call.
    Call,
    /// A run.
    Run,
    /// Records that mention it, in whatever field.
    Mention,
}

/// One call and everything that happened to it.
#[derive(Clone, Debug, Serialize)]
pub struct TracedCall {
    /// The run.
    pub run_id: Option<String>,
    /// The call.
    pub call_id: Option<String>,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// How its attempts were brought together.
    pub grouping: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// Seconds between its attempts.
    pub waited_s: f64,
    /// Its sends, in order.
    pub sends: Vec<TracedSend>,
    /// What the rules say of it.
    pub findings: Vec<Finding>,
}

/// One send.
#[derive(Clone, Debug, Serialize)]
pub struct TracedSend {
    /// Where it stands and what it was.
    #[serde(flatten)]
    pub sighting: Sighting,
    /// The id given stands in its record.
    pub named: bool,
    /// The inner SDK counter.
    pub sdk_retry_count: Option<u8>,
    /// Send to answer, ms.
    pub duration_ms: Option<f64>,
    /// How its failure heals.
    pub bucket: Option<&'static str>,
    /// What was right to do next.
    pub action: Option<&'static str>,
    /// The failure's own words.
    pub message: Option<String>,
    /// The server's wait after it, s.
    pub hint_s: Option<f64>,
    /// The error came inside a stream that had begun with a success.
    pub mid_stream: bool,
    /// The wait before it, s.
    pub waited_s: Option<f64>,
    /// Who dictated that wait.
    pub dictated_by: Option<Dictator>,
}

/// Who dictated a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dictator {
    /// The server's hint, within what clients add to it.
    Server,
    /// The server asked for longer, and was not heard.
    ClientAgainstServer,
    /// The client, as it logged.
    ClientPlan,
    /// The client; the log does not say by what rule.
    Client,
}

/// Follows the id that `ingested` was read with.
#[must_use]
pub fn trace(id: &str, ingested: &Ingested, complete: bool) -> Trace {
    let table = &ingested.table;
    let (matched, rows) = narrow(id, table, &ingested.marked);
    let horizon = horizon(table, complete);
    let groups = group(table);
    let mut calls: Vec<(Time, TracedCall)> = Vec::new();
    for piece in groups.split(1) {
        groups.calls(piece, &horizon, |call| {
            if call.rows().iter().any(|row| rows.contains(row)) {
                calls.push((call.first().sent, traced(call, &rows)));
            }
        });
    }
    let omitted = calls.len().saturating_sub(CALLS_SHOWN) as u64;
    // Of a large run the calls that went wrong are kept, and then told in time order.
    let order = |(sent, call): &(Time, TracedCall)| (*sent, call.call_id.clone());
    calls.sort_by_cached_key(|call| (std::cmp::Reverse(trouble(&call.1)), order(call)));
    calls.truncate(CALLS_SHOWN);
    calls.sort_by_cached_key(order);
    Trace {
        id: masked(id),
        matched,
        calls: calls.into_iter().map(|(_, call)| call).collect(),
        calls_omitted: omitted,
        files_searched: ingested.inputs.len() as u64,
        bytes_searched: ingested.inputs.iter().map(|input| input.bytes).sum(),
        attempts_searched: table.rows.len() as u64,
    }
}

/// How much a call has to tell.
fn trouble(call: &TracedCall) -> impl Ord + use<> {
    let worst = call.findings.iter().map(|finding| finding.severity).max();
    (worst, call.outcome != Outcome::Ok, call.sends.len())
}

/// Of the records that hold the text, those it names: a request before a call before a run.
fn narrow(id: &str, table: &AttemptTable, marked: &[u32]) -> (Match, HashSet<u32>) {
    // The whole id, if any record has it; else ids that begin so.
    let named = |field: &dyn Fn(u32) -> Option<String>| -> HashSet<u32> {
        let with = |test: &dyn Fn(&str) -> bool| -> HashSet<u32> {
            marked.iter().copied().filter(|row| field(*row).is_some_and(|text| test(&text))).collect()
        };
        let whole = with(&|text| text == id);
        if whole.is_empty() { with(&|text| text.starts_with(id)) } else { whole }
    };
    let detail = |row: u32| table.detail(&table.rows[row as usize]);
    let request = |row| table.text(detail(row)?.request_id).map(str::to_owned);
    let call = |row| table.text(detail(row)?.call_id).map(str::to_owned);
    let run = |row: u32| table.names.get(table.rows[row as usize].run).map(str::to_owned);
    for (matched, rows) in [(Match::Request, named(&request)), (Match::Call, named(&call)), (Match::Run, named(&run))] {
        // A call id that begins with its run's id must not hide the run.
        let run_too = matched == Match::Call && rows.iter().all(|row| run(*row).as_deref() == Some(id));
        if !rows.is_empty() && !run_too {
            return (matched, rows);
        }
    }
    (Match::Mention, marked.iter().copied().collect())
}

fn traced(call: &Call<'_>, named: &HashSet<u32>) -> TracedCall {
    let table = call.table();
    let text = |symbol| table.names.get(symbol).map(masked);
    let mut judgement = Judgement::new(table);
    let options = judge::Options::default();
    judgement.absorb(call, &options.rules, &options);
    let mut found = findings(table, &judgement);
    found.sort_by_cached_key(finding_order);
    TracedCall {
        run_id: text(call.first().run),
        call_id: call.id().map(masked),
        provider: text(call.origin(0).provider),
        model: text(call.origin(0).model),
        grouping: call.grouping.name(),
        outcome: call.outcome,
        waited_s: call.waited_us() as f64 / 1e6,
        sends: (0..call.len()).map(|position| send(call, position, named)).collect(),
        findings: found,
    }
}

fn send(call: &Call<'_>, position: usize, named: &HashSet<u32>) -> TracedSend {
    let (row, attempt) = (call.rows()[position], call.at(position));
    let wait = call.wait_before(position);
    let hint_us = call.hint_us(position);
    let bucket = attempt.bucket();
    let action = attempt.class.zip(bucket).map(|(class, bucket)| {
        classify::action_for(class, bucket, attempt.flags.has(Flags::SIDE_EFFECT), hint_us.is_some())
    });
    let message = call.detail(position).and_then(|detail| call.table().names.get(detail.message));
    TracedSend {
        sighting: sighting(call.table(), row, position),
        named: named.contains(&row),
        sdk_retry_count: attempt.sdk_count(),
        duration_ms: attempt.duration.as_ms(),
        bucket: bucket.map(|bucket| bucket.name()),
        action: action.map(|action| action.name()),
        message: message.map(str::to_owned),
        hint_s: hint_us.map(|us| us as f64 / 1e6),
        mid_stream: attempt.flags.has(Flags::MID_STREAM),
        waited_s: wait.map(|wait| wait.s()),
        dictated_by: wait.map(|wait| dictator(call, position, wait.us)),
    }
}

fn dictator(call: &Call<'_>, position: usize, waited: i64) -> Dictator {
    let before = call.detail(position - 1);
    let slack = |us: i64| us / 50 + 50_000;
    if let Some(hint) = before.and_then(|detail| detail.hint_us).filter(|hint| *hint > 0) {
        return if waited + slack(hint) < hint {
            Dictator::ClientAgainstServer
        } else if waited <= hint + hint / 2 + 2_000_000 {
            Dictator::Server
        } else {
            Dictator::Client
        };
    }
    match before.and_then(|detail| detail.planned_us) {
        Some(planned) if (waited - planned).abs() <= slack(planned) + planned / 4 => Dictator::ClientPlan,
        _ => Dictator::Client,
    }
}
