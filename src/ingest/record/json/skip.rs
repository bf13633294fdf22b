//! Skips values that are not needed, while checking their syntax.

use super::{Fault, Reader};
use crate::ingest::record::scan;

/// Largest nesting depth of a skipped value; log records have a few levels.
const MAX_DEPTH: usize = 1024;

impl Reader<'_> {
    /// Skips one value of any kind, while checking its syntax. It is not recursive, so nesting cannot overflow the
    /// stack.
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'{' | b'[') => self.skip_nested(),
            Some(b'"') => self.skip_string(),
            _ => self.skip_flat(),
        }
    }

    fn skip_nested(&mut self) -> Result<(), Fault> {
        // The closing bracket of each open one.
        let mut open: Vec<u8> = Vec::new();
        loop {
            self.space();
            match self.byte() {
                Some(b'{') => {
                    self.at += 1;
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        open.push(b'}');
                        self.key()?;
                        self.check_depth(&open)?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        open.push(b']');
                        self.check_depth(&open)?;
                        continue;
                    }
                }
                Some(b'"') => self.skip_string()?,
                _ => self.skip_flat()?,
            }
            if self.close(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Skips a scalar other than a string. Numbers are not converted.
    fn skip_flat(&mut self) -> Result<(), Fault> {
        let length = match self.byte() {
            Some(b'-' | b'0'..=b'9') => scan::number_length(&self.text.as_bytes()[self.at..]),
            _ => None,
        };
        match length {
            Some(length) => self.at += length,
            None => {
                self.flat()?;
            }
        }
        Ok(())
    }

    /// After a value, closes the brackets that end here and returns whether the outermost value ended.
    fn close(&mut self, open: &mut Vec<u8>) -> Result<bool, Fault> {
        while let Some(closing) = open.last().copied() {
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    if closing == b'}' {
                        self.key()?;
                    }
                    return Ok(false);
                }
                Some(byte) if byte == closing => {
                    self.at += 1;
                    open.pop();
                }
                None => return self.fault("cut off inside an object"),
                Some(_) => return self.fault("expected `,` or a closing bracket"),
            }
        }
        Ok(true)
    }

    /// Skips a key and its colon.
    fn key(&mut self) -> Result<(), Fault> {
        self.space();
        self.skip_string()?;
        self.expect(b':', "expected `:` after a key")
    }

    fn check_depth(&self, open: &[u8]) -> Result<(), Fault> {
        if open.len() > MAX_DEPTH { self.fault("nested too deep") } else { Ok(()) }
    }

    #[inline]
    fn skip_string(&mut self) -> Result<(), Fault> {
        if self.plain_string().is_some() {
            return Ok(());
        }
        self.expect(b'"', "expected a string")?;
        loop {
            self.at = scan::special(self.text.as_bytes(), self.at);
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.escape()?;
                }
                Some(_) => return self.fault("a control character in a string"),
                None => return self.fault("cut off inside a string"),
            }
        }
    }
}
