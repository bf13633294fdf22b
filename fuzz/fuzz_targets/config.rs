//! Bytes as a configuration: read, or refused with the place of the mistake.

#![no_main]

use libfuzzer_sys::fuzz_target;
use retrylens::config::{self, Config};
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let path = Path::new("retrylens.toml");
    match Config::parse(text, path) {
        Err(mistake) => assert!(!mistake.to_string().is_empty()),
        Ok(config) => {
            // What is shown is a configuration itself.
            let shown = config::show(&config);
            let again = Config::parse(&shown, path);
            assert!(again.is_ok_and(|again| config::show(&again) == shown), "{shown}");
            let _ = (config.settings(), config.dialect());
        }
    }
});
