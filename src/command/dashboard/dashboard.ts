import { randomBytes } from "node:crypto";
import { argumentError, OrielError } from "../../base/errors.ts";
import { dashboard } from "../../entries/structures/dashboard.ts";
import { openStore } from "../config/open-store.ts";
import type { ServerTyped } from "../config/redis-client.ts";
import { Output, type Streams } from "../output.ts";
import { openSink } from "../sql-sink.ts";
import { failureLines } from "../text/failure.ts";
import { jsonLine } from "../text/safe-text.ts";
import { isTaken, listen } from "./listen.ts";

export interface DashboardTyped extends ServerTyped {
  port: string;
  host: string;
  allowHost?: string;
  allowActions?: boolean;
  maskIds?: boolean;
  sql?: string;
  drivers: string;
  json?: boolean;
  /** From the configuration file. */
  dashboardToken?: string;
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/** Serves the dashboard until the process gets SIGINT or SIGTERM. Resolves to 0. */
export async function serveDashboard(typed: DashboardTyped, streams: Streams): Promise<number> {
  const { host, allowActions, maskIds } = typed;
  if (!/^\d{1,5}$/.test(typed.port) || Number(typed.port) > 65_535)
    throw argumentError("--port", typed.port, "a number from 0 to 65535");
  const names = typed.allowHost?.split(",").map((name) => name.trim()) ?? [];
  const isOpen = !LOOPBACK.includes(host) || names.length > 0;
  if (!LOOPBACK.includes(host) && names.length === 0)
    throw new OrielError(
      "ARGUMENT",
      `--host ${host} is reachable from other machines; name the hosts that browsers use with --allow-host`,
    );
  const token = tokenOf(isOpen, typed.dashboardToken);
  const store = openStore(typed);
  let closeSink = async () => {};
  try {
    const opened = typed.sql === undefined ? undefined : await openSink(typed.sql, { drivers: typed.drivers });
    closeSink = opened?.close ?? closeSink;
    const hosts = [...names, "localhost", "127.0.0.1", "[::1]"];
    const board = dashboard(store, { token, hosts, allowActions, maskIds, sinks: opened && (() => opened.sink) });
    const warn = (error: unknown) => void streams.stderr.write(failureLines(error, typed.json));
    const server = await listen(board, Number(typed.port), host, warn).catch((error: unknown) => {
      if (!isTaken(error)) throw error;
      throw new OrielError("ARGUMENT", `--port ${typed.port} is taken; choose another, or 0 for any`, { cause: error });
    });
    const { port } = server;
    const end = ended(); // a signal may come as soon as the address is printed
    const shown = names[0] ?? (host.includes(":") ? `[${host}]` : host);
    const address = `http://${/:\d+$/.test(shown) ? shown : `${shown}:${port}`}/`;
    const output = new Output(streams.stdout);
    const open = token === undefined ? address : `${address}?token=${encodeURIComponent(token)}`;
    await output.write(typed.json ? jsonLine({ address: open }) : `${open}\n`);
    await end;
    server.close();
  } finally {
    await closeSink();
    await store.close();
  }
  return 0;
}

/** The token comes from the environment, because every user of the machine can read a process's arguments. */
function tokenOf(isNeeded: boolean, listed: string | undefined): string | undefined {
  const { ORIEL_DASHBOARD_TOKEN: given } = process.env;
  if (given !== undefined && given !== "") return given;
  if (listed !== undefined) return listed;
  return isNeeded ? randomBytes(24).toString("base64url") : undefined;
}

function ended(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => resolve());
  });
}
