import { createContext, Script } from "node:vm";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { root } from "./sources.ts";

/** What runtimes forbid, or bill, where a module begins: Workers refuse timers, randomness, requests and signals there. */
const FORBIDDEN = `
  const forbid = (what) => function () { throw new Error("called while importing: " + what); };
  globalThis.setTimeout = forbid("setTimeout");
  globalThis.setInterval = forbid("setInterval");
  globalThis.setImmediate = forbid("setImmediate");
  globalThis.queueMicrotask = forbid("queueMicrotask");
  globalThis.fetch = forbid("fetch");
  globalThis.AbortController = forbid("AbortController");
  globalThis.crypto = { getRandomValues: forbid("crypto.getRandomValues") };
  globalThis.performance = { now: forbid("performance.now") };
  globalThis.WebAssembly = { Module: forbid("WebAssembly.Module"), Instance: forbid("WebAssembly.Instance") };
  Math.random = forbid("Math.random");
  Date.now = forbid("Date.now");
`;
/** Each recipe with its runtime's own modules. Only Node, Deno and Bun have Buffer and process. */
const RECIPES = [
  "browser",
  "workerd",
  "edge-light",
  "kernel-workerd",
  "kernel-edge-light",
  "js",
  "slim",
  "http",
  "sql",
  "telemetry",
];

async function imported(recipe: string, before: string): Promise<{ names: string[]; added: string[] }> {
  const { outputFiles } = await build({
    entryPoints: [`${root}/dist/${recipe}.js`],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "imported",
    platform: "neutral",
    logLevel: "error",
    plugins: [
      {
        name: "compiled modules, as runtimes hand them in",
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /\.wasm(\?module)?$/ }, ({ path }) => ({ path, namespace: "wasm" }));
          onLoad({ filter: /.*/, namespace: "wasm" }, () => ({ contents: "export default {}" }));
        },
      },
    ],
  });
  const context = createContext({ TextEncoder, TextDecoder, URL, AbortController, AbortSignal, btoa, atob, console });
  const run = (code: string) => new Script(code).runInContext(context);
  run(before);
  const known = new Set(Object.keys(context));
  run(outputFiles[0]!.text);
  const names: string[] = run("Object.keys(imported)");
  return { names: [...names], added: Object.keys(context).filter((name) => !known.has(name)) };
}

describe("an import", () => {
  it.each(RECIPES)("of %s starts nothing, sends nothing and sets no global", async (recipe) => {
    const { names, added } = await imported(recipe, FORBIDDEN);
    expect(names.length).toBeGreaterThanOrEqual(recipe === "telemetry" ? 3 : 4);
    expect(added).toEqual(["imported"]);
  });

  it("the check finds an import that starts something", async () => {
    await expect(imported("browser", `${FORBIDDEN} globalThis.Map = forbid("Map");`)).rejects.toThrow(
      "while importing: Map",
    );
  });
});
