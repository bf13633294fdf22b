//! AWS Lambda: lines of the runtime among those of the function.

use super::{Each, Envelope, Inner};
use crate::ingest::timestamp;
use crate::model::Zone;

/// `<time>\t<request id>\tLEVEL\t{...}` or `[LEVEL]\t<time>\t<request id>\t{...}`, between lines that begin with START,
/// END and REPORT.
pub(super) struct Lambda;

/// Starts of lines that the Lambda runtime writes.
const RUNTIME_LINES: [&str; 5] =
    ["START RequestId: ", "END RequestId: ", "REPORT RequestId: ", "INIT_START ", "EXTENSION\t"];

impl Envelope for Lambda {
    fn name(&self) -> &'static str {
        "AWS Lambda"
    }

    fn detected_by(&self) -> &'static str {
        "`<time><tab><request id><tab>LEVEL<tab>` before lines, START, END and REPORT between them"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        if RUNTIME_LINES.iter().any(|begin| line.starts_with(begin)) {
            each(&Inner::of(line));
            return true;
        }
        let mut words = line.splitn(4, '\t');
        let parts = (words.next(), words.next(), words.next(), words.next());
        let (Some(first), Some(second), Some(third), Some(text)) = parts else { return false };
        let (at, id) = if first.starts_with('[') { (second, third) } else { (first, second) };
        let is_id = |id: &str| id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        let Some(time) = timestamp::from_text(at, zone).filter(|_| is_id(id)) else { return false };
        each(&Inner { time: Some(time), ..Inner::of(text) });
        true
    }
}
