import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { PARTS } from "../../scripts/test/parts.mjs";
import { sourceFiles } from "./sources.ts";

/** The paths of the files that a file imports. */
function importsOf(path: string, text: string): string[] {
  const found = text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, to]) => posix.join(posix.dirname(path), to!));
}

const files = sourceFiles(["test"], [".ts"]);
const helpers = files.filter(({ path }) => !path.endsWith(".test.ts") && path !== "test/harness/setup.ts");

describe("the files that tests share", () => {
  it("register no hook when loaded, because several test files share one process and its modules", () => {
    const hook = /^(before|after)(All|Each)\(/m;
    expect(helpers.length).toBeGreaterThan(100);
    expect(helpers.filter(({ text }) => hook.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

describe("the test files", () => {
  it("belong to a part by their names, so that none is left out", () => {
    const named = new RegExp(
      `^[^.]+(\\.own)?(\\.(${Object.keys(PARTS)
        .filter((part) => part !== "core")
        .join("|")}))?\\.test\\.ts$`,
    );
    const names = files.map(({ path }) => path).filter((path) => path.endsWith(".test.ts"));
    expect(names.length).toBeGreaterThan(200);
    expect(names.filter((path) => !named.test(path.slice(path.lastIndexOf("/") + 1)))).toEqual([]);
  });

  it("belong to the part rows if stores are chosen for them, because the part core does not run over all of them", () => {
    const texts = new Map(files.map(({ path, text }) => [path, text]));
    const users = new Set(["test/harness/rows.ts"]);
    for (let size = 0; size < users.size; ) {
      size = users.size;
      for (const [path, text] of texts) if (importsOf(path, text).some((used) => users.has(used))) users.add(path);
    }
    const isOfCore = (path: string) => /\/[a-z0-9-]+(\.own)?\.test\.ts$/.test(path);
    expect([...users].filter(isOfCore)).toEqual([]);
    const named = [...texts.keys()].filter((path) => path.endsWith(".rows.test.ts"));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !users.has(path))).toEqual([]);
  });

  it("have a process of their own if they step its timers, which those of other files would join", () => {
    const stepping = files.filter(
      ({ path, text }) => path.endsWith(".test.ts") && text.includes("useFake" + "Timers("),
    );
    expect(stepping.length).toBeGreaterThan(10);
    expect(stepping.map(({ path }) => path).filter((path) => !path.includes(".own."))).toEqual([]);
  });

  it("do not judge by the clock on the wall, so that none fails because a machine is slow", () => {
    const others = files.filter(({ path }) => !path.startsWith("test/house/"));
    const judged = others.flatMap(({ path, text }) => wallJudges(text, path).map((code) => `${path}: ${code}`));
    expect(judged).toEqual([]);
    const examples = [
      "expect(performance.now() - startMs).toBeLessThan(500);",
      "const tookMs = Date.now() - startMs; expect( tookMs , what).toBeLessThanOrEqual(9);",
      "await vi.waitFor(() => expect(a).toBe(1));",
      "const store = redisStore(url, { deadline: 300 });",
      'test("a", async () => {\n}, 40_000);',
      'test(\n  "a",\n  run,\n  30_000,\n);',
      "test('a', { timeout: 20_000 }, run);",
      "execFile(node, args, { timeout: 25_000 });",
      'await until("b", isB, 5500);',
      "expect(Math.abs(atMs - Date.now())).toBeLessThan(50);",
      'await command(["doctor", "--deadline", "300ms"]);',
      'const store = redisStore(url, { deadline: "300ms" });',
      "await new Promise((resolve) => setTimeout(resolve, 200));",
      "await pause(2 * WAIT_MS);",
      'const lock = new Lock(store, "a", { watchdogLease: 3000 });',
      "expect(slow.filter(([, , us]) => us > 250_000)).toEqual([]);",
      "expect(longestUs).toBeLessThan(9000);",
    ];
    expect(examples.map((text) => wallJudges(text).length)).toEqual(examples.map(() => 1));
    const fair = [
      "expect(performance.now() - startMs).toBeGreaterThan(95);",
      "expect(calls).toBeLessThan((performance.now() - startMs) / 100);",
      "redisStore(url, { deadline: 300 }); // It ends calls that nobody answers.",
      'const store = redisStore(url, { deadline: "10s" });',
      "await pause(200); // In this time the worker would have asked.",
      "await new Promise((resolve) => setTimeout(resolve));",
      'const lock = new Lock(store, "a", { watchdogLease: 6000 });',
      "expect(longestUs / plainUs).toBeLessThan(6);",
      "// It is to end.\nnew Lock(store, name, { watchdogLease: 900 });",
    ];
    expect(fair.flatMap((text) => wallJudges(text))).toEqual([]);
  });
});

/** A limit of at least so much only ends a hang. */
const HANG_MS = 200_000;
/** A time that is nearer than that to now is one that a slow machine misses. */
const NEAR_MS = 30_000;
/** The test files of `npm test`, without those of leases, which end by a server's clock. */
const SLEEPS = /^(?!test\/(lock|semaphore)\/).*\/[a-z0-9-]+(\.own)?(\.rows)?\.test\.ts$|^$/;
/** Folders whose tests are about calls that nobody answers. */
const OF_FAULTS = /\/(faults|outages|storm|misuse)\//;

/** Folders and files whose leases end on a clock that is stepped, or that only name an option. */
const STEPPED = /^test\/simulator\/|\.own\.|\/bad-input\./;

/** The places in a test's text that pass or fail by how fast the machine is. */
function wallJudges(text: string, path = ""): string[] {
  const timed = [...text.matchAll(/(?:const|let) (\w+) = (?:performance|Date)\.now\(\) - \w+;/g)].map(
    ([, name]) => name,
  );
  const elapsed = ["(?:performance|Date)\\.now\\(\\) - \\w+", ...timed].join("|");
  const bounds = text.match(new RegExp(`expect\\(\\s*(?:${elapsed})\\s*(?:,[^;]*?)?\\)\\s*\\.toBeLess\\w+`, "g")) ?? [];
  // A server's own time of a call counts the time in which it had no processor.
  const slowest = text.match(/\b(?:us|\w+Us) [<>]=? \d[\d_]*|expect\((?:us|\w+Us)\)\s*\.toBeLess\w+\(\d/g) ?? [];
  const impatient = text.match(/\bvi\.(waitFor|waitUntil)\b/g) ?? [];
  const limited = [
    ...text.matchAll(
      /\btimeout: (\d[\d_]{3,})|^ {0,4}\}, (\d[\d_]{3,})\);$|^ +(\d[\d_]{3,}),\n *\);$|\buntil\(.*, (\d[\d_]{2,})\)[;.]/gm,
    ),
  ];
  const hasty = limited.filter(([, ...ms]) => numberOf(ms.join("")) < HANG_MS).map(([code]) => code);
  const compared = [
    ...text.matchAll(/expect\(Math\.abs\(.*(?:performance|Date)\.now\(\).*\)\)\s*\.toBeLess\w+\(([\d_]+)\)/g),
  ];
  const near = compared.filter(([, ms]) => numberOf(ms!) < NEAR_MS).map(([code]) => code);
  const lines = text.split("\n");
  const isExplained = (i: number) => /\/\/|\*\//.test(`${lines[i]} ${lines[i - 1]}`);
  const unexplained = (isOne: (line: string) => boolean) => lines.filter((line, i) => isOne(line) && !isExplained(i));
  const deadlines = OF_FAULTS.test(path) ? [] : unexplained(hasShortDeadline);
  const leases = STEPPED.test(path) ? [] : unexplained(hasShortRenewedLease);
  return [
    ...bounds,
    ...near,
    ...slowest,
    ...impatient,
    ...hasty,
    ...deadlines,
    ...leases,
    ...(SLEEPS.test(path) ? unexplained(sleeps) : []),
  ];
}

/** A deadline under a second. A comment must say which calls it ends. */
function hasShortDeadline(line: string): boolean {
  const deadline = /(?:\bdeadline(?:Ms)?: |DEADLINE_MS = |"--deadline", )"?([1-9][\d_]*)(?:ms"|\b)/;
  const [, ms] = deadline.exec(line) ?? [];
  return ms !== undefined && numberOf(ms) < 1000;
}

/** A renewed lease that a slow machine lets end before its renewal. A comment must say why it may. */
function hasShortRenewedLease(line: string): boolean {
  const [, ms] = /\bwatchdogLease: (\d[\d_]*)/.exec(line) ?? [];
  return ms !== undefined && numberOf(ms) < 5000;
}

/** A sleep of more than a few turns of the event loop. A comment must say what would have been seen in this time. */
function sleeps(line: string): boolean {
  return /\bawait (?:pause|sleep|delay)\((?!\d?\))|\bawait new Promise.*setTimeout\(\w+, (?!\d\))/.test(line);
}

const numberOf = (text: string) => Number(text.replaceAll("_", ""));
