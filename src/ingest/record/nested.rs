//! Nested objects whose members are fields of the record, as common loggers group them.

use super::fields::Field;
use super::json::Reader;
use super::normalized_key::NormalizedKey;
use super::spellings::{NESTED, lookup};

/// An object whose members are fields of the record that contains it.
#[derive(Debug, PartialEq)]
pub(in crate::ingest) struct Container {
    /// Its keys, normalized.
    names: &'static [&'static str],
    /// Its members by key, normalized.
    members: &'static [(&'static str, Field)],
    /// Containers that may be nested in it.
    inner: &'static [Container],
    /// Whether its other members are read like top-level keys.
    pub(in crate::ingest) open: bool,
    /// Whether its key also is that of a field, which is then read as well.
    pub(in crate::ingest) itself: bool,
}

const CLOSED: Container = Container { names: &[], members: &[], inner: &[], open: false, itself: false };

const RESPONSE: &[(&str, Field)] = &[
    ("status", Field::StatusLike),
    ("statuscode", Field::StatusLike),
    ("headers", Field::Headers),
    ("responsetime", Field::DurationMs),
];

const REQUEST: Container = Container {
    names: &["request", "req", "httprequest"],
    members: &[
        ("headers", Field::RequestHeaders),
        ("model", Field::Model),
        ("maxtokens", Field::MaxTokens),
        ("stream", Field::Stream),
        // pino-http and Google Cloud's load balancers.
        ("remoteaddress", Field::CallerAddress),
        ("remoteip", Field::CallerAddress),
    ],
    ..CLOSED
};

/// Containers at top level and in open containers.
const CONTAINERS: &[Container] = &[
    // pino-http: `res.statusCode`, `res.headers`.
    Container {
        names: &["res", "resp", "httpresponse"],
        members: &[
            ("status", Field::StatusLike),
            ("statuscode", Field::StatusLike),
            ("headers", Field::Headers),
            ("body", Field::Body),
            ("responsetime", Field::DurationMs),
        ],
        ..CLOSED
    },
    Container { names: &["response"], members: RESPONSE, itself: true, ..CLOSED },
    REQUEST,
    // OpenTelemetry and the Elastic Common Schema, nested: `http.response.status_code`.
    Container {
        names: &["http"],
        members: &[("status", Field::StatusLike), ("statuscode", Field::StatusLike)],
        inner: &[Container { names: &["response"], members: RESPONSE, ..CLOSED }, REQUEST],
        ..CLOSED
    },
    // The Elastic Common Schema: `event.duration` in ns.
    Container {
        names: &["event"],
        members: &[
            ("duration", Field::DurationNs),
            ("outcome", Field::Outcome),
            ("start", Field::StartedAt),
            ("end", Field::EndedAt),
        ],
        ..CLOSED
    },
    Container {
        names: &["sdk"],
        members: &[("lang", Field::SdkLanguage), ("language", Field::SdkLanguage), ("version", Field::SdkVersion)],
        ..CLOSED
    },
    Container { names: &["useragent"], members: &[("original", Field::UserAgent)], ..CLOSED },
    // OpenTelemetry's conventions for generative AI.
    Container {
        names: &["genai"],
        members: &[("system", Field::Provider)],
        inner: &[
            REQUEST,
            Container { names: &["provider"], members: &[("name", Field::Provider)], ..CLOSED },
            Container {
                names: &["usage"],
                members: &[("inputtokens", Field::InputTokens), ("outputtokens", Field::OutputTokens)],
                ..CLOSED
            },
        ],
        ..CLOSED
    },
    Container {
        names: &["attempt"],
        members: &[("number", Field::Number), ("max", Field::MaxAttempts)],
        open: true,
        ..CLOSED
    },
    // Objects in which loggers put the fields given by their callers.
    Container {
        names: &[
            "attributes",
            "attrs",
            "fields",
            "context",
            "ctx",
            "meta",
            "metadata",
            "extra",
            "extras",
            "extrafields",
            "mdc",
            "properties",
            "labels",
            "data",
            "payload",
            "jsonpayload",
            "llm",
            "llmcall",
        ],
        open: true,
        ..CLOSED
    },
];

/// Returns the container of this key at top level.
pub(in crate::ingest) fn container(key: &str) -> Option<&'static Container> {
    named(CONTAINERS, NormalizedKey::of(key)?.as_str())
}

/// Like [`container`], if `text` continues with an object. A container that also is a field is returned only if the
/// object contains members of the container.
pub(in crate::ingest) fn container_of(key: &str, text: &str) -> Option<&'static Container> {
    container(key).filter(|container| text.starts_with('{') && (!container.itself || container.has_known_member(text)))
}

fn named(list: &'static [Container], name: &str) -> Option<&'static Container> {
    list.iter().find(|container| container.names.contains(&name))
}

impl Container {
    /// Returns the container of this key inside this one. An open container contains no other open one, which bounds
    /// the nesting depth.
    pub(in crate::ingest) fn inner(&self, key: &str) -> Option<&'static Container> {
        let normalized = NormalizedKey::of(key)?;
        let name = normalized.as_str();
        let further = || named(CONTAINERS, name).filter(|further| self.open && !further.open);
        named(self.inner, name).or_else(further)
    }

    /// Whether the object at the start of `text` has a member that is read here.
    fn has_known_member(&self, text: &str) -> bool {
        let mut is_known = false;
        let read = Reader::new(text).object(|reader, key| {
            is_known |= self.field(&key).is_some() || self.inner(&key).is_some();
            reader.skip()
        });
        // Text that is not valid JSON is left to the parser, which rejects the line.
        is_known || read.is_err()
    }

    /// Returns the field that a member means, and the rank of its spelling.
    pub(in crate::ingest) fn field(&self, key: &str) -> Option<(Field, u8)> {
        let normalized = NormalizedKey::of(key)?;
        let listed = self.members.iter().find(|(name, _)| *name == normalized.as_str());
        let listed = listed.map(|(_, field)| (*field, NESTED));
        listed.or_else(|| lookup(key).filter(|_| self.open).map(|(field, rank)| (field, rank | NESTED)))
    }
}
