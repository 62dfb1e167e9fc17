import type { IncomingHttpHeaders } from "node:http";
import express from "express";
import { rateLimit } from "express-rate-limit";
import fc from "fast-check";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { expressLimiter, expressRateLimitStore, fetchLimiter, type LimiterOptions } from "../../src/entries/http.ts";
import { fixedWindow, Limiter, memoryStore, OrielError, slidingWindow } from "../../src/entries/index.ts";
import { MAX_RECORDS } from "../../src/generated/layouts/limiter.ts";
import { admission } from "../../src/http/admission.ts";
import { SlidingLog } from "../../src/limits/limiter/steps/sliding-log.ts";
import { storeFull } from "../../src/store/memory/full.ts";
import { frameworks, listen, type Served } from "./servers.ts";

const LIMIT = 2;
const limiterOf = () => new Limiter(memoryStore(), [fixedWindow({ limit: LIMIT, span: "1h" })], { name: "api" });

/** Keys as a client may make them up; each is one client. */
const ODD: Record<string, string> = {
  "the empty text": "",
  "3 500 colons, three bytes each in a store's key": ":".repeat(3500),
  "10 300 letters": "k".repeat(10_300),
  "a control character": "a\tb",
  "Latin-1": "é".repeat(4000),
  "what closes a hash tag": "}:limit!holds{",
};

describe.each(frameworks)("an odd key before %s does not bypass the limit", (_name, framework) => {
  let served: Served | undefined;
  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  it.each(["throw", "pass"] as const)("onError: %s", async (onError) => {
    served = await framework([limiterOf()], { keyHeader: "x-key", onError });
    for (const [what, key] of Object.entries(ODD)) {
      const statuses: number[] = [];
      for (let i = 0; i < 4; i++) statuses.push((await fetch(served.url, { headers: { "x-key": key } })).status);
      expect([what, statuses]).toEqual([what, [200, 200, 429, 429]]);
    }
  });
});

/** How many of some requests a middleware lets pass. */
async function passes(options: LimiterOptions<unknown>, count = 10): Promise<number> {
  const admit = admission(
    "expressLimiter",
    limiterOf(),
    options,
    () => "203.0.113.7",
    (request) => request as object,
  );
  let passed = 0;
  for (let i = 0; i < count; i++) if ((await admit({}))?.decision.allowed !== false) passed++;
  return passed;
}

describe("a key from a header", () => {
  const lone = fc.string({ unit: fc.constantFrom("a", "\ud800", "\udfff", "\u0000", "{", "%") });
  const long = fc.tuple(fc.constantFrom("%", "a", "é", "\udc00"), fc.nat(20_000)).map(([c, n]) => c.repeat(n));
  const one = fc.oneof(fc.string({ unit: "binary" }), lone, long);
  const header: fc.Arbitrary<IncomingHttpHeaders[string] | null> = fc.oneof(
    one,
    fc.array(one),
    fc.constantFrom(undefined, null),
  );

  it("is one client of the limit, for any length and content", async () => {
    await fc.assert(
      fc.asyncProperty(header, async (key) => {
        expect(await passes({ key: () => key, onError: "pass" }, 4)).toBe(LIMIT);
      }),
      { numRuns: 300 },
    );
  });

  it("differs from other keys of any length", async () => {
    const admit = admission(
      "expressLimiter",
      limiterOf(),
      { key: (request: { key: string }) => request.key },
      () => undefined,
      (request) => request,
    );
    for (const end of ["a", "b"])
      for (let i = 0; i < LIMIT; i++)
        expect((await admit({ key: "k".repeat(9000) + end }))?.decision.allowed).toBe(true);
    expect((await admit({ key: `${"k".repeat(9000)}a` }))?.decision.allowed).toBe(false);
  });
});

describe('onError: "pass"', () => {
  it("covers only the store's errors", async () => {
    const failing = () => {
      throw new Error("of the application");
    };
    const wrong: LimiterOptions<unknown>[] = [
      { key: failing },
      { cost: failing },
      { skip: failing },
      { partitionKey: failing },
      { cost: () => Number.NaN },
      { cost: () => 2 ** 40 },
      { key: () => ({}) as string },
    ];
    for (const options of wrong) await expect(passes({ ...options, onError: "pass" })).rejects.toThrow();
  });

  it.each([
    ["DEADLINE", true],
    ["UNAVAILABLE", true],
    ["OVERLOADED", false],
    ["OVERLOADED by the store", true],
    ["OVERLOADED by Redis", true],
    ["CORRUPT", false],
    ["MISMATCH", false],
    ["ARGUMENT", false],
  ] as const)("a limiter rejects with %s: passes is %s, whichever bundle created the error", async (what, isPassed) => {
    const code = what.split(" ")[0] as OrielError["code"];
    const causes: Record<string, Error> = {
      "OVERLOADED by the store": storeFull("full").cause as Error,
      "OVERLOADED by Redis": new Error("OOM command not allowed when used memory > 'maxmemory'"),
    };
    const cause = causes[what];
    const own = new OrielError(code, "why", { cause });
    const otherCause = cause && Object.assign(new Error(cause.message), { name: cause.name });
    const other = Object.assign(new Error("why", { cause: otherCause }), { name: "OrielError", code });
    for (const error of [own, other]) {
      const failing = { take: () => Promise.reject(error) };
      const handler = fetchLimiter(failing, () => new Response("through"), { key: () => "a", onError: "pass" });
      const answer = handler(new Request("http://home.example/"));
      if (isPassed) expect((await answer).status).toBe(200);
      else await expect(answer).rejects.toBe(error);
    }
  });
});

describe.each([["throw"], ["pass"]] as const)("onError: %s, with one call too many", (onError) => {
  const answerOf = async (limiter: Limiter, id: string) => {
    const handler = fetchLimiter(limiter, () => new Response("through"), { key: () => id, onError });
    return (await handler(new Request("http://home.example/"))).status;
  };

  it("for the records of a sliding window: refused, because the client alone caused it", async () => {
    const store = memoryStore({ clock: () => Date.UTC(2100, 0, 1) });
    const limiter = new Limiter(store, [slidingWindow({ limit: 100, span: "1h" })], { name: "api" });
    expect(await answerOf(limiter, "a")).toBe(200);
    vi.spyOn(SlidingLog.prototype, "recordsAfter").mockReturnValue(MAX_RECORDS);
    onTestFinished(() => void vi.restoreAllMocks());
    await expect(answerOf(limiter, "a")).rejects.toMatchObject({ code: "OVERLOADED" });
  });

  it("for the bytes of the store: decided by the option", async () => {
    const limiter = new Limiter(memoryStore({ maxBytes: 1000 }), [fixedWindow({ limit: 9, span: "1h" })], {
      name: "b",
    });
    expect(await answerOf(limiter, "a")).toBe(200);
    const full = answerOf(limiter, "b".repeat(200));
    if (onError === "pass") expect(await full).toBe(200);
    else await expect(full).rejects.toMatchObject({ code: "OVERLOADED" });
  });
});

it("malformed addresses count together, as one client", async () => {
  const app = express();
  app.set("trust proxy", true);
  app.use(expressLimiter(limiterOf(), { onError: "pass" }));
  app.use((_request, response) => void response.send("through"));
  const { url, close } = await listen(app);
  const statuses: number[] = [];
  for (const address of ["1.2.3", "unknown", "2001:db8::1::2", "x".repeat(5000)])
    statuses.push((await fetch(url, { headers: { "X-Forwarded-For": address } })).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  await close();
});

it.each([
  ["a port", ["203.0.113.7", "203.0.113.7:4711", "203.0.113.7:80"]],
  ["IPv6 in brackets", ["2001:db8::7", "[2001:db8::8]", "[2001:db8::9]:443"]],
  ["a zone", ["fe80::7%eth0", "fe80::7", "[fe80::7%eth1]:80"]],
  ["IPv4 in IPv6 form", ["203.0.113.9", "::ffff:203.0.113.9", "[::ffff:203.0.113.9]:80"]],
])("an address with %s counts as its client, and no other", async (_what, addresses) => {
  const app = express();
  app.set("trust proxy", true);
  app.use(expressLimiter(limiterOf()));
  app.use((_request, response) => void response.send("through"));
  const { url, close } = await listen(app);
  const ask = async (address: string) => (await fetch(url, { headers: { "X-Forwarded-For": address } })).status;
  const statuses: number[] = [];
  for (const address of addresses) statuses.push(await ask(address));
  expect(statuses).toEqual([200, 200, 429]);
  expect(await ask("198.51.100.1")).toBe(200);
  await close();
});

it("express-rate-limit with passOnStoreError does the same", async () => {
  const app = express();
  const store = expressRateLimitStore(limiterOf());
  app.use(rateLimit({ limit: LIMIT, store, passOnStoreError: true, keyGenerator: (r) => String(r.headers["x-key"]) }));
  app.use((_request, response) => void response.send("through"));
  const { url, close } = await listen(app);
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await fetch(url, { headers: { "x-key": ":".repeat(3500) } })).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  await close();
});
