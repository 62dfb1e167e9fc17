import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root, type SourceFile, sourceFiles } from "./sources.ts";

/** Generated and outside files that a room may import. */
const DATA = ["kernels.simd.wasm", "kernels.simd.wasm?module", "runs.simd.wasm"].map((name) => `src/runtimes/${name}`);
/** Files that import modules that some runtimes lack. */
const IMPORTS: Record<string, string> = {
  "src/store/redis/redis.ts": "ioredis",
  ...Object.fromEntries(
    ["chart", "charts", "distribution", "heat-cells"].map((name) => [`src/dashboard/page/series/${name}.ts`, "uplot"]),
  ),
  "src/dashboard/page/history/lines-chart.ts": "uplot",
  ...Object.fromEntries(
    ["quorum", "quorum-lock", "quorum-semaphore"].map((name) => [`src/semaphore/${name}.ts`, "redis-semaphore"]),
  ),
};
const files = sourceFiles(["src"], [".ts"]).map((file) => ({
  ...file,
  imports: file.imports.filter((path) => !DATA.includes(path)),
}));

/**
 * The rooms that each room may import, besides itself and the files directly in src/ (errors, durations, texts). A room is a
 * folder of src/.
 */
const MAY_IMPORT: Record<string, string[]> = {
  async: [],
  registry: ["async", "store", "generated"],
  kernel: ["generated"],
  store: ["async", "generated"],
  stats: ["kernel"],
  journal: ["async", "store", "generated", "kernel", "stats"],
  series: ["async", "store", "kernel", "stats", "journal", "registry", "generated"],
  hold: ["async", "store", "generated"],
  lock: ["async", "store", "hold", "registry"],
  semaphore: ["async", "store", "hold", "registry"],
  "locked-window": ["async", "store", "generated", "kernel", "stats", "hold", "lock", "registry"],
  limiter: ["async", "store", "generated", "registry", "hold"],
  http: ["limiter"],
  breaker: ["async", "store", "generated", "registry"],
  queue: ["async", "store", "generated", "registry"],
  counter: ["async", "store", "generated", "registry"],
  drain: ["async", "store", "counter", "lock", "registry"],
  metrics: ["kernel", "stats"],
  flow: ["metrics"],
  fleet: ["async", "store", "generated", "stats", "series", "metrics", "registry"],
  exporters: ["async", "metrics", "hold", "lock", "store", "registry"],
  history: ["async", "store", "generated", "series", "registry"],
  doctor: ["async", "store", "generated", "lock", "registry"],
  dashboard: [
    ...[
      "async",
      "store",
      "generated",
      "kernel",
      "stats",
      "series",
      "limiter",
      "lock",
      "semaphore",
      "breaker",
      "queue",
      "counter",
    ],
    ...["drain", "fleet", "metrics", "registry", "history", "doctor"],
  ],
  cli: ["entries", "async", "doctor", "generated", "registry", "history"],
  entries: ["*"],
  runtimes: ["entries", "kernel", "series", "store"],
  generated: ["store"],
  "": ["async", "generated"],
};

/** The folder of src/ that a file stands in; "" for the files of src/ itself. */
function roomOf(path: string): string {
  const [, room, ...rest] = path.split("/");
  return rest.length === 0 ? "" : room!;
}

function offences(rule: (file: SourceFile) => string[]): string[] {
  return files.flatMap((file) => rule(file).map((offence) => `${file.path}: ${offence}`));
}

describe("the rooms of src", () => {
  it("are the ones in the table", () => {
    expect([...new Set(files.map((file) => roomOf(file.path)))].filter((room) => !(room in MAY_IMPORT))).toEqual([]);
  });

  it("import only the rooms that they may", () => {
    const wrong = offences((file) =>
      file.imports.filter((path) => {
        const [from, to] = [roomOf(file.path), roomOf(path)];
        return to !== from && to !== "" && !MAY_IMPORT[from]!.includes(to) && !MAY_IMPORT[from]!.includes("*");
      }),
    );
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(MAY_IMPORT).filter(([room]) => !["", "generated"].includes(room)))(
    "%s has a short README with its law, where to begin, and what it may import",
    (room, allowed) => {
      const text = readFileSync(join(root, "src", room, "README.md"), "utf8");
      expect(text.replace(/^\d+\. .*\n/gm, "").split("\n").length).toBeLessThanOrEqual(15); // besides a walk through its files
      expect(text).toMatch(/^- \*\*Law\.\*\* .+\n- \*\*Begin with\*\* .+\n- \*\*May import\*\* /m);
      const rooms = allowed.includes("*") ? "every room" : allowed.map((name) => `\`${name}\``).join(", ");
      expect(text).toContain(`**May import** ${rooms || "no other room"}, and the files of \`src/\` itself.`);
      for (const [, file = ""] of text.matchAll(/`([\w-]+(?:\/[\w-]+)*(?:\.ts|\/))`/g))
        expect(existsSync(/^(src|lua)\//.test(file) ? join(root, file) : join(root, "src", room, file)), file).toBe(
          true,
        );
    },
  );

  it("import only existing files", () => {
    const known = new Set(files.map((file) => file.path));
    expect(offences((file) => file.imports.filter((path) => !known.has(path)))).toEqual([]);
  });

  it("have no cycles, types included", () => {
    expect(cycle(new Map(files.map((file) => [file.path, file.imports])))).toEqual([]);
  });

  it("name no client, Node module or command-line library outside the files for it", () => {
    const wrong = offences((file) => {
      if (roomOf(file.path) === "cli" || file.path === "src/entries/cli.ts") return [];
      return file.packages.filter((name) => name !== IMPORTS[file.path]);
    });
    expect(wrong).toEqual([]);
  });

  it("have no inner barrels and no catch-all files", () => {
    const banned = /\/(index|utils?|helpers?|common|misc|shared|types)(\.ts|\/)/;
    expect(
      files.map((file) => file.path).filter((path) => path !== "src/entries/index.ts" && banned.test(path)),
    ).toEqual([]);
  });

  it("re-export from entries only", () => {
    const wrong = offences((file) =>
      ["entries", "runtimes"].includes(roomOf(file.path)) ? [] : (file.text.match(/^export .* from "/gm) ?? []),
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
