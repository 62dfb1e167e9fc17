import { existsSync, readFileSync } from "node:fs";
import type { DefaultTheme } from "vitepress";

type Item = DefaultTheme.SidebarItem;

/** Written by TypeDoc (scripts/docs/build-api.mjs). */
const generated = new URL("../api/typedoc-sidebar.json", import.meta.url);
const api: Item[] = existsSync(generated) ? JSON.parse(readFileSync(generated, "utf8")) : [];

/** Each has a page to begin with, one of its promises and costs, and one of its calls. */
const structures = {
  series: "Series",
  "series-group": "SeriesGroup",
  "sharded-series": "ShardedSeries",
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
};

/** Every page of the site, without those of the API. A page that is not listed fails a test. */
export const pages: Item[] = [
  group("Start", "start", {
    why: "Why oriel",
    install: "Install",
    express: "Express in a minute",
    choose: "Which structure?",
    testing: "Test your code",
    compare: "Beside other packages",
  }),
  group("Structures", "structures", structures),
  group("Recipes", "recipes", {
    login: "A login against brute force",
    plans: "Limits by plan",
    "token-budget": "Token budgets",
    cron: "Cron, once over a fleet",
    webhooks: "Webhooks with retries",
    "p99-alert": "An alert on the p99",
    "cache-stampede": "A cache without a stampede",
    "fair-use": "Fair use of a slow resource",
    shutdown: "A graceful shutdown",
  }),
  group("Promises and costs", "promises", structures),
  group("Operate", "operate", {
    production: "Production checklist",
    store: "The store",
    connect: "Cluster and Sentinel",
    "redis-down": "When Redis is down",
    clocks: "Clocks and exactness",
    containers: "Docker, Kubernetes, PM2",
    troubleshooting: "Troubleshooting",
    versions: "Versions and stability",
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
    bundlers: "Bundlers",
    frameworks: "NestJS, Next.js, Koa",
  }),
  group("Move from", "move", {
    "rate-limiter-flexible": "rate-limiter-flexible",
    "upstash-ratelimit": "@upstash/ratelimit",
    "express-rate-limit": "express-rate-limit",
    bottleneck: "bottleneck",
    "node-rate-limiter": "node-rate-limiter",
    bullmq: "BullMQ's delayed jobs",
    "bee-queue": "Bee-Queue's delayed jobs",
    agenda: "Agenda's delayed jobs",
    opossum: "opossum",
    "redis-semaphore": "redis-semaphore",
    redlock: "redlock",
    "prom-client": "prom-client summaries",
    sentinel: "Sentinel",
    "sorted-sets": "Sorted sets",
    "byte-window": "A window of bytes under a lock",
  }),
  group("Calls and programs", "reference", structures),
  group("Understand", "understand", {
    "how-it-works": "How it works",
    "stored-formats": "Stored formats",
    benchmarks: "Benchmarks",
    storms: "Storms of faults",
    scale: "Scale",
    "why-not": "Why not a sketch?",
    "../glossary": "Glossary",
  }),
];

/** Each structure has a page in these groups, too. They stand beside their own pages only: all at once would hide the rest. */
const ofStructures = pages.filter(({ text }) =>
  ["Structures", "Promises and costs", "Calls and programs"].includes(text!),
);

export const sidebar: DefaultTheme.SidebarMulti = {
  "/": [
    ...pages.filter((each) => !ofStructures.slice(1).includes(each)),
    { text: "API", items: [{ text: "All names", link: "/api/" }] },
  ],
  "/promises/": ofStructures,
  "/reference/": ofStructures,
  "/api/": api,
};

function group(text: string, folder: string, pages: Record<string, string>): Item {
  const items = Object.entries(pages).map(([name, title]) => ({
    text: title,
    link: name.startsWith("../") ? name.slice(2) : `/${folder}/${name}`,
  }));
  return { text, items };
}
