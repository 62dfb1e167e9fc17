import { defineConfig } from "tsup";

const files = (folder: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, `${folder}/${name}.ts`]));

/** The types. scripts/package/build.mjs makes the JavaScript. A runtime's recipe has the types of its entry. */
export default defineConfig({
  entry: {
    ...files("src/entries", "index", "kernel", "js", "slim", "http", "sql", "telemetry"),
    ...files("src/entries/structures", "limiter", "lock", "counters", "queue", "breaker", "semaphore"),
    ...files("src/entries/structures", "series", "metrics", "fleet", "dashboard"),
  },
  target: "node20",
  format: ["esm", "cjs"],
  clean: false, // the build begins by emptying dist
  dts: { only: true },
});
