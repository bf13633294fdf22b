//! Why a partial cannot be used.

/// Why a partial cannot be used, without its name.
#[derive(Debug, thiserror::Error)]
pub enum PartialError {
    /// It is something else.
    #[error("it is no partial of retrylens, which `analyze --partial` writes")]
    Foreign,
    /// It ends too early.
    #[error("it is cut off: {there} of {wanted} bytes are there")]
    Truncated {
        /// Bytes of it.
        there: u64,
        /// Bytes it should have.
        wanted: u64,
    },
    /// Its bytes are not those that were written.
    #[error("it is damaged: its checksum does not fit what it holds")]
    Damaged,
    /// Another version wrote it.
    #[error(
        "retrylens {made_by} wrote it, and this is {}, which may read lines otherwise: write it anew from its logs",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The version.
        made_by: String,
    },
    /// Its lines were read by other settings.
    #[error("its logs were read by another {setting} than those of {other}: read all of them by the same")]
    Settings {
        /// Which setting differs.
        setting: String,
        /// From what.
        other: String,
    },
    /// Some bytes of an input would count twice.
    #[error("it holds bytes of {input} that {other} holds too: they would count twice")]
    Overlap {
        /// The input.
        input: String,
        /// The other partial.
        other: String,
    },
}
