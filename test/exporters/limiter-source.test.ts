import { expect, test } from "vitest";
import {
  fixedWindow,
  Limiter,
  limiterSource,
  type MetricsSource,
  memoryStore,
  prometheusText,
} from "../../src/entries/index.ts";

/** Samples of a text by metric and labels, as they stand in it. */
const textOf = async (source: MetricsSource | MetricsSource[]) =>
  Object.fromEntries(
    (await prometheusText(source))
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))] as const),
  );

test("a limiter: decisions of take and acquire by deciding policy, and errors", async () => {
  const limiter = new Limiter(memoryStore(), [fixedWindow({ limit: 2, span: "1h" })], { name: "api" });
  const source = limiterSource(limiter);
  for (let i = 0; i < 3; i++) await limiter.take("a");
  await limiter.acquire("b", { wait: 0 });
  await limiter.take("a", { cost: -1 }).catch(() => {});
  expect(await textOf(source)).toEqual({
    'oriel_limiter_decisions_total{name="api",policy="fixed-window",outcome="allowed"}': 3,
    'oriel_limiter_decisions_total{name="api",policy="fixed-window",outcome="denied"}': 1,
    'oriel_limiter_degraded_total{name="api"}': 0,
    'oriel_limiter_errors_total{name="api"}': 1,
    oriel_exporter_failed_sources: 0,
  });
});

test("a limiter: decisions without a request, of takeAll and of reserve count once, and shadow denials by policy", async () => {
  const store = memoryStore();
  const policies = [
    fixedWindow({ limit: 4, span: "1h", name: "hour" }),
    fixedWindow({ limit: 1, span: "1h", name: "trial", shadow: true }),
  ];
  const api = new Limiter(store, policies, { name: "api", lease: { permits: 3, for: 1000 }, denyCache: 100 });
  const user = new Limiter(store, [fixedWindow({ limit: 1, span: "1h", name: "hour" })], { name: "user" });
  const sources = [limiterSource(api), limiterSource(user)];
  const taken: boolean[] = [];
  for (let i = 0; i < 7; i++) taken.push((await api.take("a")).allowed);
  for (let i = 0; i < 2; i++)
    await Limiter.takeAll(
      [
        { limiter: api, id: "b" },
        { limiter: user, id: "b" },
      ],
      { tag: "b" },
    );
  await (await api.reserve("c", { cost: 1, lease: "1m" })).cancel();
  expect((await api.reserve("c", { cost: 5, lease: "1m" })).allowed).toBe(false);
  const text = await textOf(sources);
  const of = (start: string) => Object.entries(text).filter(([key]) => key.startsWith(start));
  const sum = (start: string) => of(start).reduce((all, [, value]) => all + value, 0);
  const allowed = taken.filter(Boolean).length;
  expect(text['oriel_limiter_decisions_total{name="api",policy="hour",outcome="allowed"}']).toBe(allowed);
  expect(text['oriel_limiter_decisions_total{name="api",policy="hour",outcome="denied"}']).toBe(7 - allowed);
  expect(sum('oriel_limiter_decisions_total{name="user"')).toBe(2);
  expect(text['oriel_limiter_decisions_total{name="user",policy="hour",outcome="denied"}']).toBe(1);
  expect(sum("oriel_limiter_decisions_total")).toBe(9);
  expect(sum('oriel_limiter_shadow_denials_total{name="api",policy="trial"}')).toBeGreaterThan(0);
  expect(text).toMatchObject({
    'oriel_limiter_reservations_total{name="api",outcome="allowed"}': 1,
    'oriel_limiter_reservations_total{name="api",outcome="denied"}': 1,
  });
});
