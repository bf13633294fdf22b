//! Errors of partials.

/// Reason why a partial cannot be used; the caller adds its name.
#[derive(Debug, thiserror::Error)]
pub enum PartialError {
    /// The file is not a partial.
    #[error("it is no partial of retrylens, which `analyze --partial` writes")]
    Foreign,
    /// The file is too short.
    #[error("it is cut off: {there} of {wanted} bytes are there")]
    Truncated {
        /// Bytes in the file.
        there: u64,
        /// Bytes it should have.
        wanted: u64,
    },
    /// A checksum does not match, or the content is not valid.
    #[error("it is damaged: its checksum does not fit what it holds")]
    Damaged,
    /// It unpacks to more than the program would ever write.
    #[error("it is damaged: it claims to hold more than {max_ratio} times what is stored")]
    Bloated {
        /// Largest ratio of unpacked to stored bytes.
        max_ratio: usize,
    },
    /// Another version of the program wrote it.
    #[error(
        "retrylens {made_by} wrote it, and this is {}, which may read lines otherwise: write it anew from its logs",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// That version.
        made_by: String,
    },
    /// Its lines were read with other settings.
    #[error("its logs were read by another {setting} than those of {other}: read all of them by the same")]
    Settings {
        /// Name of the first setting that differs.
        setting: String,
        /// Name of the partial that it differs from.
        other: String,
    },
    /// It holds bytes of an input that another partial holds too.
    #[error("it holds bytes of {input} that {other} holds too: they would count twice")]
    Overlap {
        /// Name of the input.
        input: String,
        /// Name of the other partial.
        other: String,
    },
}
