// The HTML pages of `analyze` and `trace` in a real browser, opened from disk: what they show, do and never do.
//
// Started by ./run, which sets RETRYLENS (the program) and CHROMIUM (the browser).
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { hostileLog, writeLog } from "./log.mjs";

const SAMPLES = fileURLToPath(new URL("../../samples", import.meta.url));
const ATTEMPTS = 200_000;
const HEAVIEST_BYTES = 3_000_000;
const SLOWEST_MS = 1_000;
/** WCAG 2.2, success criterion 1.4.3. */
const LEAST_CONTRAST = 4.5;
/** A call of twelve attempts, three in each of four rounds. */
const TRACED = "run-5414c7497c-c001";
const HOSTILE = `</script><script>document.title = "owned"</script><img src=x onerror="document.title='owned'"> "'\u202etxt.exe\u2028`;

let browser;
let folder;
const reports = {};

/** The report of some logs, as the URL of a file. */
function report(name, inputs) {
  const path = join(folder, `${name}.html`);
  const args = ["analyze", "--quiet", "--no-config", "--fail-on", "never", "--output", `html=${path}`, ...inputs];
  execFileSync(process.env.RETRYLENS, args, { stdio: ["ignore", "ignore", "inherit"] });
  reports[name] = { path, url: pathToFileURL(path).href };
}

/** What an id led to in some logs, as the URL of a file. */
function trace(name, id, inputs) {
  const path = join(folder, `${name}.html`);
  const args = ["trace", "--quiet", "--no-config", "--raw", "--output", `html=${path}`, "--id", id, ...inputs];
  // 1 is the verdict on the call, not a failure.
  const { status } = spawnSync(process.env.RETRYLENS, args, { stdio: ["ignore", "ignore", "inherit"] });
  assert.ok(status === 0 || status === 1, `trace ended with ${status}`);
  reports[name] = { path, url: pathToFileURL(path).href };
}

/** A comparison of reports, as the URL of a file. */
function compare(name, args) {
  const path = join(folder, `${name}.html`);
  const { status } = spawnSync(process.env.RETRYLENS, [...args, "--output", `html=${path}`], { stdio: ["ignore", "ignore", "inherit"] });
  assert.ok(status === 0 || status === 1, `${args[0]} ended with ${status}`);
  reports[name] = { path, url: pathToFileURL(path).href };
}

/** Opens a page and holds it to what every page must hold: no complaint, and not one request. */
async function open(name, { hash = "", ...context } = {}) {
  const page = await browser.newPage(context);
  const wrong = [];
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(reports[name].url) && !url.startsWith("data:image/svg+xml")) wrong.push(`request: ${url}`);
  });
  await page.goto(reports[name].url + hash);
  return { page, done: async () => (assert.deepEqual(wrong, []), await page.close()) };
}

const rows = (page, table) => page.locator(`#${table} > tbody:visible`);
const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
/** Tables and charts of which a part can be reached by scrolling sideways only. */
const cut = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".scroll, .sheet")]
      .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
      .map((one) => `${one.scrollWidth} in ${one.clientWidth}: ${one.innerText.slice(0, 60)}`),
  );
/** Words of the program, such as classes, that stand on more than one line; several words may. */
const broken = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("td code.word")].filter((one) => one.getClientRects().length > 1).map((one) => one.innerText).filter((word) => !word.includes(" ")),
  );

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "retrylens-browser-"));
  const samples = readdirSync(SAMPLES).filter((name) => name.endsWith(".jsonl"));
  report("samples", samples.map((name) => join(SAMPLES, name)));
  const large = join(folder, "large.jsonl");
  await writeLog(large, ATTEMPTS);
  report("large", [large]);
  const hostile = join(folder, "hostile.jsonl");
  writeFileSync(hostile, hostileLog(HOSTILE));
  report("hostile", [hostile]);
  trace("trace", TRACED, [SAMPLES]);
  compare("diff", ["diff", "--no-config", join(SAMPLES, "two-loops-4x3.jsonl"), join(SAMPLES, "fan-out.jsonl")]);
  const nights = ["two-loops-4x3", "fan-out", "spend-cap-retried"].map((name) => {
    const path = join(folder, `${name}.json`);
    const args = ["analyze", "--quiet", "--no-config", "--complete", "--fail-on", "never", "--output", `json=${path}`];
    execFileSync(process.env.RETRYLENS, [...args, join(SAMPLES, `${name}.jsonl`)], { stdio: ["ignore", "ignore", "inherit"] });
    return path;
  });
  compare("trend", ["trend", ...nights]);
  trace("trace-hostile", "req ", [hostile]);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the report of the samples", () => {
  test("says the verdict and what to do on the first screen", async () => {
    const { page, done } = await open("samples", { viewport: { width: 1280, height: 800 } });
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.match(await page.locator("h1").innerText(), /\d+ of \d+ calls failed/);
    const steps = page.locator(".steps > li");
    const count = await steps.count();
    assert.ok(count >= 1 && count <= 5, `${count} steps`);
    assert.match(await page.locator(".lead").innerText(), /\d+ failed on \w+ \(/);
    // With the fonts of this machine, and with others as wide: all steps. With wider ones advice wraps: the first ones.
    for (const [family, spacing, whole] of [["", "", count], ["sans-serif", "", count], ["sans-serif", "0.06em", count - 1], ["monospace", "", 2]]) {
      await page.evaluate(([family, spacing]) => Object.assign(document.body.style, { fontFamily: family, letterSpacing: spacing }), [family, spacing]);
      const last = await steps.nth(whole - 1).boundingBox();
      assert.ok(last.y + last.height < 800, `step ${whole} lies below the first screen in ${family} ${spacing}`);
      const isCut = await page.locator(".steps .what").evaluateAll((all) => all.some((one) => one.scrollHeight > one.clientHeight + 1));
      assert.ok(!isCut, `advice is cut in ${family} ${spacing}`);
    }
    await done();
  });

  test("sorts by any column, and says by which", async () => {
    const { page, done } = await open("samples");
    const found = page.locator("#problem-table th", { hasText: "Findings" });
    const figures = async () => {
      const cells = rows(page, "problem-table").locator("tr.row > td:nth-child(4)");
      return (await cells.evaluateAll((all) => all.map((cell) => Number(cell.dataset.key))));
    };
    await found.getByRole("button").click();
    assert.equal(await found.getAttribute("aria-sort"), "descending");
    const down = await figures();
    assert.deepEqual(down, [...down].sort((a, b) => b - a));
    await found.getByRole("button").click();
    assert.equal(await found.getAttribute("aria-sort"), "ascending");
    const up = await figures();
    assert.deepEqual(up, [...up].sort((a, b) => a - b));
    assert.notDeepEqual(up, down);
    await done();
  });

  test("filters by words and by severity", async () => {
    const { page, done } = await open("samples");
    const all = await rows(page, "problem-table").count();
    await page.getByPlaceholder("Filter").first().fill("rl101");
    assert.equal(await rows(page, "problem-table").count(), 1);
    await page.getByPlaceholder("Filter").first().fill("");
    const warnings = page.locator('[data-tools="problem-table"] [data-facet="warning"]');
    await warnings.click();
    assert.equal(await warnings.getAttribute("aria-pressed"), "true");
    const some = await rows(page, "problem-table").count();
    assert.ok(some > 0 && some < all, `${some} of ${all}`);
    await warnings.click();
    assert.equal(await rows(page, "problem-table").count(), all);
    await done();
  });

  test("opens a problem with its evidence, by keyboard too", async () => {
    const { page, done } = await open("samples");
    const problem = page.locator("#RL101");
    assert.equal(await problem.locator("tr.more").isVisible(), false);
    await problem.getByRole("button").focus();
    await page.keyboard.press("Enter");
    assert.equal(await problem.getByRole("button").getAttribute("aria-expanded"), "true");
    const evidence = await problem.locator(".finding table").innerText();
    assert.match(evidence, /req_\w+/);
    assert.match(evidence, /spend-cap-retried\.jsonl:\d+/);
    assert.match(evidence, /429/);
    await page.keyboard.press("Enter");
    assert.equal(await problem.locator("tr.more").isVisible(), false);
    await done();
  });

  test("opens what a link names, at once and later", async () => {
    const { page, done } = await open("samples", { hash: "#RL401" });
    assert.equal(await page.locator("#RL401 tr.more").isVisible(), true);
    const box = await page.locator("#RL401").boundingBox();
    assert.ok(box.y >= 0 && box.y < 400, `at ${box.y}`);
    const run = await page.locator("#run-table > tbody").last().getAttribute("data-link");
    await page.evaluate((hash) => (location.hash = hash), run);
    const target = page.locator(`[data-link="${run}"]`);
    await target.locator("tr.more").waitFor({ state: "visible" });
    await page.locator(".steps a.rule").first().click();
    const rule = (await page.evaluate(() => location.hash)).slice(1);
    assert.equal(await page.locator(`#${rule} tr.more`).isVisible(), true);
    await done();
  });

  test("fits a phone", async () => {
    for (const width of [360, 768, 1920]) {
      const { page, done } = await open("samples", { viewport: { width, height: 740 }, hash: "#RL401" });
      await page.locator("#run-table .opener").first().click();
      assert.ok((await sideways(page)) <= 0, `${width}: scrolls sideways by ${await sideways(page)}`);
      await done();
    }
  });

  test("can be read in light and dark, and the button changes between them", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const { page, done } = await open("samples", { colorScheme, hash: "#RL101" });
      const poor = await page.evaluate(poorContrast, LEAST_CONTRAST);
      assert.deepEqual(poor, [], colorScheme);
      const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const own = await paper();
      await page.locator("[data-theme-toggle]").click();
      const other = await paper();
      assert.notEqual(other, own);
      assert.deepEqual(await page.evaluate(poorContrast, LEAST_CONTRAST), [], `not ${colorScheme}`);
      await page.reload();
      assert.equal(await paper(), other, "the choice is kept where the browser keeps anything");
      await page.locator("[data-theme-toggle]").click();
      assert.equal(await paper(), own);
      await done();
    }
  });

  test("works without scripts", async () => {
    const { page, done } = await open("samples", { javaScriptEnabled: false });
    assert.equal(await page.locator("#RL101 tr.more").isVisible(), true);
    assert.equal(await page.locator(".tools").first().isVisible(), false);
    await done();
  });

  test("prints light, with every fix", async () => {
    // The width of A4 at 96 dots an inch.
    const { page, done } = await open("samples", { colorScheme: "dark", viewport: { width: 794, height: 1123 } });
    await page.emulateMedia({ media: "print" });
    assert.ok((await sideways(page)) <= 0, `cut on paper by ${await sideways(page)}`);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.equal(await page.locator("nav.contents").isVisible(), false);
    const more = page.locator("#problem-table tr.more");
    for (let nth = 0; nth < (await more.count()); nth++) assert.ok(await more.nth(nth).isVisible());
    await done();
  });

  test("names what is pressed, read or drawn", async () => {
    const { page, done } = await open("samples");
    const nameless = await page.evaluate(() => {
      const name = (one) => (one.getAttribute("aria-label") ?? "") + one.textContent.trim();
      const buttons = [...document.querySelectorAll("button, a[href]")].filter((one) => !name(one));
      const charts = [...document.querySelectorAll(".chart svg")].filter((one) => !one.getAttribute("aria-label"));
      return [...buttons, ...charts].map((one) => one.outerHTML.slice(0, 80));
    });
    assert.deepEqual(nameless, []);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await done();
  });
});

describe("the report of many attempts", () => {
  test("is light and opens at once", async () => {
    const { size } = statSync(reports.large.path);
    assert.ok(size < HEAVIEST_BYTES, `${size} bytes`);
    const { page, done } = await open("large");
    // Time of the page's thread on the processor: what else the machine does is not the page's fault.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
    const worked = async () => {
      const { metrics } = await devtools.send("Performance.getMetrics");
      return 1000 * metrics.find((one) => one.name === "TaskDuration").value;
    };
    const took = [];
    for (let nth = 0; nth < 3; nth++) {
      const before = await worked();
      await page.reload();
      took.push((await worked()) - before);
    }
    console.log(`${ATTEMPTS} attempts: ${size} bytes, opened with ${took.map(Math.round).join(", ")} ms of work`);
    assert.ok(Math.max(...took) < SLOWEST_MS, `${took} ms`);
    await done();
  });

  test("pages through its runs, and a link finds one on a later page", async () => {
    const { page, done } = await open("large");
    const pager = page.locator('[data-pager="run-table"]');
    const first = await rows(page, "run-table").first().getAttribute("data-link");
    const size = await rows(page, "run-table").count();
    await pager.getByRole("button", { name: "Next" }).click();
    assert.equal(await rows(page, "run-table").count(), size);
    assert.notEqual(await rows(page, "run-table").first().getAttribute("data-link"), first);
    assert.match(await pager.locator(".where").innerText(), new RegExp(`^${size + 1} to ${2 * size} of \\d+$`));
    const last = await page.locator("#run-table > tbody").last().getAttribute("data-link");
    assert.equal(await page.locator(`[data-link="${last}"]`).isVisible(), false);
    await page.evaluate((hash) => (location.hash = hash), last);
    await page.locator(`[data-link="${last}"] tr.more`).waitFor({ state: "visible" });
    await pager.getByRole("button", { name: "Show all" }).click();
    assert.ok((await rows(page, "run-table").count()) > 4 * size);
    await done();
  });

  test("folds what repeats, and says what it left out and where that is", async () => {
    const { page, done } = await open("large", { hash: "#RL104" });
    const problem = page.locator("#RL104");
    const shown = await problem.locator("details.finding").count();
    assert.ok(shown > 1 && shown <= 20, `${shown} findings`);
    assert.match(await problem.locator(".evidence .note").innerText(), /of [\d,]+ findings; --output json=FILE/);
    await problem.locator("details.finding summary").first().click();
    assert.match(await problem.locator("details.finding table").first().innerText(), /req_\d+_1/);
    await done();
  });
});

describe("the report of a hostile log", () => {
  test("shows markup and hidden characters as text", async () => {
    const { page, done } = await open("hostile", { hash: "#RL104" });
    assert.equal(await page.title(), "Retry report: hostile.jsonl");
    assert.equal(await page.locator("main img, main script").count(), 0);
    const text = await page.locator("main").innerText();
    assert.match(text, /<script>document\.title = "owned"<\/script>/);
    assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u2028]/);
    assert.match(text, /�txt\.exe/);
    await done();
  });

  test("opens a run by its name, whatever that is", async () => {
    const { page, done } = await open("hostile", { hash: "#RL104" });
    await page.locator("#RL104 a[href^='#run=']").first().click();
    await page.locator("#run-table tr.more").first().waitFor({ state: "visible" });
    assert.ok((await sideways(page)) <= 0);
    await done();
  });
});

describe("pages on a phone", () => {
  for (const name of ["samples", "trace", "diff", "trend"]) {
    test(`show ${name} whole`, async () => {
      for (const colorScheme of ["light", "dark"]) {
        const { page, done } = await open(name, { colorScheme, viewport: { width: 390, height: 844 } });
        assert.ok((await sideways(page)) <= 0, `scrolls sideways by ${await sideways(page)}`);
        assert.deepEqual(await cut(page), []);
        assert.deepEqual(await broken(page), []);
        assert.deepEqual(await page.evaluate(poorContrast, LEAST_CONTRAST), [], colorScheme);
        await done();
      }
    });
  }
});

describe("the page of a trace", () => {
  test("shows every attempt, in a picture and in a table", async () => {
    const { page, done } = await open("trace");
    assert.match(await page.locator("h1").innerText(), /failed after 12 attempts/);
    assert.equal(await page.locator("#calls svg[role='img']").count(), 1);
    assert.match(await page.locator("#calls svg[role='img']").getAttribute("aria-label"), /\w/);
    const attempts = await page.locator("#calls table").first().innerText();
    assert.match(attempts, /529/);
    assert.match(await page.locator("#calls").innerText(), /RL401/);
    assert.match(await page.locator("#support").innerText(), /req_\w+/);
    assert.equal(await page.locator("#raw code").count(), 12);
    await done();
  });

  test("fits a phone, and is read in light and dark", async () => {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [360, 1200]) {
        const { page, done } = await open("trace", { colorScheme, viewport: { width, height: 740 } });
        assert.ok((await sideways(page)) <= 0, `${width}: scrolls sideways by ${await sideways(page)}`);
        assert.deepEqual(await page.evaluate(poorContrast, LEAST_CONTRAST), [], colorScheme);
        await done();
      }
    }
  });

  test("works without scripts, and prints light", async () => {
    const { page, done } = await open("trace", { javaScriptEnabled: false, colorScheme: "dark" });
    assert.ok(await page.locator("#calls table").first().isVisible());
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    await done();
  });

  test("shows markup and hidden characters as text", async () => {
    const { page, done } = await open("trace-hostile");
    assert.notEqual(await page.title(), "owned");
    assert.equal(await page.locator("main img, main script").count(), 0);
    const text = await page.locator("main").innerText();
    assert.match(text, /<script>document\.title = "owned"<\/script>/);
    assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u2028]/);
    assert.ok((await sideways(page)) <= 0);
    await done();
  });
});

/** Texts whose contrast to what they stand on is below `least`. Runs in the page. */
function poorContrast(least) {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const poor = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest(".unseen, .skip, :disabled, script, title")) continue;
    const style = getComputedStyle(element);
    const drawn = element.closest(".chart svg");
    // A figure inside a bar stands on the bar.
    if (drawn && element.getAttribute("fill") === "#FFFFFF") continue;
    const [a, b] = [luminance(rgba(drawn ? style.fill : style.color)), luminance(ground(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    // Large text and graphics may have less: 3 to 1.
    const enough = drawn || parseFloat(style.fontSize) >= 24 ? 3 : least;
    if (contrast < enough) poor.add(`${contrast.toFixed(2)}: ${element.textContent.trim().slice(0, 40)}`);
  }
  return [...poor];
}
