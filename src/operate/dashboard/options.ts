import { argumentError, OrielError } from "../../base/errors.ts";
import { flag, fn, given, type Schema, settingsOf } from "../../base/options.ts";
import type { Sink } from "../../counters/drain/sql/sink.ts";
import { isLoopback } from "./guard/hosts.ts";

/** Options of `dashboard`. */
export interface DashboardOptions {
  /**
   * Each request for data needs this token: visible ASCII characters, 16 to 512. The page asks for it, or takes it from the
   * query `?token=` of its address once, and keeps it in a cookie. Default: no token.
   */
  token?: string | undefined;
  /**
   * Host names under which the dashboard answers, such as "ops.example.com", with or without a port. Requests for other
   * names are refused, because a foreign page may have bound its own name to this address. Default: loopback names.
   */
  hosts?: readonly string[] | undefined;
  /**
   * Decides about each request, the page's own files included: false or undefined refuses it, true allows it, and a text
   * that is not empty allows it and names the user in the list of actions. If it throws, the request is refused with 500, and
   * a warning of the process has the error. Default: all are allowed.
   */
  authorize?: ((request: Request) => Authorized | Promise<Authorized>) | undefined;
  /**
   * Browsers reach the dashboard over https, although the requests that come to it do not show it: a proxy ends TLS. Cookies
   * are then sent over https only. Default false; requests with an https URL or over a TLS socket do not need it.
   */
  https?: boolean | undefined;
  /** Whether operators may change data, such as to reset a limit. Default false. */
  allowActions?: boolean | undefined;
  /**
   * Shows ids of limits and of messages only in part, and no payloads and errors of messages. Actions on one message are
   * then not offered. Default false.
   */
  maskIds?: boolean | undefined;
  /**
   * The sinks of counters, by the counter's name, or a function of the name. Their counts are then compared with their
   * tables. Default: none.
   */
  sinks?: Readonly<Record<string, LedgerSink>> | ((name: string) => LedgerSink | undefined) | undefined;
}

/** The part of a sink that the dashboard reads. */
export type LedgerSink = Pick<Sink, "ledger">;

/** What `authorize` returns: a name, true, or false. */
export type Authorized = boolean | string | undefined;

export interface DashboardSettings {
  token: string | undefined;
  hosts: readonly string[];
  authorize: (request: Request) => Authorized | Promise<Authorized>;
  https: boolean;
  allowsActions: boolean;
  masksIds: boolean;
  sinkOf: (name: string) => LedgerSink | undefined;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

const DASHBOARD = {
  token: [given<string | undefined>],
  hosts: [given<readonly string[]>, LOOPBACK],
  authorize: [fn<DashboardSettings["authorize"]>, null, "a function of a Request"],
  https: [flag, false],
  allowActions: [flag, false],
  maskIds: [flag, false],
  sinks: [given<NonNullable<DashboardOptions["sinks"]>>, {}],
} as const satisfies Schema<DashboardOptions>;

/** Throws ARGUMENT, without the token. */
export function dashboardSettings(options: DashboardOptions): DashboardSettings {
  const { token, hosts, authorize, https, allowActions, maskIds, sinks } = settingsOf(DASHBOARD, options);
  if (token !== undefined && (typeof token !== "string" || !/^[!-~]{16,512}$/.test(token)))
    throw new OrielError("ARGUMENT", "token has a wrong form; it must be 16 to 512 visible ASCII characters");
  if (!Array.isArray(hosts) || hosts.length === 0)
    throw argumentError("hosts", hosts, "an array of one host name or more");
  const names = hosts.map((host, i) => {
    const name = typeof host === "string" ? host.toLowerCase() : "";
    if (!HOST.test(name)) throw argumentError(`hosts[${i}]`, host, 'a host name such as "ops.example.com"');
    return name;
  });
  const open = names.find((name) => !isLoopback(name));
  if (open !== undefined && token === undefined && authorize === null)
    throw new OrielError(
      "ARGUMENT",
      `hosts names ${JSON.stringify(open)}, which other machines can reach; pass token or authorize as well`,
    );
  return {
    token,
    hosts: names,
    authorize: authorize ?? (() => true),
    https,
    allowsActions: allowActions,
    masksIds: maskIds,
    sinkOf: sinksOf(sinks),
  };
}

function sinksOf(sinks: NonNullable<DashboardOptions["sinks"]>): DashboardSettings["sinkOf"] {
  if (typeof sinks === "function") return sinks;
  if (sinks === null || typeof sinks !== "object")
    throw argumentError("sinks", sinks, "an object of sinks of oriel/sql, or a function of a counter's name");
  for (const [name, sink] of Object.entries(sinks))
    if (typeof sink?.ledger !== "function")
      throw argumentError(`sinks[${JSON.stringify(name)}]`, sink, "a sink of oriel/sql");
  return (name) => (Object.hasOwn(sinks, name) ? sinks[name] : undefined);
}
