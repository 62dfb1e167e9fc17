import { describe, expect, it } from "vitest";
import { type SourceFile, sourceFiles } from "./sources.ts";

/** What a room may read that is no source of its own. */
const DATA = ["package.json", "src/runtimes/kernels.simd.wasm", "src/runtimes/kernels.simd.wasm?module"];
/** Each file that imports what is not there in every runtime. */
const IMPORTS: Record<string, string> = {
  "src/store/redis/redis.ts": "ioredis",
  "src/store/redis/redis-deno.ts": "node:module",
};
const files = sourceFiles(["src"], [".ts"]).map((file) => ({
  ...file,
  imports: file.imports.filter((path) => !DATA.includes(path)),
}));
const GROUND = [
  "src/base64.ts",
  "src/did-you-mean.ts",
  "src/errors.ts",
  "src/async/listeners.ts",
  "src/percent.ts",
  "src/place.ts",
  "src/redis-url.ts",
  "src/time.ts",
];
const ENTRIES = ["api", "index", "kernel-api", "kernel", "js", "slim", "http", "sql", "cli"].map(
  (name) => `src/${name}.ts`,
);

/** Which rooms a room may import besides itself; everyone may use the ground floor. */
const MAY_IMPORT: Record<string, string[]> = {
  ground: [],
  generated: ["store"],
  kernel: ["generated"],
  store: ["generated"],
  lock: ["store", "generated"],
  limiter: ["store", "generated"],
  breaker: ["store", "generated"],
  counter: ["store", "generated"],
  queue: ["store", "generated"],
  window: ["kernel", "store", "lock", "generated"],
  metrics: ["kernel", "window"],
  flow: ["metrics"],
  fleet: ["store", "generated", "window", "metrics"],
  exporters: ["metrics"],
  http: ["limiter"],
  drain: ["store", "counter", "lock"],
  cli: ["entry"],
  runtimes: ["entry", "kernel", "store"],
  entry: [
    "kernel",
    "store",
    "lock",
    "window",
    "limiter",
    "breaker",
    "counter",
    "queue",
    "metrics",
    "flow",
    "fleet",
    "exporters",
    "http",
    "drain",
    "cli",
  ],
};

function roomOf(path: string): string {
  if (GROUND.includes(path)) return "ground";
  if (ENTRIES.includes(path)) return "entry";
  return path.split("/")[1];
}

function offences(rule: (file: SourceFile) => string[]): string[] {
  return files.flatMap((file) => rule(file).map((offence) => `${file.path}: ${offence}`));
}

describe("the rooms of src", () => {
  it("are the ones the map knows", () => {
    expect([...new Set(files.map((file) => roomOf(file.path)))].filter((room) => !(room in MAY_IMPORT))).toEqual([]);
  });

  it("import only the rooms they may", () => {
    const wrong = offences((file) =>
      file.imports.filter((path) => {
        const [from, to] = [roomOf(file.path), roomOf(path)];
        return to !== from && to !== "ground" && !MAY_IMPORT[from].includes(to);
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("import only files that are there", () => {
    const known = new Set(files.map((file) => file.path));
    expect(offences((file) => file.imports.filter((path) => !known.has(path)))).toEqual([]);
  });

  it("have no cycles, types included", () => {
    expect(cycle(new Map(files.map((file) => [file.path, file.imports])))).toEqual([]);
  });

  it("name no client, Node module or command-line library outside the files that are for it", () => {
    const wrong = offences((file) => {
      if (roomOf(file.path) === "cli" || file.path === "src/entries/cli.ts") return [];
      return file.packages.filter((name) => name !== IMPORTS[file.path]);
    });
    expect(wrong).toEqual([]);
  });

  it("have no inner barrels and no store-rooms", () => {
    const banned = /\/(index|utils?|helpers?|common|misc|shared|types)(\.ts|\/)/;
    expect(
      files.map((file) => file.path).filter((path) => path !== "src/entries/index.ts" && banned.test(path)),
    ).toEqual([]);
  });

  it("re-export from entries only", () => {
    const wrong = offences((file) =>
      ["entry", "runtimes"].includes(roomOf(file.path)) ? [] : (file.text.match(/^export .* from "/gm) ?? []),
    );
    expect(wrong).toEqual([]);
  });
});

/** The files of one import cycle; empty when there is none. */
function cycle(imports: Map<string, string[]>): string[] {
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return [];
    for (const next of imports.get(path) ?? []) {
      const found = visit(next, [...trail, path]);
      if (found.length > 0) return found;
    }
    done.add(path);
    return [];
  };
  for (const path of imports.keys()) {
    const found = visit(path, []);
    if (found.length > 0) return found;
  }
  return [];
}
