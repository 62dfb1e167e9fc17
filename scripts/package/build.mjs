// Builds the JavaScript of the package into dist: ES modules, with the command among them, and CommonJS for Jest and for Node before
// 20.19. Each form is one graph of modules, so its entries share one copy of every class. The ES modules have source maps. types.mjs
// writes the types beside.
import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { thirdPartyNotices } from "../command/third-party-notices.mjs";
import { pureConstants } from "./pure.mjs";
import { inShortLines } from "./short-lines.mjs";
import { writeTypes } from "./types.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const dist = join(root, "dist");

const files = (folder, ...names) => Object.fromEntries(names.map((name) => [name, join(root, folder, `${name}.ts`)]));

const inBothForms = {
  ...files("src/entries", "index", "kernel", "http", "sql", "telemetry"),
  ...files("src/entries/structures", "limiter", "lock", "counters", "queue", "breaker", "semaphore"),
  // Those that compute bring kernels.
  ...files("src/entries/runtimes", "series", "metrics", "fleet", "dashboard", "browser", "js", "slim"),
  ...files("src/store/redis", "redis-edge"),
  redis: join(root, "src/entries/redis-store.ts"),
};
const onlyEsm = {
  ...files("src/command", "cli"),
  ...files("src/engine/kernel", "built-in"),
  // The file with the code of series, which an entry for processes that stay needs too.
  "shared-series": join(root, "src/engine/series/session/upkeep.ts"),
  ...files("src/entries/runtimes", "workerd", "edge-light", "deno", "series-workerd", "no-upkeep"),
  ...files("src/entries/runtimes", "kernel-workerd", "kernel-edge-light", "kernels-workerd", "kernels-edge-light"),
};

/**
 * Imports that `imports` of package.json resolves for each runtime: of the store, of the kernels and of the upkeep of series, in the
 * entries of structures. One file therefore serves all runtimes.
 */
const STORE = [/\/redis-store\.ts$/, /\/entries\/structures\/[a-z]+\.ts$/, "#redis-store"];
const KERNELS = [/\/kernel\/built-in\.ts$/, /\/runtimes\/(series|metrics|fleet|dashboard)\.ts$/, "#kernels"];
const UPKEEP = [/\/upkeep\.ts$/, /\/runtimes\/(series|metrics|fleet|dashboard)\.ts$/, "#upkeep"];

const byRuntime = (imports) => ({
  name: "by runtime",
  resolveId(path, importer = "") {
    const found = imports.find(([file, from]) => file.test(path) && from.test(importer));
    if (found) return { id: found[2], external: true };
    // Beside the files of dist, wherever the module is that imports it.
    if (/\.wasm(\?module)?$/.test(path)) return { id: path, external: "absolute" };
  },
});

/**
 * Names the shared file of each module. Modules of one entry stay in the entry's own file, and so does the store of Node. It names
 * ioredis, which bundlers for browsers and the edge cannot read, even where they would drop it.
 */
function sharedFiles(entries, fileOf) {
  const reached = new Map();
  const entriesThatReach = (id, context) => {
    if (!reached.has(id)) {
      reached.set(id, new Set(Object.keys(entries).filter((name) => entries[name] === id)));
      for (const importer of context.getModuleInfo(id).importers)
        for (const name of entriesThatReach(importer, context)) reached.get(id).add(name);
    }
    return reached.get(id);
  };
  const isOwn = (id) =>
    /\/entries\/(runtimes\/)?(?!runtimes|memory-store|text-coding)|\/command\/cli\.ts$|\/redis(-edge)?\.ts$/.test(id);
  return (id, context) => {
    const names = entriesThatReach(id, context);
    if (names.size === 1 || isOwn(id)) return null;
    // Away from the code of series: gzip looks 32 kB back, and 28 kB of Lua would part that in two.
    if (id.endsWith("/generated/scripts/journal.ts")) return "core";
    // The command takes what there is.
    const others = [...names].filter((each) => each !== "cli");
    return others.length === 1 ? others[0] : fileOf((...some) => some.some((each) => names.has(each)));
  };
}

/** Each file costs an import about a millisecond, and each 20 kB about as much. So there are few, and an import of one structure is small. */
function esmFile(isFor) {
  if (isFor("built-in") && !isFor("js", "slim", "workerd")) return "kernels";
  const isCommon = isFor("limiter", "lock", "breaker", "redis", "redis-edge", "http", "sql");
  const users = ["counters", "queue", "series"].filter((name) =>
    name === "series" ? isFor("series", "metrics", "fleet", "shared-series", "kernel") : isFor(name),
  );
  if (isCommon || users.length > 1) return "core";
  return users[0] ?? (isFor("index") ? "series" : null);
}

/** The bytes of the kernels are in a file of their own, because `oriel/js` and `oriel/slim` are without them. */
const cjsFile = (isFor) => (isFor("kernel") && !isFor("js", "slim") ? "kernels" : "core");

const keepNames = { class: true, function: false }; // consoles print the names of classes

async function write(entries, { format, ending, fileOf, imports, inject }) {
  const bundle = await rolldown({
    cwd: root,
    input: entries,
    platform: "node",
    external: [/^node:/, "ioredis", "redis", "redis-semaphore", /^@resvg\//],
    plugins: [
      byRuntime(imports),
      pureConstants((id) => id.includes("/src/") && !/\/src\/(entries|generated|command)\//.test(id)),
    ],
    preserveEntrySignatures: "allow-extension",
    transform: { target: "node20", inject },
  });
  const { output } = await bundle.generate({
    dir: dist,
    format,
    entryFileNames: `[name].${ending}`,
    chunkFileNames: `shared-[name].${ending}`,
    sourcemap: "hidden",
    charset: "ascii", // Node reads a source of other characters as twice as many bytes
    minify: { mangle: { keepNames }, compress: { keepNames } },
    dynamicImportInCjs: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: "shared", name: sharedFiles(entries, fileOf) }],
    },
  });
  await bundle.close();
  for (const chunk of output.filter(({ type }) => type === "chunk")) {
    const file = join(dist, chunk.fileName);
    const hasMap = format === "es" && chunk.name !== "cli";
    const { code, map } = inShortLines(chunk.code, hasMap && chunk.map); // null too where all is exported from elsewhere
    writeFileSync(file, map ? `${code}//# sourceMappingURL=${chunk.fileName}.map\n` : code);
    if (map) writeFileSync(`${file}.map`, JSON.stringify(map));
  }
  return output;
}

mkdirSync(dist, { recursive: true });
const types = writeTypes(root, dist, {
  ...files("src/entries", "index", "kernel", "js", "slim", "http", "sql", "telemetry"),
  ...files("src/entries/structures", "limiter", "lock", "counters", "queue", "breaker", "semaphore"),
  ...files("src/entries/structures", "series", "metrics", "fleet", "dashboard"),
});

const output = await write(
  { ...inBothForms, ...onlyEsm },
  { format: "es", ending: "js", fileOf: esmFile, imports: [STORE, KERNELS, UPKEEP] },
);
chmodSync(join(dist, "cli.js"), 0o755);
for (const name of readdirSync(join(root, "src", "generated")).filter((each) => each.endsWith(".woff2")))
  copyFileSync(join(root, "src", "generated", name), join(dist, name));
const inside = output.flatMap(({ modules = {} }) => Object.keys(modules)).map((id) => relative(root, id));
thirdPartyNotices(join(dist, "THIRD-PARTY-NOTICES.txt"), inside);

// Jest's jsdom, which lacks them, loads CommonJS. Bundles for browsers and the edge do not pay for it.
const coding = join(root, "src", "entries", "runtimes", "text-coding.ts");
await write(inBothForms, {
  format: "cjs",
  ending: "cjs",
  fileOf: cjsFile,
  imports: [STORE],
  inject: { TextEncoder: [coding, "TextEncoder"], TextDecoder: [coding, "TextDecoder"] },
});
await types;
