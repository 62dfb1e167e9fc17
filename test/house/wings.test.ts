import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root, type SourceFile, sourceFiles } from "./sources.ts";

/** Generated and outside files that a room may import. */
const DATA = ["kernels.simd.wasm", "kernels.simd.wasm?module", "runs.simd.wasm"].map(
  (name) => `src/entries/runtimes/${name}`,
);
/** Files that import modules that some runtimes lack. */
const IMPORTS: Record<string, string> = {
  "src/store/redis/redis.ts": "ioredis",
  ...Object.fromEntries(
    ["chart", "charts", "distribution"].map((name) => [`src/operate/dashboard/page/series/${name}.ts`, "uplot"]),
  ),
  "src/operate/dashboard/page/history/lines-chart.ts": "uplot",
  ...Object.fromEntries(
    ["quorum", "quorum-lock", "quorum-semaphore"].map((name) => [`src/holds/semaphore/${name}.ts`, "redis-semaphore"]),
  ),
};
const files = sourceFiles(["src"], [".ts"]).map((file) => ({
  ...file,
  imports: file.imports.filter((path) => !DATA.includes(path)),
}));

/** The wings that each wing may import, besides itself. A wing is a folder of src/. ARCHITECTURE.md has the same table. */
const MAY_IMPORT: Record<string, string[]> = {
  base: ["generated"],
  store: ["base", "generated"],
  holds: ["base", "generated", "store"],
  engine: ["base", "generated", "store", "holds"],
  limits: ["base", "generated", "store", "holds"],
  metrics: ["base", "generated", "store", "engine"],
  queue: ["base", "generated", "store"],
  counters: ["base", "generated", "store", "holds"],
  http: ["base", "limits"],
  operate: ["base", "generated", "store", "engine", "holds", "limits", "metrics", "queue", "counters"],
  entries: ["base", "store", "engine", "holds", "limits", "metrics", "queue", "counters", "http", "operate"],
  command: ["base", "generated", "store", "operate", "entries"],
  generated: ["store"],
};

/** The folder of src/ that a file stands in. */
function wingOf(path: string): string {
  return path.split("/")[1]!;
}

function offences(rule: (file: SourceFile) => string[]): string[] {
  return files.flatMap((file) => rule(file).map((offence) => `${file.path}: ${offence}`));
}

describe("the wings of src", () => {
  it("are the ones in the table, and have no loose files", () => {
    expect([...new Set(files.map((file) => wingOf(file.path)))].filter((wing) => !(wing in MAY_IMPORT))).toEqual([]);
  });

  it("import only the wings that they may", () => {
    const wrong = offences((file) =>
      file.imports.filter((path) => {
        const [from, to] = [wingOf(file.path), wingOf(path)];
        return to !== from && !MAY_IMPORT[from]!.includes(to);
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("have a table without circles, whose last column ARCHITECTURE.md repeats", () => {
    const allowed = Object.entries(MAY_IMPORT).filter(([wing]) => wing !== "generated");
    expect(cycle(new Map(allowed.map(([wing, to]) => [wing, to.filter((each) => each !== "generated")])))).toEqual([]);
    const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    for (const [wing, to] of allowed) {
      const row = text.match(new RegExp(`^\\| \`${wing}\` \\|.*\\| ([^|]*) \\|$`, "m"));
      expect(row?.[1], wing).toBe(to.map((each) => `\`${each}\``).join(", "));
    }
  });

  it.each(Object.entries(MAY_IMPORT).filter(([wing]) => wing !== "generated"))(
    "%s has a README of at most 40 lines with its law, where to begin, and what it may import",
    (wing, allowed) => {
      const text = readFileSync(join(root, "src", wing, "README.md"), "utf8");
      expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
      expect(text).toMatch(/^- \*\*Law\.\*\* .+\n- \*\*Begin with\*\* .+\n- \*\*May import\*\* /m);
      const list = allowed.map((name) => `\`${name}\``).join(", ");
      expect(text).toContain(`**May import** ${wing === "entries" ? "every wing but `command`" : list}.`);
      for (const [, file = ""] of text.matchAll(/`([\w-]+(?:\/[\w-]+)*(?:\.ts|\/))`/g))
        expect(
          existsSync(/^(src|lua|scripts)\//.test(file) ? join(root, file) : join(root, "src", wing, file)),
          file,
        ).toBe(true);
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
      if (wingOf(file.path) === "command") return [];
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
      wingOf(file.path) === "entries" ? [] : (file.text.match(/^export .* from "/gm) ?? []),
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
