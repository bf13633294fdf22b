//! The settings of a plan, ready to copy: the `[policy]` table, and the same settings in clients and frameworks.

use crate::plan::Plan;
use std::io::{self, Write};

/// Writes a `retrylens.toml` with everything but the policy as comments.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn text(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "# retrylens.toml\n[policy]\n{}", plan.policy)?;
    for setting in &plan.settings {
        write!(out, "\n# {}\n#\n", setting.name)?;
        setting.text.lines().try_for_each(|line| writeln!(out, "{}", format!("#     {line}").trim_end()))?;
        write!(out, "#\n# {}\n", setting.note)?;
    }
    Ok(())
}

/// Writes the settings as Markdown code blocks.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn markdown(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "### retrylens.toml\n\n```toml\n[policy]\n{}```\n", plan.policy)?;
    for setting in &plan.settings {
        write!(out, "\n### {}\n\n```{}\n{}\n```\n\n{}\n", setting.name, setting.language, setting.text, setting.note)?;
    }
    Ok(())
}
