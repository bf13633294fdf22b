//! The settings of a plan, to be copied: the `[policy]` table, and what clients and frameworks call the same.

use crate::plan::Plan;
use std::io::{self, Write};

/// Writes a file that retrylens reads, with everything else as comments.
///
/// # Errors
/// When `out` fails.
pub fn text(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "# retrylens.toml\n[policy]\n{}", plan.policy)?;
    for setting in &plan.settings {
        write!(out, "\n# {}\n#\n", setting.name)?;
        setting.text.lines().try_for_each(|line| writeln!(out, "{}", format!("#     {line}").trim_end()))?;
        write!(out, "#\n# {}\n", setting.note)?;
    }
    Ok(())
}

/// Writes the same as blocks of code.
///
/// # Errors
/// When `out` fails.
pub fn markdown(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "### retrylens.toml\n\n```toml\n[policy]\n{}```\n", plan.policy)?;
    for setting in &plan.settings {
        write!(out, "\n### {}\n\n```{}\n{}\n```\n\n{}\n", setting.name, setting.language, setting.text, setting.note)?;
    }
    Ok(())
}
