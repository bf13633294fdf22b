//! Tests of the tables, and of times and amounts in prose.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use super::codes::{EXACT, FAMILIES, OF_PROVIDERS};
use super::phrases::{AppliesTo, messages};
use super::row::Weight;
use super::*;

#[test]
fn every_exact_row_is_reached_as_code_and_as_type() {
    let mut names = HashSet::new();
    for row in EXACT {
        assert!(names.insert(row.name), "{} is listed twice", row.name);
        assert!(!row.origin.provider.is_empty() && !row.origin.source.is_empty());
        let status = (row.weight == Weight::Weak && row.class == Class::RateLimited).then_some(429);
        let has_rate_limit_headers = row.class == Class::RateLimited;
        let blank = Failure { status, has_rate_limit_headers, logged_as_error: true, ..Failure::default() };
        let as_code = Failure { error_code: Some(row.name), ..blank };
        let as_type = Failure { error_type: Some(row.name), ..blank };
        for case in [as_code, as_type] {
            assert_eq!(classify(&case).unwrap().class, row.class, "{}", row.name);
        }
    }
}

#[test]
fn a_provider_specific_code_applies_to_that_provider_only() {
    for of in OF_PROVIDERS {
        let blank = Failure { status: Some(429), logged_as_error: true, ..Failure::default() };
        let case = Failure { error_code: Some(of.row.name), ..blank };
        for provider in of.providers {
            let there = Failure { provider: Some(provider), has_rate_limit_headers: true, ..case };
            assert_eq!(classify(&there).unwrap().class, of.row.class, "{} at {provider}", of.row.name);
        }
        let elsewhere = classify(&Failure { provider: Some("acme"), ..case }).unwrap();
        assert_ne!(elsewhere.class, of.row.class, "{}", of.row.name);
    }
}

#[test]
fn every_family_is_reached() {
    for family in FAMILIES {
        let code = format!("{}some{}thing{}", family.prefix, family.middle, family.suffix);
        let case = Failure { error_code: Some(&code), logged_as_error: true, ..Failure::default() };
        assert_eq!(classify(&case).unwrap().class, family.row.class, "{code}");
    }
}

#[test]
fn every_phrase_is_found_in_every_failure_it_applies_to() {
    for row in messages() {
        let blank = Failure { message: Some(row.text), logged_as_error: true, ..Failure::default() };
        let quota = Failure { error_code: Some("insufficient_quota"), ..blank };
        let situations = [
            (AppliesTo::LIMITS, Failure { status: Some(429), ..blank }),
            (AppliesTo::QUOTAS, Failure { status: Some(429), ..quota }),
            (AppliesTo::REQUESTS, Failure { status: Some(400), ..blank }),
            (AppliesTo::PERMISSIONS, Failure { status: Some(403), ..blank }),
            (AppliesTo::ACCOUNTS, Failure { status: Some(402), ..blank }),
            (AppliesTo::SERVERS, Failure { status: Some(500), ..blank }),
            (AppliesTo::MESSAGE_ONLY, blank),
        ];
        let mut reached = 0;
        for (applies_to, case) in situations {
            if row.applies_to.intersects(applies_to) {
                assert_eq!(classify(&case).unwrap().class, row.class, "{} {case:?}", row.text);
                reached += 1;
            }
        }
        assert!(reached > 0, "{} applies to nothing", row.text);
    }
}

#[test]
fn names_are_unique_and_serialised() {
    let classes: HashSet<_> = Class::ALL.iter().map(|class| class.name()).collect();
    assert_eq!(classes.len(), Class::ALL.len());
    for class in Class::ALL {
        assert_eq!(Class::from_name(class.name()), Some(class));
        assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{}\"", class.name()));
        assert!(!class.is_money() || class.is_terminal_by_default());
    }
    for kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
    }
    let verdict = classify(&Failure { status: Some(529), ..Failure::default() }).unwrap();
    let json = r#"{"class":"overloaded","bucket":"capacity","action":"backoff_then_retry","decided_by":"status","low_confidence":false}"#;
    assert_eq!(serde_json::to_string(&verdict).unwrap(), json);
}

#[test]
fn amounts_in_prose() {
    let cases = [
        ("(TPM): Limit 30000, Requested 342389.", Some((30_000, None, 342_389))),
        ("Rate limit reached: Limit 15000, Used 11972, Requested 4351.", Some((15_000, Some(11_972), 4_351))),
        ("Requested: 35,000 tokens; Limit: 30,000", Some((30_000, None, 35_000))),
        ("requested tokens: 1_000_000 limit = 30_000", Some((30_000, None, 1_000_000))),
        ("limit of 5 requests, requested 6", Some((5, None, 6))),
        ("Limit 30000,Requested 5", Some((30_000, None, 5))),
        ("Limit 30k, Requested 35k", None),
        ("your rate limit of 50 requests per minute", None),
        ("maximum context length is 4097 tokens, you requested 5000 tokens", None),
        ("Limit 99999999999999999999999, Requested 1", None),
        ("limit", None),
        ("", None),
    ];
    for (text, want) in cases {
        let got = amounts(text).map(|it| (it.limit, it.used, it.requested));
        assert_eq!(got, want, "{text}");
    }
}

/// Parses an RFC 3339 time into µs.
fn us(text: &str) -> i64 {
    chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_micros()
}

#[test]
#[rustfmt::skip]
fn reopening_times() {
    use Class as C;
    let sent = "2026-09-19T05:01:12Z";
    let cases: &[(C, &str, Option<i64>, Option<&str>)] = &[
        (C::SpendLimit, "You will regain access on 2026-12-01 at 00:00 UTC.", None, Some("2026-12-01T00:00:00Z")),
        (C::SpendCap, "Access resumes at 00:00 UTC on the first day of next month.", None, Some("2026-10-01T00:00:00Z")),
        (C::SpendCap, "", None, Some("2026-10-01T00:00:00Z")),
        (C::UsageWindow, "resets 4pm (UTC)", Some(us("2026-09-19T09:00:00Z")), Some("2026-09-19T09:00:00Z")),
        (C::UsageWindow, "resets 4pm (UTC)", Some(0), Some("2026-09-19T16:00:00Z")),
        (C::UsageWindow, "limit · resets 3:30am (UTC)", None, Some("2026-09-20T03:30:00Z")),
        (C::UsageWindow, "limit · resets 12am (UTC+2)", None, Some("2026-09-19T22:00:00Z")),
        (C::UsageWindow, "Resets Oct 9, 10am (UTC)", None, Some("2026-10-09T10:00:00Z")),
        (C::UsageWindow, "Resets Jan 2 at 12pm (Etc/UTC)", None, Some("2027-01-02T12:00:00Z")),
        (C::UsageWindow, "resets 3:30am (America/New_York)", None, Some("2026-09-19T07:30:00Z")),
        (C::UsageWindow, "Resets Jan 2 at 12pm (Europe/Berlin)", None, Some("2027-01-02T11:00:00Z")),
        // change of clocks: 2:30 occurs twice, or not at all
        (C::UsageWindow, "Resets Oct 25, 2:30am (Europe/Berlin)", None, Some("2026-10-25T01:30:00Z")),
        (C::UsageWindow, "Resets Mar 28, 2:30am (Europe/Berlin)", None, None),
        (C::UsageWindow, "resets 3:30am (Olympus/Mons)", None, None),
        (C::UsageWindow, "resets 4pm", None, None),
        (C::UsageWindow, "resets 13pm (UTC)", None, None),
        (C::UsageWindow, "Claude AI usage limit reached|1789800000", None, Some("2026-09-19T06:40:00Z")),
        (C::UsageWindow, r#"{"type":"usage_limit_reached","resets_at":1789800000}"#, None, Some("2026-09-19T06:40:00Z")),
        (C::UsageWindow, r#"{\"resets_at\":1789800000000}"#, None, Some("2026-09-19T06:40:00Z")),
        (C::UsageWindow, r#"{"resets_at":"2026-09-20T00:00:00.5+02:00"}"#, None, Some("2026-09-19T22:00:00Z")),
        (C::UsageWindow, r#"{"resets_in_seconds":3600}"#, None, Some("2026-09-19T06:01:12Z")),
        (C::UsageWindow, "or try again in 3 hours 5 minutes.", None, Some("2026-09-19T08:06:12Z")),
        (C::UsageWindow, "Resets in 6hr 29min.", None, Some("2026-09-19T11:30:12Z")),
        (C::UsageWindow, "try again in 1 day and 2 hours", None, Some("2026-09-20T07:01:12Z")),
        (C::UsageWindow, "try again in 3h5m", None, Some("2026-09-19T08:06:12Z")),
        (C::UsageWindow, "try again in 3 months", None, None),
        (C::UsageWindow, "try again in 17ms", None, None),
        (C::UsageWindow, "try again in 2 hours or so", None, Some("2026-09-19T07:01:12Z")),
        (C::UsageWindow, "try again in a while", None, None),
        (C::UsageWindow, "", None, None),
        // a retry after "47 s" would fail against a daily quota
        (C::QuotaExhausted, "PerDay quota. Please retry in 47s. try again in 47 s", None, None),
        (C::QuotaExhausted, "quota resets at 2026-09-20 00:00:00 UTC", None, Some("2026-09-20T00:00:00Z")),
        (C::Entitlement, "resets 4pm (UTC)", Some(1), None),
        (C::RateLimited, "try again in 3 hours", Some(1), None),
    ];
    for (class, message, header, want) in cases {
        let got = reopens_at(*class, Some(message), us(sent), *header);
        assert_eq!(got, want.map(us), "{class:?} {message}");
    }
    let december = reopens_at(C::SpendCap, None, us("2026-12-31T23:59:59Z"), None);
    assert_eq!(december, Some(us("2027-01-01T00:00:00Z")));
    assert_eq!(reopens_at(C::SpendCap, None, i64::MAX, None), None);
}
