//! Content-Security-Policy of a page: only its own style and scripts, by their hashes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Returns the policy that allows these scripts and styles, given exactly as they are in the page.
///
/// Directives and hashes follow Content Security Policy Level 3. `data:` images are needed for the page's icon.
pub(super) fn of(scripts: &[&str], styles: &[&str]) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hashes(scripts),
        hashes(styles)
    )
}

fn hashes(texts: &[&str]) -> String {
    let source = |text: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    texts.iter().map(source).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_spelled_as_the_standard_does() {
        // The example of the standard, section 8.5.
        assert_eq!(hashes(&["alert('Hello, world.');"]), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
    }

    #[test]
    fn nothing_from_elsewhere_is_allowed() {
        let policy = of(&["a"], &["b"]);
        assert!(policy.starts_with("default-src 'none';"));
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'));
    }
}
