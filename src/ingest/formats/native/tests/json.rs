//! Compares the strict reader with serde_json.

#![allow(clippy::unwrap_used)]

use super::random;
use crate::ingest::record::Scalar;
use crate::ingest::record::json::{Fault, Reader};

fn accepts(text: &str) -> bool {
    let mut reader = Reader::new(text);
    reader.skip().and_then(|()| reader.end()).is_ok()
}

#[test]
fn accepts_what_serde_json_accepts_and_nothing_else() {
    const PARTS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\\n\"",
        "\"\\u00e9\"",
        "\"\\ux\"",
        "\"",
        "1",
        "-0",
        "01",
        "1.5",
        "1.",
        "1e5",
        "1E-2",
        "-",
        "null",
        "true",
        "fals",
        "é",
        " ",
        "\n",
        "\u{1}",
        "\"\u{1}\"",
        "\\",
        "\"\\q\"",
        "{}",
        "[]",
        "{\"k\":1}",
        "[1,2]",
        "\"\\ud83d\\ude00\"",
    ];
    let mut state = 7u64;
    let mut agreed = 0;
    for _ in 0..200_000 {
        let mut text = String::new();
        for _ in 0..1 + random(&mut state) % 7 {
            text += PARTS[random(&mut state) as usize % PARTS.len()];
        }
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        assert_eq!(accepts(&text), theirs, "{text:?}");
        agreed += u32::from(theirs);
    }
    assert!(agreed > 1000, "only {agreed} texts were JSON");
}

#[test]
fn strings_are_unescaped_as_serde_json_does() {
    for text in [r#""plain""#, r#""a\"b\\c\/d\n\t\r\b\f""#, r#""\u00e9\ud83d\ude00é""#, r#""""#] {
        let theirs: String = serde_json::from_str(text).unwrap();
        assert_eq!(Reader::new(text).string().unwrap(), theirs);
    }
    assert_eq!(Reader::new(r#""a\ud83dz""#).string().unwrap(), "a\u{fffd}z");
    assert_eq!(Reader::new(r#""\ud83d\u0041""#).string().unwrap(), "\u{fffd}A");
    assert_eq!(Reader::new(r#""\ude00""#).string().unwrap(), "\u{fffd}");
}

#[test]
fn numbers_are_read_as_serde_json_does() {
    for text in [
        "0",
        "-1",
        "9223372036854775807",
        "9223372036854775808",
        "1.5",
        "1e3",
        "-2.5E-3",
        "0.1",
        "123456789012345678901234567890",
    ] {
        let theirs: f64 = serde_json::from_str(text).unwrap();
        assert_eq!(Reader::new(text).scalar().unwrap().number(), Some(theirs), "{text}");
    }
    assert_eq!(Reader::new("NaN").scalar(), Ok(Scalar::Null));
    assert_eq!(Reader::new("-Infinity").scalar(), Ok(Scalar::Null));
}

#[test]
fn depth_costs_no_stack() {
    assert!(accepts(&format!("{}{}", "[".repeat(1000), "]".repeat(1000))));
    assert!(!accepts(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))));
}

#[test]
fn faults_say_where() {
    let mut reader = Reader::new(r#"{"a":1 "b":2}"#);
    assert_eq!(reader.skip(), Err(Fault { at: 7, what: "expected `,` or a closing bracket" }));
    let mut reader = Reader::new(r#"{"a":"b"#);
    assert_eq!(reader.skip(), Err(Fault { at: 7, what: "cut off inside a string" }));
}
