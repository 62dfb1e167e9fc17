// `npm test`: the parts core and rows, over the memory store, one Redis and its clients. `npm run test:all`: all parts over all
// stores, or those that are named (`npm run test:all -- servers sql`). If `npm test` has passed and no file has changed since, it
// does not run core again, nor the rows that have run. `check` among the parts is the checks of sources and package, `forms` the
// contract suites over each version of Redis and Valkey. Installs what they need. Other arguments are vitest's.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PARTS } from "./test/parts.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const state = join(root, "node_modules", ".oriel", "tests");
/** The suites that run over each server, in each form (test/servers/forms.ts). */
const FORMS = [
  "suite.rows",
  "contract/shape",
  "contract/added-dimension",
  "drain/matrix",
  "drain/rows/added-dimension",
  "locked-window.rows",
];

/** What is no source. */
const MADE = new Set([".git", "node_modules", "dist", "generated", "cache"]);

const words = process.argv.slice(2);
if (words.includes("--counts")) printCounts();
else
  runTests(
    words.includes("--all"),
    words.filter((word) => word !== "--all"),
  );

function runTests(isAll, rest) {
  const named = rest.filter((word) => !word.startsWith("-") && !/[/.]/.test(word));
  const unknown = named.filter((name) => !isAll || !(name in PARTS || name === "check" || name === "forms"));
  if (unknown.length > 0) {
    console.error(
      `${unknown} is no part of the tests; the parts of npm run test:all are ${Object.keys(PARTS)}, check and forms`,
    );
    process.exit(2);
  }
  const parts = !isAll ? ["core", "rows"] : named.length > 0 ? named : [...Object.keys(PARTS), "check"];
  const ofVitest = parts.filter((part) => part in PARTS);
  const title = isAll ? `npm run test:all${named.map((name) => ` ${name}`).join("")}` : "npm test";
  const startMs = Date.now();
  const isRest = isAll && named.length === 0 && hasCorePassed();
  if (isRest) {
    console.log("npm test has passed, and no file has changed since: its tests do not run again");
    ofVitest.splice(ofVitest.indexOf("core"), 1);
  }
  const everything = parts.includes("check") ? Object.values(PARTS).flat() : [];
  const flags = new Set(["--redis", ...(isAll ? ofVitest.flatMap((part) => PARTS[part]) : PARTS.core), ...everything]);
  if (parts.includes("forms")) for (const flag of PARTS.servers) flags.add(flag);
  let cpuS = run(process.execPath, [join(root, "scripts", "setup.mjs"), ...flags], {}, true).cpuS;
  let isGood = true;
  if (parts.includes("check")) {
    const checked = run(process.execPath, [join(root, "scripts", "check.mjs")]);
    cpuS += checked.cpuS;
    isGood &&= checked.status === 0;
  }
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const others = rest.filter((word) => !named.includes(word));
  const add = (tested) => {
    cpuS += tested.cpuS;
    isGood &&= tested.status === 0;
    for (const name of Object.keys(counts)) counts[name] += tested[name];
  };
  if (ofVitest.length > 0)
    add(vitest(others, { ORIEL_PARTS: ofVitest.join(","), ORIEL_ROWS_OVER: isRest ? "rest" : isAll ? "" : "few" }));
  if (parts.includes("forms")) add(vitest([...FORMS, ...others], { ORIEL_STORES: "servers" }));
  const outcome = {
    title,
    ...counts,
    isGood,
    isWhole: rest.length === 0,
    node: process.version,
    startMs,
    s: Math.round((Date.now() - startMs) / 1000),
    cpuMinutes: cpuS / 60,
  };
  writeFileSync(join(state, isAll ? "all.json" : "core.json"), JSON.stringify(outcome));
  console.log(lineOf(outcome));
  process.exitCode = isGood ? 0 : 1;
}

/** Whether the last `npm test` was whole and good, on this version of Node, and began after the last change of a file. */
function hasCorePassed() {
  const file = join(state, "core.json");
  if (!existsSync(file)) return false;
  const { isGood, isWhole, node, startMs } = JSON.parse(readFileSync(file, "utf8"));
  return isGood && isWhole && node === process.version && changedMs(root) < startMs;
}

/** The last change of a file or folder, without what is installed or made, and the folders that it lies in. */
function changedMs(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  let latestMs = entries.some(({ name }) => MADE.has(name)) ? 0 : statSync(folder).mtimeMs;
  for (const entry of entries) {
    if (MADE.has(entry.name)) continue;
    const path = join(folder, entry.name);
    latestMs = Math.max(latestMs, entry.isDirectory() ? changedMs(path) : statSync(path).mtimeMs);
  }
  return latestMs;
}

/** Runs vitest. Without a report it broke off, which counts as a failed test. */
function vitest(args, env) {
  mkdirSync(state, { recursive: true });
  const report = join(state, "report.json");
  rmSync(report, { force: true });
  const mode = args.includes("--watch") ? "watch" : "run";
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const given = args.filter((word) => word !== "--watch");
  const ran = run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), mode, ...reporters, ...given], env);
  if (!existsSync(report)) return { ...ran, passed: 0, failed: 1, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, "utf8"));
  return { ...ran, passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
}

/** Runs a program in a shell that tells afterwards the CPU time of it and all its children. */
function run(command, args, env = {}, mustSucceed = false) {
  const timed = '"$@"; status=$?; times >&3; exit $status';
  const { status, output } = spawnSync("sh", ["-c", timed, "sh", command, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    encoding: "utf8",
  });
  if (mustSucceed && status !== 0) process.exit(status ?? 1);
  // The second line is that of the children: user and system time, each as 1m2.34s.
  const times = [...(output?.[3] ?? "").matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, s]) => 60 * Number(minutes) + Number(s),
  );
  return { status: status ?? 1, cpuS: times.slice(2).reduce((sum, one) => sum + one, 0) };
}

function lineOf({ title, passed, failed, skipped, isGood, s, cpuMinutes }) {
  const what = `${passed} tests passed, ${failed} failed, ${skipped} skipped`;
  return `${title}: ${isGood ? "good" : "FAILED"}, ${what}, in ${s} s and ${cpuMinutes.toFixed(1)} CPU minutes`;
}

/** One line for the last run of both commands. */
function printCounts() {
  const files = ["core.json", "all.json"].map((name) => join(state, name)).filter(existsSync);
  const outcomes = files.map((file) => JSON.parse(readFileSync(file, "utf8")));
  const sum = (name) => outcomes.reduce((total, outcome) => total + outcome[name], 0);
  const isGood = outcomes.length === 2 && outcomes.every((outcome) => outcome.isGood);
  const title = outcomes.map((outcome) => outcome.title).join(" and ");
  const [passed, failed, skipped, s, cpuMinutes] = ["passed", "failed", "skipped", "s", "cpuMinutes"].map(sum);
  console.log(lineOf({ title, passed, failed, skipped, isGood, s, cpuMinutes }));
}
