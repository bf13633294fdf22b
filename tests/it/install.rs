//! A release is installed where its checksum fits; the recipes for CI fall back to building, and only where there is none.

use crate::common::repo;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What stands for the program, and for cargo.
const STUB: &str = "#!/bin/sh\necho stub \"$@\"\n";

/// Folders of a machine without the program, and a release of it.
struct Machine {
    folder: tempfile::TempDir,
    name: String,
}

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { folder, name: String::new() };
        let musl = machine.run("ldd --version 2>&1 | grep -qi musl", &[]).status.success();
        let system = if cfg!(target_os = "macos") {
            "apple-darwin"
        } else if musl {
            "unknown-linux-musl"
        } else {
            "unknown-linux-gnu"
        };
        let name = format!("retrylens-v{}-{}-{system}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
        let machine = Machine { name, ..machine };
        let packed = machine.at(&machine.name);
        fs::create_dir(&packed).unwrap();
        machine.stub(&packed.join("retrylens"));
        machine.stub(&machine.at("bin/cargo"));
        let release = machine.release();
        fs::create_dir_all(&release).unwrap();
        let pack = format!(
            "tar -czf '{}/{1}.tar.gz' '{1}'; cd '{0}'; sha256sum *.gz >SHA256SUMS",
            release.display(),
            machine.name
        );
        assert!(machine.run(&pack, &[]).status.success());
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn release(&self) -> PathBuf {
        self.at(&format!("releases/v{}", env!("CARGO_PKG_VERSION")))
    }

    fn stub(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, STUB).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs a script as CI does.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let releases = format!("file://{}", self.at("releases").display());
        Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:/usr/bin:/bin", self.at("bin").display()))
            .env("RETRYLENS_RELEASES", releases)
            .env("RUNNER_TEMP", self.at("temp"))
            .env("GITHUB_PATH", self.at("path"))
            .env("ACTION", repo(""))
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }

    fn install(&self, rest: &str) -> Output {
        self.run(&format!("'{}' --to installed {rest}", repo("integrations/install").display()), &[])
    }

    fn checksum(&self) -> String {
        let sums = fs::read_to_string(self.release().join("SHA256SUMS")).unwrap();
        sums.split(' ').next().unwrap().to_owned()
    }

    /// Makes the archive another one.
    fn tamper(&self) {
        fs::write(self.release().join(format!("{}.tar.gz", self.name)), "something else").unwrap();
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn an_archive_is_installed_if_its_checksum_fits() {
    let machine = Machine::new();
    let installed = machine.at("installed/retrylens");
    let pinned = format!("--sha256 {}", machine.checksum());
    for rest in ["", "--version v0.1.0", &pinned] {
        let rest = rest.replace("0.1.0", env!("CARGO_PKG_VERSION"));
        let ran = machine.install(&rest);
        assert_eq!(ran.status.code(), Some(0), "{rest}: {}", said(&ran));
        assert_eq!(fs::read_to_string(&installed).unwrap(), STUB);
        fs::remove_file(&installed).unwrap();
    }
    let ran = machine.install(&format!("--sha256 {:064}", 0));
    assert_eq!(ran.status.code(), Some(1));
    assert!(said(&ran).contains("not installed"), "{}", said(&ran));
    machine.tamper();
    assert_eq!(machine.install("").status.code(), Some(1));
    assert!(!installed.exists());
}

#[test]
fn what_is_no_release_is_told_from_what_is_wrong() {
    let machine = Machine::new();
    for (rest, code) in [("--version 99.0.0", 3), ("--version '../x'", 2), ("--colour", 2), ("--colour red", 2)] {
        let ran = machine.install(rest);
        assert_eq!(ran.status.code(), Some(code), "{rest}: {}", said(&ran));
        assert!(said(&ran).contains("retrylens install: "), "{rest}: {}", said(&ran));
    }
    fs::write(machine.release().join("SHA256SUMS"), "").unwrap();
    assert_eq!(machine.install("").status.code(), Some(1));
}

#[test]
fn the_action_installs_or_builds_or_fails() {
    let install = crate::ci_recipes::script_of("action.yml", "Install");
    assert!(!install.contains("${{"), "an input would be read as a command");
    let inputs = [("VERSION", ""), ("SHA256", "")];
    let machine = Machine::new();
    let ran = machine.run(&install, &inputs);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    assert_eq!(
        fs::read_to_string(machine.at("path")).unwrap().trim(),
        machine.at("temp/retrylens").display().to_string()
    );
    assert!(machine.at("temp/retrylens/retrylens").exists());
    // Another version is no release here, and is built.
    let ran = machine.run(&install, &[("VERSION", "99.0.0"), ("SHA256", "")]);
    assert!(ran.status.success() && said(&ran).contains("stub install --locked"), "{}", said(&ran));
    machine.tamper();
    let ran = machine.run(&install, &inputs);
    assert!(ran.status.code() == Some(1) && !said(&ran).contains("stub install"), "{}", said(&ran));
    // What is on the path is used.
    machine.stub(&machine.at("bin/retrylens"));
    assert_eq!(machine.run(&install, &inputs).status.code(), Some(0));
}

#[test]
fn the_recipe_for_gitlab_installs_or_builds_or_fails() {
    let recipe = fs::read_to_string(repo("docs/ci/gitlab.yml")).unwrap();
    let (_, script) = recipe.split_once("    - |\n").unwrap();
    let (script, _) = script.split_once("  script:\n").unwrap();
    let script = format!("{}\nretrylens --version", script.replace("\n      ", "\n"));
    let machine = Machine::new();
    fs::create_dir(machine.at("tools")).unwrap();
    std::os::unix::fs::symlink(repo(""), machine.at("tools/retrylens")).unwrap();
    for sum in [machine.checksum(), String::new()] {
        let ran = machine.run(&script, &[("RETRYLENS_SHA256", &sum)]);
        assert!(ran.status.success() && said(&ran).contains("stub --version"), "{}", said(&ran));
        fs::remove_dir_all(machine.at(".retrylens")).unwrap();
    }
    let ran = machine.run(&script, &[("RETRYLENS_SHA256", &format!("{:064}", 0))]);
    assert!(!ran.status.success() && !said(&ran).contains("stub"), "{}", said(&ran));
    let ran = machine.run(&script, &[("RETRYLENS_SHA256", ""), ("RETRYLENS_RELEASES", "file:///nowhere")]);
    assert!(said(&ran).contains("stub install --locked --path tools/retrylens"), "{}", said(&ran));
}

/// A copy of the install script beside a `Cargo.toml`, run without a URL of releases.
#[test]
fn releases_are_those_of_the_repository_that_cargo_toml_names() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at("copy/integrations")).unwrap();
    fs::copy(repo("integrations/install"), machine.at("copy/integrations/install")).unwrap();
    let version = format!("[package]\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"));
    let install = |manifest: &str| {
        fs::write(machine.at("copy/Cargo.toml"), manifest).unwrap();
        machine.run("copy/integrations/install --to installed", &[("RETRYLENS_RELEASES", "")])
    };
    let ran = install(&version);
    assert!(ran.status.code() == Some(3) && said(&ran).contains("Cargo.toml names no repository"), "{}", said(&ran));
    fs::create_dir_all(machine.at("site/releases")).unwrap();
    fs::rename(machine.at("releases"), machine.at("site/releases/download")).unwrap();
    let ran = install(&format!("{version}repository = \"file://{}\"\n", machine.at("site").display()));
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
}
