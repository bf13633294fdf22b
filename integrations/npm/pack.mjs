#!/usr/bin/env node
// Packs the packages for npm.
//
//   integrations/npm/pack.mjs platform TARGET PROGRAM OUT    the package that holds the program of one platform
//   integrations/npm/pack.mjs main PROGRAM OUT               the package people install; PROGRAM runs here
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");
const json = (path) => JSON.parse(readFileSync(join(here, path), "utf8"));
const platforms = json("platforms.json");
const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
const version = manifest.match(/^version = "(.*)"$/m)[1];
const [, repository] = manifest.match(/^repository = "(.*)"$/m) ?? [];
// npm compares it with the repository whose workflow published a package.
const origin = repository && { repository: { type: "git", url: `git+${repository}.git` } };

function platformPackage(folder, target, program) {
  const found = Object.entries(platforms).find(([, platform]) => platform.target === target);
  if (!found) throw new Error(`no platform of npm for ${target}; there are ${Object.values(platforms).map((it) => it.target).join(", ")}`);
  const [name, { os, cpu, libc }] = found;
  const file = os === "win32" ? "retrylens.exe" : "retrylens";
  cpSync(program, join(folder, file));
  chmodSync(join(folder, file), 0o755);
  const { description, license } = json("package.json");
  return {
    name: `@retrylens/${name}`, version, description: `${description} (the program for ${name})`, license, ...origin,
    files: [file], os: [os], cpu: [cpu], ...(libc && { libc: [libc] }),
  };
}

function mainPackage(folder, program) {
  cpSync(join(here, "bin"), join(folder, "bin"), { recursive: true });
  chmodSync(join(folder, "bin/retrylens.js"), 0o755);
  cpSync(join(here, "README.md"), join(folder, "README.md"));
  execFileSync("bash", [join(root, "integrations/stage"), resolve(program), join(folder, "share")]);
  const names = Object.keys(platforms).map((name) => [`@retrylens/${name}`, version]);
  return {
    ...json("package.json"), ...origin, version, optionalDependencies: Object.fromEntries(names),
    // `npm install --global` puts them where man looks.
    directories: { man: "share/man/man1" },
  };
}

const [kind, ...rest] = process.argv.slice(2);
if (!((kind === "platform" && rest.length === 3) || (kind === "main" && rest.length === 2))) {
  console.error("usage: pack.mjs platform TARGET PROGRAM OUT, or pack.mjs main PROGRAM OUT");
  process.exit(2);
}
const out = resolve(rest.at(-1));
mkdirSync(out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "retrylens-npm-"));
try {
  const made = kind === "main" ? mainPackage(folder, rest[0]) : platformPackage(folder, rest[0], rest[1]);
  for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(root, licence), join(folder, licence));
  writeFileSync(join(folder, "package.json"), JSON.stringify(made, null, 2) + "\n");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const said = execFileSync(npm, ["pack", "--silent", "--pack-destination", out], { cwd: folder, shell: process.platform === "win32" });
  console.log(join(out, said.toString().trim().split("\n").at(-1)));
} finally {
  rmSync(folder, { recursive: true });
}
