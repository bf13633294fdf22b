#!/usr/bin/env node
// Starts the program that npm installed for this platform, as an optional dependency of this package.
"use strict";
const { spawn } = require("node:child_process");
const os = require("node:os");

function isMusl() {
  // The report names the glibc that Node runs on, where there is one.
  return process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
}

function program() {
  const platform = `${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`;
  const name = process.platform === "win32" ? "retrylens.exe" : "retrylens";
  try {
    return require.resolve(`@retrylens/${platform}/${name}`);
  } catch {
    console.error(
      `retrylens: the package @retrylens/${platform} is missing. Where npm was told to leave out optional ` +
        "dependencies, install it by name; where there is none for this platform, build the program with cargo.",
    );
    process.exit(1);
  }
}

// An interrupt from the terminal reaches the program itself, which ends by its own rules; other signals are handed on.
process.on("SIGINT", () => {});
const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
["SIGTERM", "SIGHUP"].forEach((signal) => process.on(signal, () => child.kill(signal)));
child.on("error", (error) => {
  console.error(`retrylens: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + os.constants.signals[signal]));
