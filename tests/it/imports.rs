//! The modules stand in one order, and no files import each other in a circle. `src/lib.rs` says the order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules of the product: their path without `crate`, and their code without its tests.
type Modules = BTreeMap<Vec<String>, String>;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn modules() -> Modules {
    let mut found = Modules::new();
    let mut folders = vec![source()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                found.insert(module(&path), without_tests(&text));
            }
        }
    }
    found.retain(|path, _| !path.iter().any(|part| part.starts_with("test") || part == "main"));
    found
}

fn module(path: &Path) -> Vec<String> {
    let inside = path.strip_prefix(source()).expect("inside the sources").with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}

/// Tests and comments may name whatever they like.
fn without_tests(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    // Who may see a thing is no import of it.
    code.collect::<Vec<_>>().join("\n").replace("pub(in crate::", "pub(in ::")
}

/// The paths that a tree of a `use` names, each in full.
fn leaves(tree: &str, prefix: &str, into: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((before, inner)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap_or_default().trim();
        if !name.is_empty() {
            into.push(format!("{prefix}{name}"));
        }
        return;
    };
    let (prefix, inner) = (format!("{prefix}{}", before.trim()), inner.trim_end().trim_end_matches('}'));
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                leaves(&inner[start..at], &prefix, into);
                start = at + 1;
            }
            _ => {}
        }
    }
    leaves(&inner[start..], &prefix, into);
}

/// What a file names of others: `pub use` apart, which only passes on.
struct Uses {
    taken: Vec<String>,
    passed_on: Vec<String>,
}

fn uses(code: &str) -> Uses {
    let mut uses = Uses { taken: Vec::new(), passed_on: Vec::new() };
    let mut rest = String::new();
    for statement in code.split_inclusive(';') {
        let begins = statement.rfind("use ").filter(|at| {
            let line = statement[..*at].rsplit('\n').next().unwrap_or_default().trim();
            line.is_empty() || line.starts_with("pub")
        });
        let Some(at) = begins else {
            rest.push_str(statement);
            continue;
        };
        let public = statement[..at].rsplit('\n').next().unwrap_or_default().contains("pub");
        let list = if public { &mut uses.passed_on } else { &mut uses.taken };
        leaves(statement[at + 4..].trim_end_matches(';'), "", list);
        rest.push_str(&statement[..at]);
    }
    for root in ["crate::", "super::"] {
        for (at, _) in rest.match_indices(root) {
            if !rest[..at].ends_with("::") {
                let path = rest[at..].split(|letter: char| !(letter.is_alphanumeric() || "_:".contains(letter)));
                uses.taken.extend(path.take(1).map(str::to_owned));
            }
        }
    }
    uses
}

/// The module that defines what `path` names, as seen from `here`: through the modules that only pass it on.
fn defining(modules: &Modules, here: &[String], path: &str, depth: usize) -> Option<Vec<String>> {
    let mut at = here.to_vec();
    let mut parts = path.split("::").peekable();
    match parts.peek().copied()? {
        "crate" => {
            at.clear();
            parts.next();
        }
        "self" => {
            parts.next();
        }
        "super" => {}
        first if modules.contains_key(&[here, &[first.to_owned()]].concat()) => {}
        _ => return None,
    }
    for part in parts {
        if part == "super" {
            at.pop();
            continue;
        }
        let below = [at.as_slice(), &[part.to_owned()]].concat();
        if modules.contains_key(&below) {
            at = below;
            continue;
        }
        let passed_on = uses(modules.get(&at)?).passed_on;
        let from = passed_on.iter().find(|leaf| leaf.rsplit("::").next() == Some(part));
        return match from {
            Some(leaf) if depth < 8 => defining(modules, &at, leaf, depth + 1).or(Some(at)),
            _ => Some(at),
        };
    }
    Some(at)
}

/// Which module imports from which.
type Arrows = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

fn arrows(modules: &Modules) -> Arrows {
    let mut arrows = Arrows::new();
    for (here, code) in modules {
        let taken = uses(code).taken;
        let found = taken.iter().filter_map(|path| defining(modules, here, path, 0)).filter(|other| other != here);
        arrows.insert(here.clone(), found.filter(|other| !other.is_empty()).collect());
    }
    arrows
}

/// The order of the table in `src/lib.rs`, ground floor first.
fn order() -> Vec<String> {
    let text = std::fs::read_to_string(source().join("lib.rs")).expect("lib.rs");
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | ")).filter_map(|row| row.split('`').nth(1));
    rows.map(str::to_owned).collect()
}

#[test]
fn every_import_points_to_an_earlier_module() {
    let (modules, order) = (modules(), order());
    let place = |path: &[String]| order.iter().position(|name| path.first() == Some(name));
    let mut wrong = Vec::new();
    for (from, others) in arrows(&modules) {
        let Some(room) = from.first() else { continue };
        let Some(mine) = place(&from) else {
            wrong.push(format!("`{room}` is missing in the table of src/lib.rs"));
            continue;
        };
        let later = others.iter().filter(|other| place(other).is_none_or(|place| place > mine));
        wrong.extend(later.map(|other| format!("{} imports from {}", from.join("::"), other.join("::"))));
    }
    assert!(
        order.len() > 10 && wrong.is_empty(),
        "{} modules, and against their order:\n{}",
        order.len(),
        wrong.join("\n")
    );
}

/// Everything that can be reached from each module along the arrows.
fn reachable(arrows: &Arrows) -> Arrows {
    let from = |start: &Vec<String>| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(others) = open.pop().and_then(|at| arrows.get(at)) {
            open.extend(others.iter().filter(|other| seen.insert((*other).clone())));
        }
        seen
    };
    arrows.keys().map(|start| (start.clone(), from(start))).collect()
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let arrows = arrows(&modules());
    let reached = reachable(&arrows);
    let mut lines = Vec::new();
    for (from, others) in &arrows {
        let back = others.iter().filter(|other| reached.get(*other).is_some_and(|theirs| theirs.contains(from)));
        let back: Vec<String> = back.map(|other| other.join("::")).collect();
        if !back.is_empty() {
            lines.push(format!("{} -> {}", from.join("::"), back.join(", ")));
        }
    }
    assert!(lines.is_empty(), "these imports lead back to where they begin:\n{}", lines.join("\n"));
}
