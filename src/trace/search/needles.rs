//! Byte search for ids in every spelling that a JSON writer may use.

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem::Finder;

/// Maximum number of spellings that are each searched for alone; more are searched for together. A search for one
/// passes 20 GB/s of a page in the core's own cache, one for several hardly 2 GB/s, since ids share their prefixes with
/// text on every line.
const ONE_BY_ONE: usize = 12;

/// Texts to search for together, each with its index.
pub(super) struct Needles {
    spellings: Vec<(usize, Finder<'static>)>,
    /// Automaton of all spellings, if there are many.
    any: Option<AhoCorasick>,
}

/// One occurrence of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stand {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Index of the text.
    pub(super) needle: usize,
}

impl Needles {
    /// Searches for all of `texts`, numbered from 0. Empty texts are ignored.
    pub(super) fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Needles {
        let mut spellings = Vec::new();
        for (number, text) in texts.into_iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            spellings.extend(spelled(text).into_iter().map(|spelling| (number, spelling)));
        }
        let any = (spellings.len() > ONE_BY_ONE).then(|| {
            let bytes = spellings.iter().map(|(_, text)| text.as_bytes());
            AhoCorasick::builder().match_kind(MatchKind::Standard).build(bytes).ok()
        });
        let finder = |text: String| Finder::new(text.as_bytes()).into_owned();
        Needles {
            spellings: spellings.into_iter().map(|(number, text)| (number, finder(text))).collect(),
            any: any.flatten(),
        }
    }

    /// Returns every occurrence, in order; occurrences may overlap.
    pub(super) fn stands(&self, bytes: &[u8]) -> Vec<Stand> {
        let mut stands: Vec<Stand> = match &self.any {
            Some(any) => any
                .find_overlapping_iter(bytes)
                .map(|it| (it.start(), it.end(), self.spellings[it.pattern().as_usize()].0))
                .map(|(start, end, needle)| Stand { start, end, needle })
                .collect(),
            None => self
                .spellings
                .iter()
                .flat_map(|(needle, finder)| {
                    let end = finder.needle().len();
                    finder.find_iter(bytes).map(move |start| Stand { start, end: start + end, needle: *needle })
                })
                .collect(),
        };
        stands.sort_unstable();
        stands
    }
}

/// Returns the spellings of a text inside a JSON string, the plain one first. Writers differ in what they escape beyond
/// what JSON requires: `/` (PHP), everything outside ASCII (Python), characters special in HTML (Go), and a few more
/// with upper-case hex digits (.NET). In a string inside a string, backslashes are doubled.
fn spelled(text: &str) -> Vec<String> {
    let must = |c: char| matches!(c, '"' | '\\') || c < ' ';
    let html = |c: char| matches!(c, '<' | '>' | '&');
    let dotnet = |c: char| html(c) || matches!(c, '\'' | '"' | '+' | '`');
    let mut all = vec![
        escaped(text, |c| must(c).then(|| short(c))),
        escaped(text, |c| if c == '/' { Some("\\/".to_owned()) } else { must(c).then(|| short(c)) }),
        escaped(text, |c| if c.is_ascii() && !html(c) { must(c).then(|| short(c)) } else { Some(hex(c, false)) }),
        escaped(text, |c| if c.is_ascii() { must(c).then(|| short(c)) } else { Some(hex(c, false)) }),
        escaped(text, |c| if c.is_ascii() && !dotnet(c) { must(c).then(|| short(c)) } else { Some(hex(c, true)) }),
    ];
    let nested: Vec<String> =
        all.iter().filter(|one| one.contains('\\')).map(|one| escaped(one, |c| must(c).then(|| short(c)))).collect();
    all.extend(nested);
    let mut known = std::collections::HashSet::new();
    all.retain(|one| known.insert(one.clone()));
    all
}

fn escaped(text: &str, spell: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match spell(c) {
            Some(spelled) => out.push_str(&spelled),
            None => out.push(c),
        }
    }
    out
}

fn short(c: char) -> String {
    match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        c => hex(c, false),
    }
}

fn hex(c: char, capitals: bool) -> String {
    let mut units = [0; 2];
    let spell = |unit: &u16| if capitals { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
    c.encode_utf16(&mut units).iter().map(spell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_id_has_one_spelling() {
        assert_eq!(spelled("req_011CvJypUR2-a.b:c"), ["req_011CvJypUR2-a.b:c"]);
    }

    #[test]
    fn every_spelling_is_read_back_as_the_id() {
        for id in ["a/b", "naïve-😀", "a\"b\\c", "x<y>&z", "k+v'", "tab\tline\n"] {
            let all = spelled(id);
            assert!(all.len() > 1, "{id}");
            for spelling in all {
                let mut read: String = serde_json::from_str(&format!("\"{spelling}\"")).unwrap_or_default();
                // A string inside a string is decoded twice.
                if read != id {
                    read = serde_json::from_str(&format!("\"{read}\"")).unwrap_or_default();
                }
                assert_eq!(read, id, "{spelling}");
            }
        }
    }

    #[test]
    fn several_are_found_with_their_numbers() {
        let line = b"{\"call\":\"run-1-c2\"}";
        let expected = [(9, 14, 0), (9, 17, 1)].map(|(start, end, needle)| Stand { start, end, needle });
        let few = ["run-1", "run-1-c2", "zz"];
        assert_eq!(Needles::new(few).stands(line), expected);
        let others: Vec<String> = (0..ONE_BY_ONE).map(|nth| format!("zz{nth}")).collect();
        let many = Needles::new(few.into_iter().chain(others.iter().map(String::as_str)));
        assert!(many.any.is_some());
        assert_eq!(many.stands(line), expected);
    }
}
