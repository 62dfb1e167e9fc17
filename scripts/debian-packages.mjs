// Debian's packages without installing them: apt downloads them with lists of its own, dpkg-deb unpacks them beneath
// node_modules/.oriel. It needs no root, runs no script of a package, starts no service and changes nothing of the system.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { libraryFolders, unpacked } from "./find-programs.mjs";

const TIMEOUT_MS = 300_000;
const state = unpacked("apt");
const sources = join(state, "sources.list");
const SYSTEM_SOURCES = "/etc/apt/sources.list";

function run(command, args, cwd) {
  return spawnSync(command, args, { cwd, encoding: "utf8", timeout: TIMEOUT_MS, maxBuffer: 1 << 28 });
}

export function hasApt() {
  return ["apt-get", "dpkg-deb"].every((command) => run(command, ["--version"]).status === 0);
}

/** apt's lists and caches are in a folder of the project; the system's sources, and what it has installed, are read. */
const OWN = [
  `Dir::State::Lists=${state}/lists`,
  `Dir::Cache=${state}/cache`,
  `Dir::Etc::SourceList=${sources}`,
  "APT::Sandbox::User=",
].flatMap((option) => ["-o", option]);

const apt = (args, cwd) => run("apt-get", [...OWN, ...args], cwd);

let areListsRead = false;

/** Reads the lists of the system's sources and of its release's backports, once. */
function readLists() {
  if (areListsRead) return;
  areListsRead = true;
  for (const folder of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(state, folder), { recursive: true });
  const system = existsSync(SYSTEM_SOURCES) ? readFileSync(SYSTEM_SOURCES, "utf8") : "";
  writeFileSync(sources, `${system}\n${backports() ?? ""}\n`);
  apt(["update"]);
}

/** Debian 12 has Valkey in its backports only. apt takes a package from there only where no other source has it. */
function backports() {
  const format = "deb $(REPO_URI) $(CODENAME)-backports main";
  const { stdout } = run("apt-get", ["indextargets", "--format", format, "Created-By: Packages", "Component: main"]);
  const release = /VERSION_CODENAME=(\S+)/.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  return (stdout ?? "").split("\n").find((line) => line.includes(` ${release}-backports `));
}

/** The packages, and what they bring with them that the system has not, by the names that `isWanted` takes. */
function withMissing(packages, isWanted) {
  const { stdout } = apt(["install", "-s", "--no-install-recommends", ...packages]);
  const brought = [...(stdout ?? "").matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  return [...new Set([...packages, ...brought.filter(isWanted)])];
}

/**
 * Unpacks packages into node_modules/.oriel/NAME. `packages` is called once the lists are read. False where apt did not
 * have them; then nothing is left.
 */
export function unpackPackages(name, packages, isWanted = () => true) {
  const folder = unpacked(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  readLists();
  const wanted = packages();
  const isDownloaded = wanted.length > 0 && apt(["download", ...withMissing(wanted, isWanted)], folder).status === 0;
  for (const file of readdirSync(folder))
    if (file.endsWith(".deb")) {
      run("dpkg-deb", ["-x", file, "."], folder);
      rmSync(join(folder, file));
    }
  if (!isDownloaded) rmSync(folder, { recursive: true, force: true });
  return isDownloaded;
}

/** A script in node_modules/.oriel/bin that starts an unpacked program with the libraries that were unpacked with it. */
export function linkProgram(name, program, { file = `usr/bin/${program}`, environment = {} } = {}) {
  const folder = unpacked(name);
  const path = [join(folder, file)].find(existsSync) ?? `/${file}`;
  const variables = { LD_LIBRARY_PATH: libraryFolders(folder).filter(existsSync).join(":"), ...environment };
  const lines = Object.entries(variables)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `export ${key}=${quoted(value)}"\${${key}:+:$${key}}"`);
  const script = join(unpacked("bin"), program);
  mkdirSync(unpacked("bin"), { recursive: true });
  writeFileSync(script, `#!/bin/sh\n${lines.join("\n")}\nexec ${quoted(path)} "$@"\n`);
  chmodSync(script, 0o755);
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** `postgresql` depends on the release's version of it, whose package has the server. */
export function dependenciesOf(name) {
  return run("apt-cache", [...OWN, "depends", name]).stdout ?? "";
}
