//! Streaming scanner for scalars in JSON of any length; it keeps only the path to the current one.

/// Maximum nesting depth at which members are reported.
const MAX_DEPTH: usize = 4;
/// Maximum length of a key or value, in bytes; longer ones are skipped.
const MAX_VALUE_BYTES: usize = 256;

/// Finds the scalar members of objects in the outermost [`MAX_DEPTH`] levels, except those inside arrays.
#[derive(Debug, Default)]
pub(crate) struct Scalars {
    /// Key of each open object; `None` for an array.
    levels: Vec<Option<String>>,
    /// Number of open levels beyond the maximum depth.
    deeper: usize,
    key: Option<String>,
    text: Vec<u8>,
    in_string: bool,
    is_escaped: bool,
    /// Whether `text` is the content of a string.
    quoted: bool,
}

impl Scalars {
    /// Processes the next bytes, and calls `found` with the path, such as `usage.input_tokens`, and text of each
    /// scalar.
    pub(crate) fn push(&mut self, bytes: &[u8], found: &mut impl FnMut(&str, &str)) {
        for &byte in bytes {
            if self.in_string {
                self.inside(byte);
            } else {
                self.outside(byte, found);
            }
        }
    }

    fn inside(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.in_string = false,
            _ => {}
        }
        if self.in_string && self.text.len() <= MAX_VALUE_BYTES {
            self.text.push(byte);
        }
    }

    fn outside(&mut self, byte: u8, found: &mut impl FnMut(&str, &str)) {
        match byte {
            b'"' => {
                self.text.clear();
                (self.in_string, self.quoted) = (true, true);
            }
            b':' => {
                self.key =
                    (self.text.len() <= MAX_VALUE_BYTES).then(|| String::from_utf8_lossy(&self.text).into_owned());
                self.clear();
            }
            b'{' | b'[' => {
                let key = self.key.take().filter(|_| byte == b'{' || self.levels.is_empty());
                if self.levels.len() < MAX_DEPTH {
                    // The outermost object has no key; it must differ from an array.
                    self.levels.push(if byte == b'{' { Some(key.unwrap_or_default()) } else { None });
                } else {
                    self.deeper += 1;
                }
                self.clear();
            }
            b'}' | b']' => {
                self.add_to(found);
                match self.deeper {
                    0 => drop(self.levels.pop()),
                    _ => self.deeper -= 1,
                }
            }
            b',' => self.add_to(found),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if self.text.len() <= MAX_VALUE_BYTES => self.text.push(byte),
            _ => {}
        }
    }

    fn add_to(&mut self, found: &mut impl FnMut(&str, &str)) {
        let key = self.key.take().filter(|_| self.deeper == 0 && self.text.len() <= MAX_VALUE_BYTES);
        if let Some(key) = key
            && (self.quoted || !self.text.is_empty())
            && self.levels.iter().all(Option::is_some)
        {
            let outer = self.levels.iter().flatten().filter(|key| !key.is_empty());
            let path: Vec<&str> = outer.map(String::as_str).chain([key.as_str()]).collect();
            found(&path.join("."), &String::from_utf8_lossy(&self.text));
        }
        self.clear();
    }

    fn clear(&mut self) {
        self.text.clear();
        self.quoted = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, piece: usize) -> Vec<String> {
        let (mut scalars, mut found) = (Scalars::default(), Vec::new());
        for bytes in text.as_bytes().chunks(piece) {
            scalars.push(bytes, &mut |path, value| found.push(format!("{path}={value}")));
        }
        found
    }

    #[test]
    fn members_are_found_however_the_text_is_cut() {
        let text = r#"{"model": "m\"1", "messages":[{"model":"no","content":"{\"model\":\"no\"}"}],
            "stream":true,"n":null,"usage":{"input_tokens":12,"d":{"cached":3}},"max_tokens" : 64}"#;
        let expected =
            ["model=m\\\"1", "stream=true", "n=null", "usage.input_tokens=12", "usage.d.cached=3", "max_tokens=64"];
        for piece in [1, 2, 7, 1000] {
            assert_eq!(all(text, piece), expected, "{piece}");
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = format!("{{\"a\":{}{},\"b\":1}}", "{\"x\":[".repeat(10_000), "]}".repeat(10_000));
        assert_eq!(all(&deep, 64), ["b=1"]);
        let long = format!("{{\"prompt\":\"{}\",\"model\":\"m\"}}", "x".repeat(1 << 20));
        assert_eq!(all(&long, 4096), ["model=m"]);
        assert!(all("]]}}\"", 1).is_empty());
    }
}
