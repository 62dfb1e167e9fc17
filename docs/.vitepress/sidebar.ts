import { existsSync, readFileSync } from "node:fs";
import type { DefaultTheme } from "vitepress";

type Item = DefaultTheme.SidebarItem;

/** Written by TypeDoc (scripts/docs/build-api.mjs). */
const generated = new URL("../api/typedoc-sidebar.json", import.meta.url);
const api: Item[] = existsSync(generated) ? JSON.parse(readFileSync(generated, "utf8")) : [];

/** Every page of the site, without those of the API. A page that is not listed fails a test. */
export const pages: Item[] = [
  group("Start", "start", {
    install: "Install",
    express: "Express in a minute",
    choose: "Which structure?",
  }),
  group("Structures", "structures", {
    series: "Series",
    "local-series": "LocalSeries",
    "locked-window": "LockedWindow",
    limiter: "Limiter",
    http: "HTTP middleware",
    locks: "Locks",
    semaphores: "Semaphores",
    counters: "Counters and drain",
    queue: "DelayQueue",
    metrics: "Metrics and flow rules",
    breaker: "Breaker",
    fleet: "FleetMetrics",
    kernel: "The kernel",
  }),
  group("Operate", "operate", {
    production: "Production checklist",
    store: "The store",
    "redis-down": "When Redis is down",
    clocks: "Clocks and exactness",
    command: "The command",
    "../dashboard": "The dashboard",
    "../monitoring": "Monitoring",
    "../servers": "Servers",
    "../errors": "Errors",
    "../runbook/README": "Runbook",
  }),
  group("Run elsewhere", "runtimes", {
    workers: "Cloudflare Workers",
    vercel: "Vercel",
    deno: "Deno",
    bun: "Bun",
    lambda: "AWS Lambda",
    browsers: "Browsers",
  }),
  group("Move from", "move", {
    "rate-limiter-flexible": "rate-limiter-flexible",
    "upstash-ratelimit": "@upstash/ratelimit",
    "express-rate-limit": "express-rate-limit",
    bottleneck: "bottleneck",
    bullmq: "BullMQ's delayed jobs",
    opossum: "opossum",
    "redis-semaphore": "redis-semaphore",
    redlock: "redlock",
    "prom-client": "prom-client summaries",
    sentinel: "Sentinel",
    "sorted-sets": "Sorted sets",
    "byte-window": "A window of bytes under a lock",
  }),
  group("Understand", "understand", {
    "how-it-works": "How it works",
    "stored-formats": "Stored formats",
    benchmarks: "Benchmarks",
    "why-not": "Why not a sketch?",
    "../glossary": "Glossary",
  }),
];

export const sidebar: DefaultTheme.SidebarMulti = {
  "/": [...pages, { text: "API", items: [{ text: "All names", link: "/api/" }] }],
  "/api/": api,
};

function group(text: string, folder: string, pages: Record<string, string>): Item {
  const items = Object.entries(pages).map(([name, title]) => ({
    text: title,
    link: name.startsWith("../") ? name.slice(2) : `/${folder}/${name}`,
  }));
  return { text, items };
}
