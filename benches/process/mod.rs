//! The release binary as a process of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// One way to start it.
pub(crate) struct Program<'a> {
    pub(crate) log: &'a Path,
    pub(crate) threads: &'a str,
}

impl Program<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrylens"));
        command.args(["analyze", "--quiet", "--format", "json", "--fail-on", "never", "--threads", self.threads]);
        command.arg(self.log).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// From start to exit.
    pub(crate) fn run(&self) {
        let status = self.command().status().expect("the program can be started");
        assert!(status.success(), "the program ended with {status}");
    }

    /// Most memory ever resident. The kernel keeps the mark, so polling misses at most what comes in the last 2 ms.
    pub(crate) fn peak_kib(&self) -> u64 {
        let mut child = self.command().spawn().expect("the program can be started");
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        while child.try_wait().expect("the program can be waited for").is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            peak = peak.max(high_water(&text).unwrap_or(0));
            std::thread::sleep(Duration::from_millis(2));
        }
        peak
    }
}

/// `VmHWM:    12345 kB`.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}
