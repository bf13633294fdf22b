//! Records of every format, and the builder that turns them into attempts.

mod attempt;
mod attempt_start;
mod client;
mod conversion;
mod diagnosis;
pub(in crate::ingest) mod digits;
pub(in crate::ingest) mod error_body;
#[cfg(feature = "serve")]
mod error_fields;
pub(in crate::ingest) mod error_keys;
mod event_stream;
pub(in crate::ingest) mod fields;
mod fingerprint;
pub(in crate::ingest) mod header_names;
pub(in crate::ingest) mod headers;
mod hosts;
mod id_field;
mod ids;
pub(in crate::ingest) mod json;
mod json_line;
pub(in crate::ingest) mod mapping;
mod members;
mod memory;
mod native_line;
pub(in crate::ingest) mod nested;
mod normalized_key;
pub(in crate::ingest) mod origins;
mod outcome_words;
pub(in crate::ingest) mod parts;
mod place;
mod resolved;
mod response_end;
pub(in crate::ingest) mod scalar;
pub(in crate::ingest) mod scan;
mod sdk_text;
mod sent;
mod server_hint;
mod setters;
pub(in crate::ingest) mod spellings;
mod stated_waits;
mod timing_sample;
mod token_counts;
mod typed;
mod unknown_outcome;
mod value_checks;
mod verdict_cache;
mod word_table;

pub(in crate::ingest) use attempt::{body_hash, cost_micro_usd, keep_ids, kept_id, take, ttft_ms_plus_1};
pub use conversion::{Conversion, SpanUnit, TimeFormat};
pub use diagnosis::{Diagnosis, ErrorContext, diagnose};
#[cfg(feature = "serve")]
pub(crate) use error_fields::{error_fields, is_known_header, is_last_event};
pub(in crate::ingest) use event_stream::possible_usages;
pub(in crate::ingest) use fields::Field;
pub(in crate::ingest) use fingerprint::FINGERPRINT;
pub(crate) use fingerprint::{fingerprint, identity};
pub(in crate::ingest) use hosts::{address_in, provider_in};
pub(crate) use id_field::{IdField, id_field};
pub(crate) use ids::ids_of;
pub(in crate::ingest) use mapping::is_field;
pub use mapping::{Mapping, Unmappable};
pub(in crate::ingest) use members::Members;
pub(in crate::ingest) use memory::Memory;
pub(in crate::ingest) use native_line::{native_line, searchable_line};
pub(in crate::ingest) use place::{Begun, Place, Taken};
pub(in crate::ingest) use response_end::is_cut_off;
pub(in crate::ingest) use scalar::Scalar;
use sent::sent_at;
pub(in crate::ingest) use sent::sent_of;
pub use spellings::names as field_names;
pub(in crate::ingest) use timing_sample::{TimingSample, timing_sample};
pub(in crate::ingest) use typed::{Record, Times};
pub(in crate::ingest) use value_checks::DEAREST_USD;

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
