// Input files like those of real services, from a seed: times out of order, `-` as size, bursts, an outage, daily waves.
// node test/data/generate.mjs FOLDER [SEED] writes them.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const FIVE_MINUTES_MS = 5 * MINUTE_MS;

/** Mulberry32: numbers from 0 to 1, the same for a seed on every machine. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A standard normal number, by Box and Muller. */
const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const pick = (random, list) => list[Math.floor(random() * list.length)];
/** From 0 at four in the morning to 1 at four in the afternoon. */
const dailyWave = (atMs) => 0.5 - 0.5 * Math.cos(2 * Math.PI * ((atMs / DAY_MS) % 1) - Math.PI / 3);
const csvTime = (atMs) => new Date(atMs).toISOString().slice(0, 19).replace("T", " ");
const csv = (rows) => `timestamp,value\n${rows.map(([atMs, value]) => `${csvTime(atMs)},${value}\n`).join("")}`;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", 'Tricky "quoted" agent', "-", "curl/8.5.0", "Überbot/1.0"];
const STATUSES = [...Array(90).fill(200), ...Array(5).fill(304), 404, 404, 301, 206, 500];

/** 10 000 lines of four days in combined log format, seconds apart and out of order, in bursts. */
function accessLog(random) {
  const lines = [];
  let atMs = Date.UTC(2025, 4, 17, 10, 5, 3);
  while (lines.length < 10_000) {
    const burst = random() < 0.02 ? 40 : 1 + Math.floor(3 * random());
    atMs += Math.floor((4 * DAY_MS * burst * random()) / 9000 / (0.5 + dailyWave(atMs)));
    for (let i = 0; i < burst && lines.length < 10_000; i++) {
      const lateMs = random() < 0.3 ? Math.floor(random() * 50_000) : 0;
      lines.push(logLine(random, atMs - lateMs));
    }
  }
  return `${lines.join("\n")}\n`;
}

function logLine(random, atMs) {
  const at = new Date(atMs);
  const date = `${String(at.getUTCDate()).padStart(2, "0")}/${MONTHS[at.getUTCMonth()]}/${at.getUTCFullYear()}`;
  const host = random() < 0.02 ? "2001:db8::17" : [93, 180, 12, 1 + Math.floor(200 * random())].join(".");
  const status = pick(random, STATUSES);
  const size = status === 304 || random() < 0.02 ? "-" : Math.floor(300 * Math.exp(2 * Math.abs(normal(random))));
  const path = pick(random, ["/", "/images/logo.png", "/blog/2025?page=2", "/a%20b", "/reset.css", "/x/../etc"]);
  const time = `${date}:${at.toISOString().slice(11, 19)} +0000`;
  return `${host} - - [${time}] "GET ${path} HTTP/1.1" ${status} ${size} "-" "${pick(random, AGENTS).replaceAll('"', '\\"')}"`;
}

/** Two weeks of latencies, a row each five minutes: quiet days, one peak of some rows, an outage at the end. */
function requestLatency(random) {
  const startMs = Date.UTC(2025, 2, 7, 3, 41);
  const count = 4032;
  return csv(
    Array.from({ length: count }, (_, i) => {
      const isPeak = i >= 3390 && i < 3392;
      const isOutage = i >= count - 12;
      const ms = isPeak
        ? 70 + 15 * random()
        : isOutage
          ? pick(random, [21, 66, 99]) + random()
          : 45 + 2.5 * normal(random);
      return [startMs + i * FIVE_MINUTES_MS, Math.min(isPeak || isOutage ? 200 : 59, ms).toFixed(3)];
    }),
  );
}

/** Requests of a load balancer: daily waves, noise, a burst now and then. */
function requestCount(random) {
  const startMs = Date.UTC(2025, 3, 10, 0, 4);
  return csv(
    Array.from({ length: 4032 }, (_, i) => {
      const atMs = startMs + i * FIVE_MINUTES_MS;
      const burst = random() < 0.01 ? 300 : 0;
      return [atMs, Math.max(1, Math.round(30 + 90 * dailyWave(atMs) + 12 * normal(random) + burst)).toFixed(1)];
    }),
  );
}

/** A road sensor: rows at uneven times, the first not the earliest of its minute. */
function sensor(random, count, measure) {
  let atMs = Date.UTC(2025, 6, 10, 14, 24);
  return csv(
    Array.from({ length: count }, () => {
      atMs += FIVE_MINUTES_MS * (random() < 0.05 ? 1 + Math.floor(20 * random()) : 1);
      return [atMs - (random() < 0.1 ? MINUTE_MS : 0), measure(dailyWave(atMs), random)];
    }),
  );
}

const FILES = {
  "apache-access.log": accessLog,
  "ec2_request_latency_system_failure.csv": requestLatency,
  "elb_request_count_8c0756.csv": requestCount,
  "TravelTime_387.csv": (random) =>
    sensor(random, 2499, (wave, next) => Math.round(90 + 200 * wave + 300 * next() ** 6)),
  "speed_7578.csv": (random) => sensor(random, 1126, (wave, next) => Math.round(75 - 25 * wave + 5 * normal(next))),
  "occupancy_t4013.csv": (random) => sensor(random, 2499, (wave, next) => (2 + 20 * wave * next()).toFixed(2)),
};

/** Writes all files of a seed; several processes may do so at once. */
export function generate(folder, seed = 1) {
  mkdirSync(folder, { recursive: true });
  for (const [i, [name, textOf]] of Object.entries(FILES).entries()) {
    const unfinished = join(folder, `${name}.${process.pid}`);
    writeFileSync(unfinished, textOf(randomOf(seed * 1000 + i)));
    renameSync(unfinished, join(folder, name));
  }
  return folder;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  generate(process.argv[2] ?? ".", Number(process.argv[3] ?? 1));
