//! A report that can be shown to others: the same names for the same things, none of them the real one.
//!
//! What is replaced: ids of runs, calls, requests, accounts and workspaces, paths of files, and every name of a
//! provider, model, layer or error that is not public knowledge ([`vocabulary`]). What is left out: every message and
//! other words of the log; a finding is told in its rule's words. What stays: times, counts, costs, statuses, failure
//! classes. One transformation before anything is written, so that no form can forget it; structures are taken apart
//! field by field, so that a new field does not compile before somebody has decided what becomes of it.
//!
//! A name is the HMAC-SHA-256 of what it stands for, cut to 64 bits, under a salt. Ids can be guessed (dates,
//! counters, addresses), so a plain hash could be undone by hashing guesses; without the salt that cannot be done.

mod frame;
mod measures;
mod past;
mod report;
mod trace;
mod vocabulary;

use crate::untrusted::mask_keys;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of a pseudonym: among a hundred million ids, two of the same kind share one with a chance of 1 in 3,700.
const BYTES: usize = 8;

/// Gives names, always the same one for the same thing under the same salt.
#[derive(Clone)]
pub struct Anonymizer {
    mac: Hmac<Sha256>,
}

/// The salt must not end up in a log of ours.
impl std::fmt::Debug for Anonymizer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Anonymizer")
    }
}

/// What a name stands for; the same text of two kinds has two names.
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
    Error,
    Word,
}

impl Kind {
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
            Kind::Error => "error",
            Kind::Word => "word",
        }
    }

    /// Whether everybody knows the name anyway.
    fn is_public(self, text: &str) -> bool {
        match self {
            Kind::Provider => vocabulary::is_provider(text),
            Kind::Model => vocabulary::is_model(text),
            Kind::Layer => vocabulary::is_layer(text),
            Kind::Client => vocabulary::is_client(text),
            Kind::Error => crate::classify::table::lookup(text).is_some(),
            Kind::Run | Kind::Call | Kind::Request | Kind::File | Kind::Word => false,
        }
    }
}

impl Anonymizer {
    /// Names under `salt`, whatever its length.
    ///
    /// # Errors
    /// Never in practice: HMAC takes keys of every length.
    pub fn new(salt: &[u8]) -> Result<Anonymizer, String> {
        Hmac::<Sha256>::new_from_slice(salt).map(|mac| Anonymizer { mac }).map_err(|error| error.to_string())
    }

    /// The name of `text`: `run-0123456789abcdef`; public names stay.
    fn name(&self, kind: Kind, text: &str) -> String {
        // As reports show it: what is masked in one form must not have two names.
        let text = mask_keys(text);
        if text.is_empty() || kind.is_public(&text) {
            return text.into_owned();
        }
        let mut mac = self.mac.clone();
        mac.update(kind.name().as_bytes());
        mac.update(&[0]);
        mac.update(text.as_bytes());
        let hash = mac.finalize().into_bytes();
        let digits: String = hash.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{digits}", kind.name())
    }

    fn optional(&self, kind: Kind, text: Option<String>) -> Option<String> {
        text.map(|text| self.name(kind, &text))
    }

    /// A label of several names, such as that of a rate-limit scope: public words stay, any other has its name.
    fn label(&self, label: &str) -> String {
        let word = |word: &str| {
            let is_public = vocabulary::is_provider(word) || vocabulary::is_model(word) || vocabulary::is_label(word);
            if is_public { word.to_owned() } else { self.name(Kind::Word, word) }
        };
        label.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_stable_under_a_salt_and_no_other() {
        let (one, same, other) =
            (Anonymizer::new(b"salt").unwrap(), Anonymizer::new(b"salt").unwrap(), Anonymizer::new(b"tlas").unwrap());
        let name = one.name(Kind::Run, "night-1");
        assert_eq!(name, same.name(Kind::Run, "night-1"));
        assert_ne!(name, other.name(Kind::Run, "night-1"));
        assert_ne!(name[4..], one.name(Kind::Call, "night-1")[5..], "kinds are apart");
        assert!(name.starts_with("run-") && name.len() == 4 + 2 * BYTES);
    }

    /// RFC 4231, test case 2, with the kind and its separator as part of the key's data.
    #[test]
    fn it_is_hmac_sha_256() {
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
}
