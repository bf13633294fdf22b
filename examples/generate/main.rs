//! Writes the generated pages anew: `cargo run --example generate`. The tests compare, and name this command.
#![allow(clippy::print_stdout)]

mod pages;

use std::error::Error;
use std::path::Path;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, content) in pages::all(&|path| Ok(std::fs::read_to_string(root.join(path))?), &retrylens)? {
        let path = root.join(path);
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&content) {
            std::fs::write(&path, content)?;
            println!("{} written", path.display());
        }
    }
    Ok(())
}

/// What the program prints, as it is built now.
fn retrylens(arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["run", "--quiet", "--no-default-features", "--"]);
    let output = command.args(arguments).output()?;
    if !output.status.success() {
        return Err(format!("retrylens {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
