//! Records of every format, and the builder that turns them into attempts.

mod asked;
mod attempt;
mod begun;
mod client;
mod conversion;
pub(in crate::ingest) mod digits;
pub(in crate::ingest) mod ending;
pub(in crate::ingest) mod error_body;
#[cfg(feature = "serve")]
mod error_fields;
pub(in crate::ingest) mod error_keys;
mod event_stream;
mod failures;
pub(in crate::ingest) mod fields;
mod glance;
pub(in crate::ingest) mod header_names;
pub(in crate::ingest) mod headers;
mod hosts;
mod id_field;
mod ids;
pub(in crate::ingest) mod json;
mod json_line;
mod kept;
mod letters;
pub(in crate::ingest) mod mapping;
mod meaning;
mod members;
mod memory;
mod native_line;
pub(in crate::ingest) mod nested;
pub(in crate::ingest) mod origins;
mod outcome_words;
pub(in crate::ingest) mod parts;
mod place;
mod resolved;
pub(in crate::ingest) mod scalar;
pub(in crate::ingest) mod scan;
mod sdk_text;
mod sent;
mod setters;
mod single;
pub(in crate::ingest) mod spellings;
mod stated_waits;
mod token_counts;
mod typed;
mod unclear;
mod words;

pub(in crate::ingest) use attempt::{body_hash, cost_micro_usd, keep_ids, kept_id, take, ttft_ms_plus_1};
pub use conversion::{Conversion, SpanUnit, TimeFormat};
pub(in crate::ingest) use ending::cuts_off_response;
#[cfg(feature = "serve")]
pub(crate) use error_fields::{error_fields, is_last_event, is_telling_header};
pub(in crate::ingest) use event_stream::possible_usages;
pub(in crate::ingest) use fields::Field;
pub(in crate::ingest) use glance::{Glance, glance};
pub(in crate::ingest) use hosts::provider_in;
pub(crate) use id_field::{IdField, id_field};
pub(crate) use ids::ids_of;
pub(in crate::ingest) use kept::FINGERPRINT;
pub(crate) use kept::{fingerprint, identity};
pub(in crate::ingest) use mapping::is_field;
pub use mapping::{Mapping, Unmappable};
pub(in crate::ingest) use meaning::DEAREST_USD;
pub(in crate::ingest) use members::Members;
pub(in crate::ingest) use memory::Memory;
pub(in crate::ingest) use native_line::{native_line, searchable_line};
pub(in crate::ingest) use place::{Begun, Place, Taken};
pub(in crate::ingest) use scalar::Scalar;
use sent::sent_at;
pub(in crate::ingest) use sent::sent_of;
pub use single::{Aside, Diagnosis, diagnose};
pub use spellings::names as field_names;
pub(in crate::ingest) use typed::{Record, Times};

use crate::ingest::dialect::Dialect;
use crate::model::{Time, Zone};
use json::{Fault, Reader};

/// Parses a text that is exactly one object; `own` maps user-defined keys in addition to the built-in ones.
pub(in crate::ingest) fn whole_record<'t>(text: &'t str, own: &Mapping) -> Result<Record<'t>, Fault> {
    let mut record = Record::default();
    fill(text, own, &mut record)?;
    Ok(record)
}

/// Like [`whole_record`], into an empty record: records are large, and this avoids moving them.
pub(in crate::ingest) fn fill<'t>(text: &'t str, own: &Mapping, record: &mut Record<'t>) -> Result<(), Fault> {
    let mut reader = Reader::new(text);
    parts::read(&mut reader, own, record)?;
    reader.end()
}

/// Returns when the attempt of a line was sent, as far as the strict parser can tell.
pub(crate) fn time_of(line: &str, zone: Zone, dialect: &Dialect) -> Option<Time> {
    let record = whole_record(line, &dialect.fields).ok()?;
    sent_at(&record, &Place::anywhere(zone, dialect)).ok()?.map(|(sent, _)| sent)
}

#[cfg(test)]
mod tests;

/// Returns the field that a key means, in any of its spellings.
pub(in crate::ingest) fn field_of(key: &str) -> Option<Field> {
    spellings::lookup(key).map(|(field, _)| field)
}
