import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundled, viteBundled } from "../bundles/bundle.ts";
import { type Entry, KEEP, mainOf } from "../bundles/mains.ts";
import { consumer } from "../consumer.ts";
import { expectPassed } from "../report.ts";
import { startSite } from "../site.ts";
import { inRuntime } from "./in-runtime.ts";

const SLIM = { imported: 'const wasm = new URL("kernels.simd.wasm", location.href);', wasm: "wasm" };
const STRICT = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:";
const WITH_WASM = STRICT.replace("'self'", "'self' 'wasm-unsafe-eval'");

inRuntime("Chromium", (executablePath) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  /** The report of a page, whose script throws nothing. */
  async function reportOf(main: string, policy?: string): Promise<unknown> {
    const wasm = readFileSync(join(consumer(), "node_modules", "oriel", "dist", "kernels.simd.wasm"));
    const site = await startSite(main, wasm, policy);
    const page = await browser.newPage();
    page.setDefaultTimeout(240_000);
    const errors: Error[] = [];
    page.on("pageerror", (error) => errors.push(error));
    try {
      await page.goto(site.url);
      expect(errors).toEqual([]);
      const report = await page.evaluate("report");
      expect(errors).toEqual([]);
      return report;
    } finally {
      await page.close();
      await site.close();
    }
  }

  const bundlers: [string, (entry: Entry) => Promise<string>][] = [
    ["esbuild", (entry) => bundled(mainOf(entry, KEEP, SLIM), {})],
    ["Vite", (entry) => viteBundled(`page-${entry.replace("/", "-")}.mjs`, mainOf(entry, KEEP, SLIM))],
  ];

  test.each(bundlers)("oriel, bundled by %s, under three policies", async (_, bundle) => {
    const main = await bundle("oriel");
    expectPassed(await reportOf(main), "wasm-simd");
    expectPassed(await reportOf(main, WITH_WASM), "wasm-simd");
    expectPassed(await reportOf(main, STRICT), "js");
  });

  test.each<[Entry, string]>([
    ["oriel/kernel", "wasm-simd"],
    ["oriel/slim", "wasm-simd"],
    ["oriel/js", "js"],
  ])("%s", async (entry, kernel) => {
    for (const [, bundle] of bundlers) expectPassed(await reportOf(await bundle(entry)), kernel);
  });

  test("oriel/slim reports that a strict policy lets no kernel compile", async () => {
    const main = await bundled(mainOf("oriel/slim", KEEP, SLIM), {});
    const report = reportOf(`${main}; globalThis.report = report.catch(({ name, code }) => ({ name, code }));`, STRICT);
    expect(await report).toEqual({ name: "OrielError", code: "KERNEL" });
  });
});
