import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeWhole } from "../../../src/command/plot/whole-file.ts";
import { DEMO_LATENCY } from "../../data/folders.ts";
import { builtProgram } from "../../harness/built-program.ts";
import { command, pageOf } from "../command.ts";

let folder: string;
let old: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oriel-picture-"));
  old = join(folder, "old.svg");
  writeFileSync(old, "old");
});
afterEach(() => rmSync(folder, { recursive: true }));

const expectUntouched = () => {
  expect(readdirSync(folder)).toEqual(["old.svg"]);
  expect(readFileSync(old, "utf8")).toBe("old");
};
const largeWriter = () => builtProgram(new URL("./write-large.ts", import.meta.url));

test.each(["out.jpg", "out", "out.svg.gz", ".svg", "/dev/stdout"])(
  "%s is refused before the input is opened",
  async (name) => {
    const { status, stderr, stdout } = await command(["replay", "/no/such/file.csv", "--plot", name]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toBe(
      `oriel: ARGUMENT --plot is "${name}"; it must be the name of a file that ends in .svg, .png or .html\n` +
        `see ${pageOf("ARGUMENT")}\n`,
    );
  },
);

test.each([
  [["--width", "100"], '--width is "100"; it must be a whole number of pixels from 320 to 4000'],
  [["--width", "1e3"], '--width is "1e3"'],
  [["--scale", "cubic"], "--scale"],
])("%j is refused", async (options, message) => {
  const { status, stderr } = await command(["replay", "-", "--plot", old, ...options], "time,value\n1,1\n");
  expect(status).toBe(2);
  expect(stderr).toContain(message);
  expectUntouched();
});

test("a folder in place of the file, and a file in place of the folder", async () => {
  expect((await command(["replay", "-", "--plot", join(folder, "none", "x.svg")])).stderr).toMatch(/^oriel: ENOENT/);
  const inside = mkdtempSync(join(folder, "sub-"));
  const named = `${inside}.svg`;
  symlinkSync(inside, named);
  const { status, stderr } = await command(["replay", "-", "--plot", named]);
  expect([status, stderr]).toEqual([2, expect.stringContaining("it is a folder")]);
});

test("without the renderer of PNG, the error names it before the input is opened, and other forms work", async () => {
  // Beside this copy there is no node_modules.
  const copy = join(folder, "oriel.mjs");
  copyFileSync(builtProgram(new URL("../../../src/command/cli.ts", import.meta.url)), copy);
  const run = (...args: string[]) => spawnSync(process.execPath, [copy, "replay", ...args], { encoding: "utf8" });
  const png = run("/no/such/file.csv", "--plot", join(folder, "x.png"));
  expect(png.status).toBe(2);
  expect(png.stderr).toMatch(
    /^oriel: ARGUMENT --plot is [^\n]+ the optional package @resvg\/resvg-wasm must be installed [^\n]+\nsee \S+#argument\n$/,
  );
  expect(run(DEMO_LATENCY, "--plot", join(folder, "x.html"))).toMatchObject({ status: 0 });
  expect(readdirSync(folder).sort()).toEqual(["old.svg", "oriel.mjs", "x.html"]);
});

test("a run that fails leaves the old picture", async () => {
  const failing = await command(["replay", "-", "--plot", old, "--value", "nope"], "time,value\n1394163660,1\n");
  expect(failing.status).toBe(2);
  expectUntouched();
});

test.each(["SIGINT", "SIGTERM"] as const)("a run that %s ends leaves the old picture", async (signal) => {
  const cli = builtProgram(new URL("../../../src/command/cli.ts", import.meta.url));
  const child = spawn(process.execPath, [cli, "replay", "-", "--span", "1s", "--plot", old]);
  const closed = new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
  Readable.from(["time,value\n", ...Array.from({ length: 100 }, (_, i) => `${1394163660 + i},${i}\n`)]).pipe(
    child.stdin,
    {
      end: false,
    },
  );
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill(signal);
  expect(await closed).toBe(signal);
  expectUntouched();
});

test("a file that takes the place of another has its rights; a link keeps pointing to it", async () => {
  chmodSync(old, 0o640);
  const link = join(folder, "link.svg");
  symlinkSync(old, link);
  await writeWhole(link, "new");
  expect(readFileSync(old, "utf8")).toBe("new");
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  if (process.platform !== "win32") expect(statSync(old).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder).sort()).toEqual(["link.svg", "old.svg"]);
});

test.skipIf(process.platform === "win32")(
  "where the system takes only a part, the old file stays and no other is left",
  async () => {
    // A bound on the size of files fails in the midst of writing, as a full disk does.
    const child = spawn("sh", ["-c", 'ulimit -f 64; exec "$@"', "sh", process.execPath, largeWriter(), old, "1000000"]);
    const said = child.stdout.toArray();
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(1);
    expect(Buffer.concat(await said).toString()).toBe("begins\nEFBIG\n");
    expectUntouched();
  },
);

test.skipIf(process.platform === "win32")(
  "a signal in the midst of writing waits: the file is old or new, and no other is left",
  async () => {
    const sizeBytes = 30_000_000;
    const child = spawn(process.execPath, [largeWriter(), old, `${sizeBytes}`]);
    const closed = new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
    while (child.exitCode === null && readdirSync(folder).length < 2)
      await new Promise((resolve) => setImmediate(resolve));
    child.kill("SIGTERM");
    await closed;
    expect(existsSync(old)).toBe(true);
    expect(readdirSync(folder)).toEqual(["old.svg"]);
    expect(statSync(old).size).toBe(sizeBytes);
  },
);
