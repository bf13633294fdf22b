//! Finds the configuration file.

use std::path::{Path, PathBuf};

/// Name of the configuration file.
pub const NAME: &str = "retrylens.toml";

/// Returns the nearest `retrylens.toml`, searching upward from `folder` to the repository root (the folder with `.git`)
/// or the root of the file system.
#[must_use]
pub fn find(folder: &Path) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        let path = folder.join(NAME);
        if path.is_file() {
            return Some(path);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_nearest_file_is_used_and_the_search_ends_at_the_repository_root() {
        let outside = tempfile::tempdir().unwrap();
        let inner = outside.path().join("repository/a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(outside.path().join(NAME), "").unwrap();
        assert_eq!(find(&inner), Some(outside.path().join(NAME)));
        std::fs::create_dir(outside.path().join("repository/.git")).unwrap();
        assert_eq!(find(&inner), None);
        let near = outside.path().join("repository/a").join(NAME);
        std::fs::write(&near, "").unwrap();
        assert_eq!(find(&inner), Some(near));
    }
}
