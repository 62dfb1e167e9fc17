import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPrometheus } from "../../../scripts/find-programs.mjs";
import { freePort } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { watch } from "../../harness/watchdog.ts";

export interface PrometheusSample {
  labels: Record<string, string>;
  value: number;
}

export interface PrometheusServer {
  /** Runs an instant query, now. Rejects with Prometheus' error for a wrong expression. */
  query(expression: string): Promise<PrometheusSample[]>;
  stop(): Promise<void>;
}

function programs() {
  const found = findPrometheus();
  if (!found)
    throw new Error("no Prometheus found; `npm run test:all` makes one available, ORIEL_PROMETHEUS names one");
  return found;
}

/** Starts a Prometheus that scrapes these addresses each second, and waits until it answers. The caller stops it. */
export async function startPrometheus(
  targets: readonly string[],
  flags: readonly string[] = [],
): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), "oriel-prometheus-"));
  const config = join(folder, "prometheus.yml");
  const scrape = { job_name: "oriel", static_configs: [{ targets }] };
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ global: { scrape_interval: "1s" }, scrape_configs: [scrape] }));
  const port = await freePort();
  const child = spawn(
    programs().prometheus,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
      ...flags,
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  watch(child);
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until("Prometheus is ready", async () => (await fetch(`${url}/-/ready`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  const query = async (expression: string) => {
    const answer = await fetch(`${url}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query: expression }),
    });
    const { status, data, error } = (await answer.json()) as {
      status: string;
      error?: string;
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    if (status !== "success") throw new Error(`${expression}: ${error}`);
    return data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  };
  return { query, stop };
}

/** Runs promtool with these arguments and this input. */
export function promtool(args: readonly string[], input = ""): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(programs().promtool, args, {
    input,
    encoding: "utf8",
    timeout: 240_000,
  });
  return { status, output: stdout + stderr };
}
