//! Anonymization of reports: equal names of one kind always have the same pseudonym, and no real name remains.
//!
//! Replaced are ids of runs, calls, requests, accounts and workspaces, paths of files, and every name of a provider,
//! model, layer or error that is not public knowledge (`vocabulary`). Removed are all messages and other text of the
//! log; a finding has the text of its rule instead. Kept are times, counts, costs, statuses and failure classes.
//! Anonymization is a single step before anything is written, so that no output format can omit it; every field of
//! every structure is listed (`fields`), so that a new one does not compile until its treatment is decided.
//!
//! A pseudonym is an HMAC-SHA-256 of the name with a salt, truncated to 64 bits. Ids can be guessed (dates, counters,
//! addresses), so a plain hash could be reversed by hashing guesses; without the salt this is impossible.

mod fields;
mod frame;
mod part;
mod past_report;
mod report;
mod trace;
mod vocabulary;

use crate::model::Dimension;
use crate::untrusted::mask_keys;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;

/// Length of a pseudonym in bytes. With 64 bits, two of a hundred million ids of one kind collide with a probability of
/// 1 in 3,700 (birthday bound: n²/2 divided by 2^64).
const PSEUDONYM_BYTES: usize = 8;

/// Replaces names by pseudonyms, which are the same for the same name and salt.
#[derive(Clone)]
pub struct Anonymizer {
    mac: Hmac<Sha256>,
    /// Kinds of the names in the current report, so that labels and sentences use the same pseudonyms.
    known: BTreeMap<String, Kind>,
}

/// Does not print the salt, so that it cannot appear in a log by accident.
impl std::fmt::Debug for Anonymizer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Anonymizer")
    }
}

/// Kind of a name; the same text of two kinds has two pseudonyms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Run,
    Call,
    Request,
    File,
    Provider,
    Model,
    Layer,
    Client,
    Version,
    Error,
    Word,
}

impl Kind {
    /// Returns the kind of the names of a dimension.
    const fn of(dimension: Dimension) -> Kind {
        match dimension {
            Dimension::Run => Kind::Run,
            Dimension::Provider => Kind::Provider,
            Dimension::Model => Kind::Model,
            Dimension::Layer => Kind::Layer,
            Dimension::Client => Kind::Client,
            // The same kind as in the labels of rate-limit scopes.
            Dimension::Org | Dimension::Key | Dimension::Workspace | Dimension::Host | Dimension::Endpoint => {
                Kind::Word
            }
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Call => "call",
            Kind::Request => "req",
            Kind::File => "file",
            Kind::Provider => "provider",
            Kind::Model => "model",
            Kind::Layer => "layer",
            Kind::Client => "client",
            Kind::Version => "version",
            Kind::Error => "error",
            Kind::Word => "word",
        }
    }

    /// Returns whether the name is public knowledge.
    fn is_public(self, text: &str) -> bool {
        match self {
            Kind::Provider => vocabulary::is_provider(text),
            Kind::Model => vocabulary::is_model(text),
            Kind::Layer => vocabulary::is_layer(text),
            Kind::Client => vocabulary::is_client(text),
            Kind::Version => text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'),
            Kind::Error => crate::classify::table::lookup(text).is_some(),
            Kind::Run | Kind::Call | Kind::Request | Kind::File | Kind::Word => false,
        }
    }
}

impl Anonymizer {
    /// Creates an anonymizer with a salt of any length.
    ///
    /// # Errors
    /// Never returns an error in practice: HMAC accepts keys of any length.
    pub fn new(salt: &[u8]) -> Result<Anonymizer, String> {
        Hmac::<Sha256>::new_from_slice(salt)
            .map(|mac| Anonymizer { mac, known: BTreeMap::new() })
            .map_err(|error| error.to_string())
    }

    /// Returns the pseudonym of `text`, such as `run-0123456789abcdef`; public names are returned unchanged.
    fn name(&self, kind: Kind, text: &str) -> String {
        // Reports contain masked text, so the masked and the original form must have the same pseudonym.
        let text = mask_keys(text);
        if text.is_empty() || kind.is_public(&text) {
            return text.into_owned();
        }
        let mut mac = self.mac.clone();
        mac.update(kind.name().as_bytes());
        mac.update(&[0]);
        mac.update(text.as_bytes());
        let hash = mac.finalize().into_bytes();
        let digits: String = hash.iter().take(PSEUDONYM_BYTES).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{digits}", kind.name())
    }

    /// Returns an anonymizer that knows the kinds of these names; of several kinds of a name, it uses the first.
    fn with_known_names<'n>(&self, names: impl Iterator<Item = (Kind, &'n str)>) -> Anonymizer {
        let mut known = self.known.clone();
        names.filter(|(_, name)| !name.is_empty()).for_each(|(kind, name)| {
            known.entry(name.to_owned()).or_insert(kind);
        });
        Anonymizer { mac: self.mac.clone(), known }
    }

    /// Returns the pseudonym of `text`: that of its kind if it is a known name of the report, otherwise that of
    /// [`Kind::Word`].
    fn word(&self, text: &str) -> String {
        self.name(self.known.get(text).copied().unwrap_or(Kind::Word), text)
    }

    /// Anonymizes a label of several names, such as that of a rate-limit scope. Names known from the report get the
    /// same pseudonym as there, public words are kept, and every other word gets a pseudonym of its own.
    fn label(&self, label: &str) -> String {
        let words: Vec<&str> = label.split(' ').collect();
        let (mut anonymized, mut at) = (Vec::new(), 0);
        while at < words.len() {
            let longest = (at + 1..=words.len()).rev().map(|end| (end, words[at..end].join(" ")));
            let known = longest.into_iter().find(|(_, text)| self.known.contains_key(text));
            let (end, text) = known.unwrap_or_else(|| (at + 1, words[at].to_owned()));
            let is_public =
                vocabulary::is_provider(&text) || vocabulary::is_model(&text) || vocabulary::is_label(&text);
            anonymized.push(if is_public { text } else { self.word(&text) });
            at = end;
        }
        anonymized.join(" ")
    }

    /// Anonymizes the description of a retry loop, which consists of fixed words and the name of a layer or client.
    fn retry_loop(&self, label: &str) -> String {
        if vocabulary::LOOP_NAMES.contains(&label) {
            return label.to_owned();
        }
        let client = label.strip_suffix(')').and_then(|label| label.split_once(" ("));
        if let Some((fixed_words, client)) =
            client.filter(|(fixed_words, _)| vocabulary::LOOP_NAMES.contains(fixed_words))
        {
            return format!("{fixed_words} ({})", self.client(client));
        }
        match vocabulary::LOOP_PREFIXES
            .iter()
            .find_map(|fixed_words| Some((fixed_words, label.strip_prefix(fixed_words)?)))
        {
            Some((fixed_words, layer)) => format!("{fixed_words}{}", self.name(Kind::Layer, layer)),
            None => self.name(Kind::Layer, label),
        }
    }

    /// Anonymizes a client, separately from the version after it, as in tables.
    fn client(&self, client: &str) -> String {
        match client.rsplit_once(' ') {
            Some((name, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{} {}", self.name(Kind::Client, name), self.name(Kind::Version, version))
            }
            _ => self.name(Kind::Client, client),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn pseudonyms_depend_on_the_salt() {
        let (one, same, other) =
            (Anonymizer::new(b"salt").unwrap(), Anonymizer::new(b"salt").unwrap(), Anonymizer::new(b"tlas").unwrap());
        let name = one.name(Kind::Run, "night-1");
        assert_eq!(name, same.name(Kind::Run, "night-1"));
        assert_ne!(name, other.name(Kind::Run, "night-1"));
        assert_ne!(name[4..], one.name(Kind::Call, "night-1")[5..], "kinds have different pseudonyms");
        assert!(name.starts_with("run-") && name.len() == 4 + 2 * PSEUDONYM_BYTES);
    }

    /// RFC 4231, test case 2; the test bypasses the kind and separator that pseudonyms include.
    #[test]
    fn pseudonyms_use_hmac_sha_256() {
        let mut mac = Anonymizer::new(b"Jefe").unwrap().mac;
        mac.update(b"what do ya want for nothing?");
        assert_eq!(mac.finalize().into_bytes()[..4], [0x5b, 0xdc, 0xc1, 0x46]);
    }

    #[test]
    fn labels_keep_their_public_words() {
        let anonymizer = Anonymizer::new(b"salt").unwrap();
        assert_eq!(anonymizer.label("anthropic claude-sonnet-5-5"), "anthropic claude-sonnet-5-5");
        assert_eq!(anonymizer.label("all requests"), "all requests");
        let label = anonymizer.label("anthropic claude-sonnet-5-5 org-acme");
        assert!(label.starts_with("anthropic claude-sonnet-5-5 word-") && !label.contains("acme"));
    }

    #[test]
    fn descriptions_of_loops_keep_their_fixed_words() {
        let anonymizer = Anonymizer::new(b"salt").unwrap();
        let layer = anonymizer.name(Kind::Layer, "acme (harness)");
        assert!(layer.starts_with("layer-"));
        for (label, anonymized) in [
            ("a loop", "a loop".to_owned()),
            ("the SDK's own retries (OpenAI/Python 3.57.0)", "the SDK's own retries (OpenAI/Python 3.57.0)".to_owned()),
            ("the SDK's own retries (acme 1.2)", format!("the SDK's own retries ({})", anonymizer.client("acme 1.2"))),
            ("that of acme (harness)", format!("that of {layer}")),
            ("the loop of sdk", "the loop of sdk".to_owned()),
            ("acme (harness)", layer.clone()),
        ] {
            assert_eq!(anonymizer.retry_loop(label), anonymized);
        }
    }

    #[test]
    fn a_name_has_the_same_pseudonym_in_labels_and_alone() {
        let names = [(Kind::Model, "acme tall"), (Kind::Provider, "house"), (Kind::Word, "acme")];
        let anonymizer = Anonymizer::new(b"salt").unwrap().with_known_names(names.into_iter());
        let of = |kind, name| anonymizer.name(kind, name);
        let expected = [of(Kind::Provider, "house"), of(Kind::Model, "acme tall"), of(Kind::Word, "acme")].join(" ");
        assert_eq!(anonymizer.label("house acme tall acme"), expected);
        assert_eq!(anonymizer.client("plain 1.2"), format!("{} 1.2", of(Kind::Client, "plain")));
        assert_eq!(anonymizer.client("two words"), of(Kind::Client, "two words"));
    }
}
