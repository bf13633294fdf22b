//! Any input as lines of native records: for who searches lines by their bytes.

use super::account::{Account, Reading};
use super::chunk::Part;
use super::feed::Feed;
use super::open::{Habits, Plan};
use super::record::{Place, Record, spelled};
use super::sink::{Sink, To};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Bytes unwrapped at once.
const BLOCK: usize = 1 << 20;

impl Plan {
    /// Whether the lines of an input are native records as they stand.
    pub(crate) fn is_canonical(&self) -> bool {
        self.wrapping.is_none() && self.format.name() == super::formats::native::NAME
    }

    /// How an input is read that was written anew by [`write`].
    pub(crate) fn canonical(&self) -> Plan {
        Plan { conventions: self.conventions, ..Plan::plain() }
    }
}

/// Writes every record of `input` as a line of its own. Says on which line of the input each began, and where the
/// input could not be read any further.
pub(crate) fn write(
    input: Box<dyn Read + Send>,
    plan: &Arc<Plan>,
    stream: &str,
    habits: &Habits<'_>,
    out: &mut dyn Write,
) -> io::Result<(Vec<u32>, Option<io::Error>)> {
    let reading = Reading {
        file: 0,
        stream,
        zone: habits.zone,
        filter: None,
        dialect: habits.dialect,
        keep_rejects: false,
        keep_ids: false,
        conventions: plan.conventions,
    };
    let mut feed = Feed::new(input, BLOCK, plan, stream, habits.zone);
    let mut side_by_side = plan.decoder();
    let (mut lines, mut text, is_native) = (Vec::new(), Vec::new(), plan.format.gives_native());
    loop {
        let fed = match feed.next() {
            Ok(Some(fed)) => fed,
            Ok(None) => return Ok((lines, None)),
            Err(error) => return Ok((lines, Some(error))),
        };
        let mut take = |record: &Record<'_>, raw: &str, place: &Place<'_>| {
            lines.push(place.line);
            text.extend_from_slice(spelled(record, raw, place, is_native).as_bytes());
            text.push(b'\n');
        };
        let mut account = Account::default();
        let mut sink = Sink { reading: &reading, account: &mut account, to: To::Look(&mut take), newlines: None };
        let decoder = feed.decoder.as_mut().unwrap_or(&mut side_by_side);
        let part = Part::fed(&fed);
        decoder.decode(&part.block, &mut sink);
        if part.is_last {
            decoder.finish(&mut sink);
        }
        out.write_all(&text)?;
        text.clear();
    }
}
