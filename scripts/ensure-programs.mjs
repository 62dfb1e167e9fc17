// The servers, browser and Python that options of setup.mjs name: what the machine has is left as it is. On Debian the rest is unpacked
// beneath node_modules/.oriel, without a change to the system. ORIEL_INSTALL=1 lets the system's package manager (apt or
// brew) install it instead; on macOS that is the only way.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { dependenciesOf, hasApt, linkProgram, unpackPackages } from "./debian-packages.mjs";
import {
  findChromium,
  findMariadb,
  findPostgres,
  findPrometheus,
  findPython,
  findRedis,
  findRedisCli,
  findValkey,
  unpacked,
} from "./find-programs.mjs";

const mayInstall = process.env.ORIEL_INSTALL === "1";

function succeeds(command, ...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(command, args, { stdio: "ignore", env, timeout: 600_000 }).status === 0;
}

function install(packages, formula) {
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const apt = (...args) => succeeds(...[...asRoot, "apt-get", ...args]);
  if (hasApt()) apt("update") && apt("install", "-y", "--no-install-recommends", ...packages());
  else if (formula) succeeds("brew", "install", ...formula);
}

/** `isRequired`: the tests cannot run without it; of the others, they say that they run without. */
function ensure({ title, variable, find, packages, unpack, formula, isRequired = false }) {
  if (find()) return;
  console.log(`${mayInstall ? "installing" : "unpacking"} ${title}`);
  if (mayInstall) install(packages, formula);
  else if (hasApt()) unpack();
  if (find()) return;
  const byHand = formula ? `, or install it yourself (macOS: brew install ${formula.join(" ")})` : "";
  console.error(
    `The tests use ${title}: none was found, and it could not be unpacked from Debian's packages.\n` +
      `Name one in ${variable}, let ORIEL_INSTALL=1 npm run test:all install it with apt or brew${byHand}.`,
  );
  if (isRequired) process.exit(1);
}

const redisPackages = () => ["redis-server", "redis-tools"];

function ensureRedis() {
  ensure({
    title: "Redis 7 or later",
    variable: "ORIEL_REDIS_SERVER",
    find: () => findRedis() && findRedisCli(),
    packages: redisPackages,
    unpack() {
      if (!unpackPackages("redis", redisPackages)) return;
      for (const program of ["redis-server", "redis-cli"]) linkProgram("redis", program);
    },
    formula: ["redis"],
    isRequired: true,
  });
}

function ensureValkey() {
  const packages = () => ["valkey-server", "valkey-tools"];
  ensure({
    title: "Valkey",
    variable: "ORIEL_VALKEY_SERVER",
    find: findValkey,
    packages,
    unpack: () => unpackPackages("valkey", packages) && linkProgram("valkey", "valkey-server"),
    formula: ["valkey"],
  });
}

function ensureChromium() {
  const packages = () => ["chromium-headless-shell"];
  ensure({
    title: "Chromium",
    variable: "ORIEL_CHROMIUM",
    find: findChromium,
    packages,
    unpack() {
      if (!unpackPackages("chromium", packages)) return;
      const fonts = join(unpacked("chromium"), "etc", "fonts");
      // The package's own start script looks for the program in /usr/lib.
      const file = "usr/lib/chromium/chromium-headless-shell";
      const environment = existsSync(fonts) ? { FONTCONFIG_PATH: fonts } : {};
      linkProgram("chromium", "chromium-headless-shell", { file, environment });
    },
    formula: ["--cask", "chromium"],
  });
}

function ensurePrometheus() {
  const packages = () => ["prometheus"];
  ensure({
    title: "Prometheus and promtool",
    variable: "ORIEL_PROMETHEUS and ORIEL_PROMTOOL",
    find: findPrometheus,
    packages,
    unpack() {
      // The package depends on libraries of its web pages. The programs are linked statically.
      if (!unpackPackages("prometheus", packages, () => false)) return;
      for (const program of ["prometheus", "promtool"]) linkProgram("prometheus", program);
    },
    formula: ["prometheus"],
    isRequired: true,
  });
}

function ensurePython() {
  const packages = () => ["python3", "python3-numpy", "python3-pandas", "python3-bottleneck", "python3-redis"];
  ensure({
    title: "Python with NumPy, pandas and redis-py",
    variable: "ORIEL_PYTHON",
    find: () => findPython("numpy, pandas, bottleneck, redis"),
    packages,
    unpack() {
      if (!unpackPackages("python", packages)) return;
      const PYTHONPATH = join(unpacked("python"), "usr/lib/python3/dist-packages");
      linkProgram("python", "python3", { environment: { PYTHONPATH } });
    },
  });
}

/** Libraries of compilers at run time are large, and the servers start without them. */
const isServerLibrary = (name) => /^lib(?!llvm|clang)/.test(name) && !name.endsWith("-dev");

function ensureDatabases() {
  const postgres = () => {
    const version = /Depends: postgresql-(\d+)/.exec(dependenciesOf("postgresql"))?.[1];
    return version ? [`postgresql-${version}`, `postgresql-client-${version}`] : [];
  };
  ensure({
    title: "PostgreSQL",
    variable: "ORIEL_POSTGRES_BIN",
    find: findPostgres,
    packages: () => ["postgresql"],
    unpack: () => unpackPackages("postgresql", postgres, isServerLibrary),
    formula: ["postgresql@17"],
    isRequired: true,
  });
  const mariadb = () => ["mariadb-server-core"];
  ensure({
    title: "MariaDB",
    variable: "ORIEL_MARIADB_SERVER",
    find: findMariadb,
    packages: mariadb,
    unpack: () => unpackPackages("mariadb", mariadb, isServerLibrary),
    formula: ["mariadb"],
    isRequired: true,
  });
}

const wants = new Set(process.argv.slice(2));

if (wants.has("--redis")) ensureRedis();
if (wants.has("--valkey")) ensureValkey();
if (wants.has("--sql")) ensureDatabases();
if (wants.has("--exporters")) ensurePrometheus();
if (wants.has("--python")) ensurePython();
if (wants.has("--runtimes") || wants.has("--dashboard")) ensureChromium();
