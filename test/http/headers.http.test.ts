import fc from "fast-check";
import { type Item, parseList } from "structured-headers";
import { describe, expect, it } from "vitest";
import { problemOf, rateLimitHeaders } from "../../src/entries/http.ts";
import { calendarWindow, fixedWindow, Limiter, memoryStore } from "../../src/entries/index.ts";
import type { PolicyDecision } from "../../src/limits/limiter/decision.ts";
import { decisionFrom, policyOf } from "./decisions.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** A list field, read by a parser of RFC 9651: names and parameters, byte sequences as text. */
function read(field: string | undefined): Record<string, unknown>[] {
  return (parseList(field!) as Item[]).map(([name, parameters]) => ({
    name,
    ...Object.fromEntries(
      [...parameters].map(([key, value]) => [key, value instanceof ArrayBuffer ? utf8.decode(value) : value]),
    ),
  }));
}

describe("rateLimitHeaders", () => {
  it("has each policy's quota, window, remaining permits and reset", () => {
    const daily = policyOf({
      name: "daily",
      limit: 1000,
      spanMs: 86_400_000,
      remaining: 900,
      resetAfterMs: 36_000_000,
    });
    expect(rateLimitHeaders(decisionFrom([policyOf(), daily]))).toEqual({
      "RateLimit-Policy": '"burst";q=10;w=60, "daily";q=1000;w=86400',
      RateLimit: '"burst";r=7;t=20, "daily";r=900;t=36000',
    });
  });

  it("has a Retry-After as long as the wait, for a call that came too early", () => {
    const refusing = policyOf({ allowed: false, remaining: 0, retryAfterMs: 4001, resetAfterMs: 20_000 });
    const other = policyOf({ name: "daily", resetAfterMs: 3_600_000 });
    expect(rateLimitHeaders(decisionFrom([refusing, other]))).toEqual({
      "RateLimit-Policy": '"burst";q=10;w=60, "daily";q=10;w=60',
      RateLimit: '"burst";r=0;t=5, "daily";r=7;t=3600',
      "Retry-After": "5",
    });
  });

  it("rounds windows and times up and permits down, and never asks for a retry at once", () => {
    const refusing = policyOf({ allowed: false, limit: 2.5, spanMs: 250, remaining: 0.9, retryAfterMs: 0 });
    expect(rateLimitHeaders(decisionFrom([refusing]))).toEqual({
      "RateLimit-Policy": '"burst";q=2;w=1',
      RateLimit: '"burst";r=0;t=1',
      "Retry-After": "1",
    });
  });

  it("omits infinite times and limits", () => {
    const never = policyOf({ allowed: false, remaining: 7, retryAfterMs: Number.POSITIVE_INFINITY });
    const free = policyOf({ name: "free", limit: Number.POSITIVE_INFINITY, remaining: Number.POSITIVE_INFINITY });
    expect(rateLimitHeaders(decisionFrom([never, free]), { legacy: true })).toEqual({
      "RateLimit-Policy": '"burst";q=10;w=60',
      RateLimit: '"burst";r=7',
      "X-RateLimit-Limit": "10",
      "X-RateLimit-Remaining": "7",
    });
  });

  it("omits shadow policies, and fields without an item", () => {
    const shadow = policyOf({ name: "trial", shadow: true, allowed: false, retryAfterMs: 9000 });
    expect(rateLimitHeaders(decisionFrom([shadow, policyOf()])).RateLimit).toBe('"burst";r=7;t=20');
    expect(rateLimitHeaders(decisionFrom([shadow]), { legacy: true })).toEqual({});
    const down = decisionFrom([], { allowed: false, degraded: true, degradedBy: "deny" });
    expect(rateLimitHeaders(down)).toEqual({ "Retry-After": "1" });
  });

  it("has units: concurrent requests have no window, and return when their permits do", () => {
    const held = policyOf({ name: "concurrency", kind: "concurrency", spanMs: 30_000, remaining: 2 });
    const bytes = policyOf({ name: "upload" });
    const units = { upload: "content-bytes", jobs: "concurrent-requests" } as const;
    expect(rateLimitHeaders(decisionFrom([held, bytes, { ...held, name: "jobs" }]), { units })).toEqual({
      "RateLimit-Policy":
        '"concurrency";q=10;qu="concurrent-requests", "upload";q=10;qu="content-bytes";w=60, "jobs";q=10;qu="concurrent-requests"',
      RateLimit: '"concurrency";r=2, "upload";r=7;t=20, "jobs";r=2',
    });
  });

  it("refuses a unit that is not registered", () => {
    expect(() => rateLimitHeaders(decisionFrom([policyOf()]), { units: { burst: "bananas" as never } })).toThrow(
      'units.burst is "bananas"; it must be one of requests, content-bytes, concurrent-requests',
    );
  });

  it("does not confuse a policy's name with a property of Object", () => {
    expect(rateLimitHeaders(decisionFrom([policyOf({ name: "constructor" })]), { units: {} }).RateLimit).toBe(
      '"constructor";r=7;t=20',
    );
    expect(rateLimitHeaders(decisionFrom([policyOf({ name: "constructor" })]))["RateLimit-Policy"]).not.toContain("qu");
  });

  it("has no permits for a blocked id until the block ends", () => {
    const blocked = decisionFrom([policyOf()], { allowed: false, policy: "block", retryAfterMs: 90_000 });
    const { RateLimit, "Retry-After": retry } = rateLimitHeaders(blocked);
    expect([RateLimit, retry]).toEqual(['"burst";r=0;t=90', "90"]);
    expect(JSON.parse(problemOf(blocked).body).type).toMatch(/#abnormal-usage-detected$/);
  });

  it("reports a block as abnormal usage too if a policy denies as well", async () => {
    const limiter = new Limiter(memoryStore(), [fixedWindow({ limit: 1, span: "1m" })], { name: "http" });
    await limiter.take("a");
    await limiter.block("a", "2m");
    const denied = await limiter.take("a");
    expect(rateLimitHeaders(denied).RateLimit).toBe('"fixed-window";r=0;t=120');
    const problem = JSON.parse(problemOf(denied).body);
    expect([problem.type.split("#")[1], problem["violated-policies"]]).toEqual([
      "abnormal-usage-detected",
      ["fixed-window"],
    ]);
  });

  it("has the length of the running calendar window, and its end to the second, whatever this process's clock says", async () => {
    // The clocks of Berlin are set forward on this Sunday, which has 23 hours.
    const endMs = Date.UTC(2026, 2, 29, 22);
    const clock = { nowMs: endMs - 1500 };
    const store = memoryStore({ clock: () => clock.nowMs });
    const quota = calendarWindow({ limit: 2, every: "day", timeZone: "Europe/Berlin" });
    const limiter = new Limiter(store, [quota], { name: "quota" });
    const wrong = { legacy: "unix", clock: () => 7 } as const;
    const fields = rateLimitHeaders(await limiter.take("a"), wrong);
    expect(fields["RateLimit-Policy"]).toBe(`"calendar-window";q=2;w=${23 * 3600}`);
    expect(fields.RateLimit).toBe('"calendar-window";r=1;t=2');
    expect(fields["X-RateLimit-Reset"]).toBe(String(endMs / 1000));
    await limiter.take("a");
    clock.nowMs = endMs - 1;
    const denied = rateLimitHeaders(await limiter.take("a"), wrong);
    expect([denied["X-RateLimit-Reset"], denied["Retry-After"]]).toEqual([String(endMs / 1000), "1"]);
    await limiter.block("a", "1m");
    expect(rateLimitHeaders(await limiter.take("a"), wrong)["X-RateLimit-Reset"]).toBe("61");
    clock.nowMs = endMs + 60_000;
    expect(rateLimitHeaders(await limiter.take("a"))["RateLimit-Policy"]).toBe('"calendar-window";q=2;w=86400');
    await store.close();
  });

  it("has the end of the last window in which permits count after a move to another time zone, and a true Retry-After", async () => {
    const clock = { nowMs: Date.UTC(2026, 11, 10) };
    const store = memoryStore({ clock: () => clock.nowMs });
    const [tokyo, newYork] = ["Asia/Tokyo", "America/New_York"].map((timeZone) => [
      calendarWindow({ limit: 2, every: "month", timeZone }),
    ]);
    const limiter = new Limiter(store, tokyo!, { name: "moved" });
    await limiter.take("a", { cost: 2 });
    const endMs = Date.UTC(2027, 0, 1, 5);
    const seconds = (endMs - clock.nowMs) / 1000;
    const fields = rateLimitHeaders(await limiter.take("a", { policies: newYork }), { legacy: "unix" });
    expect(fields["RateLimit-Policy"]).toBe(`"calendar-window";q=2;w=${31 * 86400}`);
    expect(fields.RateLimit).toBe(`"calendar-window";r=0;t=${seconds}`);
    expect([fields["X-RateLimit-Reset"], fields["Retry-After"]]).toEqual([String(endMs / 1000), String(seconds)]);
    clock.nowMs += seconds * 1000;
    expect(await limiter.take("a", { policies: newYork })).toMatchObject({ allowed: true, remaining: 1 });
    await store.close();
  });

  it("spreads Retry-After upward only", () => {
    const denied = decisionFrom([policyOf({ allowed: false, retryAfterMs: 4000 })]);
    const retry = (random: number) =>
      rateLimitHeaders(denied, { retryJitter: 3000, random: () => random })["Retry-After"];
    expect([retry(0), retry(0.5), retry(0.999)]).toEqual(["4", "6", "7"]);
  });

  it("has the legacy fields of the deciding policy, with a reset of either kind", () => {
    const denied = decisionFrom([
      policyOf(),
      policyOf({ name: "b", allowed: false, remaining: 0, retryAfterMs: 1500 }),
    ]);
    const legacy = (options: object) =>
      Object.entries(rateLimitHeaders(denied, options)).filter(([name]) => name.startsWith("X-"));
    const rows = (reset: string) => [
      ["X-RateLimit-Limit", "10"],
      ["X-RateLimit-Remaining", "0"],
      ["X-RateLimit-Reset", reset],
    ];
    expect(legacy({ legacy: "delta" })).toEqual(rows("2"));
    expect(legacy({ legacy: true, clock: () => 1_700_000_000_100 })).toEqual(rows("1700000002"));
    expect(legacy({})).toEqual([]);
  });

  it("can be parsed as structured fields for all names and numbers", () => {
    const number = fc.oneof(fc.nat(), fc.double({ min: 0, noNaN: true }), fc.constant(Number.POSITIVE_INFINITY));
    const policy = fc.record<PolicyDecision>({
      name: fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" })),
      kind: fc.constantFrom("fixed-window", "sliding-window", "leaky-bucket", "gcra", "concurrency"),
      allowed: fc.boolean(),
      shadow: fc.boolean(),
      limit: number,
      spanMs: number,
      remaining: number,
      retryAfterMs: number,
      resetAfterMs: number,
    });
    fc.assert(
      fc.property(fc.array(policy, { maxLength: 4 }), fc.string(), (policies, partitionKey) => {
        const decision = decisionFrom(policies);
        const headers = rateLimitHeaders(decision, { partitionKey, legacy: "delta" });
        const shown = policies.filter((each) => !each.shadow && each.limit !== Number.POSITIVE_INFINITY);
        fc.pre(shown.length > 0);
        const [quotas, limits] = [read(headers["RateLimit-Policy"]), read(headers.RateLimit)];
        const names = shown.map((each) => utf8.decode(new TextEncoder().encode(each.name)));
        expect(quotas.map(({ name }) => decodeURIComponent(name as string))).toEqual(names);
        expect(limits.map(({ name }) => name)).toEqual(quotas.map(({ name }) => name));
        const retry = headers["Retry-After"] === undefined ? Number.POSITIVE_INFINITY : Number(headers["Retry-After"]);
        for (const [i, { q, w, pk }] of quotas.entries()) {
          const { r, t = 0 } = limits[i]!;
          expect([q, r, t].every((value) => Number.isSafeInteger(value) && (value as number) >= 0)).toBe(true);
          expect(w === undefined || (w as number) > 0).toBe(true);
          expect([pk, limits[i]!.pk]).toEqual([partitionKey, partitionKey]);
          if (!shown[i]!.allowed) expect(t).toBeLessThanOrEqual(retry);
        }
        for (const value of Object.values(headers)) expect(value).not.toMatch(/NaN|Infinity|[^\x20-\x7e]/);
      }),
    );
  });
});
