// Joins chunks of dist into two files: store.js has what every structure over a store needs, base.js what is small. esbuild
// makes a chunk for each set of entries that share something, and Node takes about a millisecond for each file of an import.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "dist");
const SMALL_BYTES = 6000;
const STRUCTURES = ["limiter.js", "lock.js", "breaker.js", "counters.js", "queue.js"];
/** What only some entries need, or choose by their runtime. */
const APART = /^\/\/ src\/(kernel|runtimes|store\/redis|entries)\//m;

const read = (name) => readFileSync(join(dist, name), "utf8");
const chunks = readdirSync(dist).filter((name) => /^chunk-\w+\.js$/.test(name));
const importsOf = (name) => [...read(name).matchAll(/from "\.\/([\w.-]+)"/g)].map(([, path]) => path);

const small = new Set(chunks.filter(isSmall));
// What needs another chunk stays apart, so that base.js imports nothing.
for (let before = 0; before !== small.size; ) {
  before = small.size;
  for (const name of small) if (importsOf(name).some((needed) => !small.has(needed))) small.delete(name);
}
const needed = STRUCTURES.map((entry) => reachedFrom(entry));
const common = chunks.filter((name) => !small.has(name) && needed.every((reached) => reached.has(name)));
await merge([...small], "base.js");
await merge(common, "store.js");
// The entry that the others take `redisStore` from, and the chunk that has it, are one file.
await merge(
  importsOf("redis.js").filter((name) => /^\/\/ src\/store\/redis\/redis\.ts$/m.test(read(name))),
  "redis.js",
);

function isSmall(name) {
  const text = read(name);
  return text.length <= SMALL_BYTES && /^\/\/ src\//m.test(text) && !APART.test(text);
}

function reachedFrom(name, reached = new Set()) {
  for (const path of importsOf(name))
    if (!reached.has(path)) {
      reached.add(path);
      reachedFrom(path, reached);
    }
  return reached;
}

/** Puts chunks into one file, and all that import them import that one. */
async function merge(names, file) {
  checkExports(names, file);
  await build({
    stdin: { contents: names.map((name) => `export * from "./${name}";`).join("\n"), resolveDir: dist },
    outfile: join(dist, file),
    bundle: true,
    external: readdirSync(dist).flatMap((name) => (names.includes(name) ? [] : `./${name}`)),
    packages: "external",
    allowOverwrite: true,
    format: "esm",
    target: "node20",
    sourcemap: true,
  });
  for (const name of names) for (const path of [name, `${name}.map`]) rmSync(join(dist, path));
  for (const name of readdirSync(dist).filter((each) => each.endsWith(".js"))) {
    const text = read(name);
    const merged = text.replace(/"\.\/(chunk-\w+\.js)"/g, (path, chunk) =>
      names.includes(chunk) ? `"./${file}"` : path,
    );
    if (merged !== text) writeFileSync(join(dist, name), merged);
  }
}

/** Two chunks that export one name cannot share a file. */
function checkExports(names, file) {
  const seen = new Set();
  for (const name of names)
    for (const exported of /^export \{([^}]*)\}/m.exec(read(name))[1].split(",")) {
      const called = exported.replace(/^.* as /, "").trim();
      if (seen.has(called)) throw new Error(`two chunks of ${file} export ${called}`);
      seen.add(called);
    }
}
