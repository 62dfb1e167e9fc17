import { beforeAll, describe, expect, test } from "vitest";
import * as dashboard from "../../src/entries/api/dashboard.ts";
import * as http from "../../src/entries/http.ts";
import * as oriel from "../../src/entries/index.ts";
import * as js from "../../src/entries/js.ts";
import * as kernelEntry from "../../src/entries/kernel.ts";
import * as slim from "../../src/entries/slim.ts";
import * as sql from "../../src/entries/sql.ts";
import * as semaphore from "../../src/entries/structures/semaphore.ts";
import * as telemetry from "../../src/entries/telemetry.ts";
import { EDGES } from "./misuse/edges.ts";
import { KERNELS } from "./misuse/kernels.ts";
import { METRICS } from "./misuse/metrics.ts";
import { STRUCTURES } from "./misuse/structures.ts";
import { isClass, type KnownOptions, knownOptions, type Subject, walk } from "./misuse/walk.ts";
import { sourceFiles } from "./sources.ts";

const SUBJECTS: Record<string, Subject> = { ...KERNELS, ...METRICS, ...STRUCTURES, ...EDGES };
const ENTRIES = { oriel, dashboard, http, js, kernelEntry, slim, sql, semaphore, telemetry };

/** An argument that is checked as an option, as `{ visibility }`, has no names to check. */
const CHECKS_NAMES = /(?<!function )\b(checkKnown|settingsOf)\((?!\w+, \{ \w+ \})/;

/** Public methods of an object or prototype, those that it inherits included. */
function methodsOf(object: object): string[] {
  const names = new Set<string>();
  for (
    let each = object;
    each && each !== Object.prototype && each !== Error.prototype;
    each = Object.getPrototypeOf(each)
  )
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(each)))
      if (typeof value === "function" && name !== "constructor") names.add(name);
  return [...names].sort();
}

test("every export of every entry, and each of its methods, has a row", () => {
  for (const [entry, exports] of Object.entries(ENTRIES))
    for (const [name, value] of Object.entries(exports)) {
      const subject = SUBJECTS[name];
      expect(subject, `${entry} exports ${name}`).toBeDefined();
      const { methods = {} } = subject!;
      const own = Object.keys(methods).filter((method) => !method.startsWith("static "));
      if (isClass(value)) {
        const { prototype } = value as { prototype: object };
        expect(own.sort(), name).toEqual(methodsOf(prototype));
        const statics = Object.getOwnPropertyNames(value).filter(
          (each) => !["length", "name", "prototype"].includes(each),
        );
        expect(
          Object.keys(methods).filter((method) => method.startsWith("static ")),
          name,
        ).toEqual(statics.map((each) => `static ${each}`));
      } else if (typeof value === "object") expect(own.sort(), name).toEqual(methodsOf(value as object));
    }
});

test("objects returned by oriel have a row for each of their methods", async () => {
  for (const [name, { object, methods }] of Object.entries(SUBJECTS)) {
    if (!object || name === "Limiter of permits") continue;
    const store = oriel.memoryStore();
    const it = (await object(store as never)) as object;
    const own = Object.keys(methods!).filter((method) => !method.startsWith("static "));
    const known = name === "ExpressRateLimitStore" ? [...own, "init"] : own;
    expect(known.sort(), name).toEqual(methodsOf(it));
    await (it as { close?: () => unknown }).close?.();
  }
});

test("no option has a unit in its name, because lengths of time are durations", () => {
  for (const [name, { right }] of Object.entries(SUBJECTS)) {
    if (name === "problemOf" || name === "rateLimitHeaders" || name === "OrielError") continue; // given answers
    const store = oriel.memoryStore();
    const options = (right?.(store) ?? []).filter(
      (each) => each !== null && Object.getPrototypeOf(Object(each)) === Object.prototype,
    );
    for (const each of options)
      if (!("keyOf" in (each as object))) expect(Object.keys(each as object).join(" "), name).not.toMatch(/Ms\b/);
  }
});

describe("each option, also one that is added later", () => {
  const found: KnownOptions[] = [];
  beforeAll(async () => {
    for (const [name, subject] of Object.entries(SUBJECTS))
      for await (const each of knownOptions(name, subject)) found.push(each);
  });

  test("is in the right arguments of a call, and gets wrong values there", () => {
    const given = new Set(found.flatMap(({ place, given }) => given.map((name) => `${place} ${name}`)));
    const known = new Set(found.flatMap(({ place, known }) => known.map((name) => `${place} ${name}`)));
    expect([...known].filter((each) => !given.has(each))).toEqual([]);
  });

  test("is known at a place that these calls reach", () => {
    const reached = new Set(found.map(({ place }) => place));
    const places = sourceFiles(["src"], [".ts"])
      .filter(({ path }) => !/^src\/(base|command|generated)\//.test(path))
      .flatMap(({ path, text }) =>
        text.split("\n").flatMap((line, i) => (CHECKS_NAMES.test(line) ? [`${path}:${i + 1}`] : [])),
      );
    expect(places.filter((place) => !reached.has(place))).toEqual([]);
  });
});

describe("a wrong argument is answered normally, or refused by an OrielError that names the place", () => {
  for (const [name, subject] of Object.entries(SUBJECTS))
    test(name, async () => {
      const faults: string[] = [];
      for await (const fault of walk(name, subject)) faults.push(fault);
      expect(faults).toEqual([]);
    });
});
