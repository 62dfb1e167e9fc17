// The servers of several Debian releases, side by side beneath node_modules/.oriel/servers, each with its own libraries.
// A newer release needs its own C library, so each server is started by its release's loader. Nothing of the system
// changes, and no root is needed.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { libraryFolders, unpacked } from "../find-programs.mjs";
import { PROGRAMS, RELEASES } from "./find.mjs";

const TIMEOUT_MS = 120_000;

/** Libraries that the servers' packages bring for their installation only. The start of each server checks this list. */
const NOT_AT_RUN_TIME =
  /^lib(acl|attr|audit|blkid|bsd|bz2|c-gconv|cap-ng|crypt1|db5|debconf|file|gdbm|md0|mount|number|pam|pcre|perl|sel|sem|sepol|systemd-shared|text)/;
const isWanted = (name) => PROGRAMS.some((program) => name === program || name === toolsOf(program)) || isLibrary(name);
const isLibrary = (name) => name.startsWith("lib") && !NOT_AT_RUN_TIME.test(name);
/** `redis-server` is a link to a program of `redis-tools`. */
const toolsOf = (program) => program.replace("-server", "-tools");

function run(command, args, cwd) {
  const { promise, resolve } = withResolvers();
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout: TIMEOUT_MS });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.once("error", (error) => resolve({ status: 1, stdout, stderr: `${error.message}\n` }));
  child.once("close", (status) => resolve({ status, stdout, stderr }));
  return promise;
}

/** Promise.withResolvers, which Node 20 lacks. */
function withResolvers() {
  let resolve;
  const promise = new Promise((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

/** The address from which the system takes Debian's packages. Undefined on a system of another kind. */
function repository() {
  const format = "$(REPO_URI) $(CODENAME)";
  const args = ["indextargets", "--format", format, "Created-By: Packages", "Origin: Debian", "Component: main"];
  const { stdout } = spawnSync("apt-get", args, { encoding: "utf8" });
  const release = /VERSION_CODENAME=(\S+)/.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  const lines = (stdout ?? "").split("\n").map((line) => line.split(" "));
  return lines.find(([, codename]) => codename === release)?.[0];
}

/** Unpacks the servers of one release. Returns why it did not. */
async function unpackRelease(release, address) {
  const folder = join(unpacked("servers"), release);
  const lists = join(folder, "apt");
  rmSync(folder, { recursive: true, force: true });
  for (const each of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(lists, each), { recursive: true });
  const lines = RELEASES[release].sources.map((source) => `deb ${address} ${source} main\n`);
  writeFileSync(join(lists, "sources.list"), lines.join(""));
  // Nothing counts as installed, so that apt names each library of the release.
  writeFileSync(join(lists, "status"), "");
  const options = [
    ...[`Dir::State::Lists=${lists}/lists`, `Dir::Cache=${lists}/cache`, `Dir::State::status=${lists}/status`],
    ...[`Dir::Etc::SourceList=${lists}/sources.list`, "Dir::Etc::SourceParts=/dev/null"],
    ...["Acquire::Languages=none", "APT::Sandbox::User=", "Acquire::http::Timeout=20", "Acquire::Retries=1"],
  ].flatMap((option) => ["-o", option]);
  const apt = (...args) => run("apt-get", [...options, ...args], folder);

  await apt("update");
  const plan = await apt("install", "-s", "--no-install-recommends", "-t", release, ...PROGRAMS);
  const names = [...plan.stdout.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name).filter(isWanted);
  const download = names.length > 0 ? await apt("download", "-t", release, ...names) : plan;
  const packages = readdirSync(folder).filter((file) => file.endsWith(".deb"));
  for (const file of packages) await run("dpkg-deb", ["-x", file, "."], folder);
  for (const file of packages) rmSync(join(folder, file));
  rmSync(lists, { recursive: true, force: true });
  if (download.status === 0) return PROGRAMS.map((program) => link(folder, program)).find(Boolean);
  rmSync(folder, { recursive: true, force: true });
  return download.stderr.trim().split("\n")[0] || "apt-get has no such packages";
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes the script that starts an unpacked server. Returns why the server does not start. */
function link(folder, program) {
  const folders = [...libraryFolders(folder), join(folder, "usr", "lib64"), join(folder, "lib64")].filter(existsSync);
  const loader = folders
    .flatMap((each) => readdirSync(each).map((name) => join(each, name)))
    .find((path) => /\/ld-linux[\w-]*\.so\.\d$/.test(path) && existsSync(path));
  if (!loader) return `${program} has no loader`;
  const script = join(folder, program);
  const start = [loader, "--library-path", folders.join(":"), join(folder, "usr", "bin", program)];
  writeFileSync(script, `#!/bin/sh\nexec ${start.map(quoted).join(" ")} "$@"\n`);
  chmodSync(script, 0o755);
  const { status, stderr } = spawnSync(script, ["--version"], { encoding: "utf8" });
  if (status === 0) return;
  rmSync(script);
  return `${program} does not start: ${stderr.trim().split("\n")[0]}`;
}

/** Unpacks the servers that are not there yet, all releases at once. Tests skip a missing server and name it. */
export async function ensureServers() {
  const isThere = (release) => PROGRAMS.every((program) => existsSync(join(unpacked("servers"), release, program)));
  const wanted = Object.keys(RELEASES).filter((release) => !isThere(release));
  if (wanted.length === 0 || process.platform !== "linux") return;
  const hasTools = ["apt-get", "dpkg-deb"].every((name) => spawnSync(name, ["--version"]).status === 0);
  const address = hasTools ? repository() : undefined;
  if (!address) return warn(wanted, "this system has no packages of Debian");
  console.log(`unpacking the servers of Debian's ${wanted.join(", ")}`);
  await Promise.all(
    wanted.map(async (release) => {
      const reason = await unpackRelease(release, address);
      if (reason) warn([release], reason);
    }),
  );
}

function warn(releases, reason) {
  const titles = releases.flatMap((release) => Object.values(RELEASES[release].servers)).join(", ");
  const text = `The tests run without ${titles}: ${reason}.`;
  if (!process.env.CI) return console.error(text);
  const line = "!".repeat(100);
  console.error(`\n${line}\nWARNING: ${text}\n${line}\n`);
}
