// PostgreSQL and MariaDB for the tests: what the machine has, else the distribution's packages, unpacked beneath
// node_modules/.oriel. Nothing is installed with apt, no service is touched; brew installs and starts nothing.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { findMariadb, findPostgres, unpacked } from "./find-databases.mjs";

function succeeds(command, args, cwd) {
  return spawnSync(command, args, { cwd, stdio: "ignore", timeout: 300_000 }).status === 0;
}

/** The packages that the system has not: these, and the libraries they would bring with them. */
function missingPackages(wanted) {
  const { stdout } = spawnSync("apt-get", ["install", "-s", "--no-install-recommends", ...wanted], {
    encoding: "utf8",
  });
  const brought = [...(stdout ?? "").matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  // Libraries of compilers at run time are large, and not needed to start.
  return [...new Set([...wanted, ...brought.filter((name) => /^lib(?!llvm|clang)/.test(name) && !/-dev$/.test(name))])];
}

function unpack(name, wanted) {
  const folder = unpacked(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const download = () => {
    const packages = wanted();
    return packages.length > 0 && succeeds("apt-get", ["download", ...missingPackages(packages)], folder);
  };
  if (!download()) {
    const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
    const [command, ...args] = [...asRoot, "apt-get", "update"];
    succeeds(command, args);
    download();
  }
  for (const file of readdirSync(folder)) if (file.endsWith(".deb")) succeeds("dpkg-deb", ["-x", file, "."], folder);
}

/** `postgresql` depends on the release's version of it, whose package has the server. */
function postgresPackages() {
  const { stdout } = spawnSync("apt-cache", ["depends", "postgresql"], { encoding: "utf8" });
  const version = /Depends: postgresql-(\d+)/.exec(stdout ?? "")?.[1];
  return version ? [`postgresql-${version}`, `postgresql-client-${version}`] : [];
}

function ensure(title, variable, name, find, packages, formula) {
  if (find()) return;
  console.log(`making ${title} available`);
  if (succeeds("apt-get", ["--version"]) && succeeds("dpkg-deb", ["--version"])) unpack(name, packages);
  else if (succeeds("brew", ["--version"])) succeeds("brew", ["install", formula]);
  if (find()) return;
  console.error(
    `The tests of oriel/sql need a ${title} server, which they start themselves: none was found, and the system's\n` +
      `package manager gave none. Install ${title}, or name it in ${variable}.`,
  );
  process.exit(1);
}

export function ensureDatabases() {
  ensure("PostgreSQL", "ORIEL_POSTGRES_BIN", "postgresql", findPostgres, postgresPackages, "postgresql@17");
  ensure("MariaDB", "ORIEL_MARIADB_SERVER", "mariadb", findMariadb, () => ["mariadb-server-core"], "mariadb");
}
