import { randomU32 } from "../../base/random.ts";
import { ServerError } from "../../store/delivery/client.ts";
import { redacted } from "../../store/secrets.ts";
import { type Check, isMissing, remedyOf, type Verdict, wordsOf, worstOf } from "./check.ts";
import { Asker, type DoctorTarget, type NodeAddress, Unanswered } from "./connection.ts";
import { fieldsOf, majorOf, type ServerName, serverNameOf } from "./facts.ts";
import { messages } from "./messages.ts";
import { type Mode, modeOf } from "./mode.ts";
import { keysOf, rights } from "./rights.ts";
import { argumentsCheck, scriptsChecks } from "./scripts.ts";
import { type NodeInfo, settingsChecks } from "./settings.ts";
import { timing } from "./timing.ts";
import { ownerOf, steps, writes } from "./writes.ts";

/** The findings about one server. */
export interface Report {
  readonly address: string | undefined;
  /** Undefined if the server does not name itself. */
  readonly server: ServerName | undefined;
  readonly mode: Mode | undefined;
  /** That of the worst check. */
  readonly verdict: Verdict;
  readonly checks: readonly Check[];
}

/** More primaries of a cluster are not asked for their settings. */
const MAX_NODES = 64;

/**
 * Examines a server. Resolves in any case: an unreachable server is a check, too. Each probe ends within `deadlineMs`, and
 * no other follows one without an answer. Keys of the probes begin with the prefix and `{oriel-doctor-`, and expire within
 * 10 s, except for a lock's state. All are deleted at the end.
 */
export async function examine(target: DoctorTarget, deadlineMs: number): Promise<Report> {
  const visit = new Visit(target, deadlineMs);
  try {
    await visit.run();
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    visit.lost(error);
  } finally {
    await visit.close();
  }
  return visit.report;
}

class Visit {
  readonly #target: DoctorTarget;
  readonly #deadlineMs: number;
  readonly #checks: Check[] = [];
  readonly #opened: Asker[] = [];
  #server: ServerName | undefined;
  #user: string;
  #mode: Mode | undefined;

  constructor(target: DoctorTarget, deadlineMs: number) {
    this.#target = target;
    this.#user = target.user ?? "default";
    this.#deadlineMs = deadlineMs;
  }

  get report(): Report {
    const checks = this.#checks.map((check) => this.#clean(check));
    const { address } = this.#target;
    return { address, server: this.#server, mode: this.#mode, verdict: worstOf(checks), checks };
  }

  async run(): Promise<void> {
    const asker = this.#open();
    const ping = await asker.ask("PING");
    // The steps need no PING, so a user may lack it. A Sentinel has no TIME.
    const pong = isMissing(ping) ? await asker.ask("TIME") : ping;
    const info = await asker.info();
    this.#checks.push(await this.#connection(asker, pong));
    if (pong instanceof ServerError && info instanceof ServerError) return;
    this.#checks.push(this.#version(info));
    const { mode, check, primaries } = await modeOf(asker, info);
    this.#mode = mode;
    this.#checks.push(check);
    if (pong instanceof ServerError || mode === "sentinel" || mode === "replica") return;
    const tag = `oriel-doctor-${randomU32().toString(36)}${randomU32().toString(36)}`;
    const key = `${this.#target.prefix}{${tag}}`;
    const node = await ownerOf(asker, key);
    const owner = node ? this.#open(node) : asker;
    const { latency, clock, nowMs } = await timing(owner);
    const written = await writes(owner, key);
    this.#checks.push(written);
    const nodes =
      mode === "cluster" && primaries.length > 0 ? await this.#infos(primaries) : [{ address: undefined, info }];
    this.#checks.push(...settingsChecks(nodes));
    this.#checks.push(...(await scriptsChecks(owner, key, mode === "cluster")));
    this.#checks.push(await argumentsCheck(key, () => this.#open(node)));
    this.#checks.push(await messages(owner, key, this.#target.prefix, () => this.#open()));
    if (written.verdict === "good") this.#checks.push(await rights(owner, this.#target.prefix, tag, nowMs));
    this.#checks.push(clock, latency);
    if (mode !== "cluster" || primaries.length > 0)
      this.#checks.push(await steps(this.#target, tag, mode === "cluster"));
    for (const each of [...keysOf(this.#target.prefix, tag), `${key}:lock`]) await owner.ask("DEL", each);
  }

  /** Adds the check for a server that does not answer, or not any more. */
  lost({ message, cause }: Unanswered): void {
    const name = "connection";
    const isFirst = this.#checks.length === 0;
    const text = cause === undefined ? message : wordsOf(cause);
    const words = isFirst ? text : `the server stopped answering: ${text}`;
    this.#checks.push({ name, verdict: "unusable", text: words, ...remedyOf(cause) });
  }

  async close(): Promise<void> {
    for (const { connection } of this.#opened) connection.close();
  }

  #open(node?: NodeAddress): Asker {
    const asker = new Asker(this.#target.open(node), this.#deadlineMs);
    this.#opened.push(asker);
    return asker;
  }

  async #connection(asker: Asker, pong: unknown): Promise<Check> {
    const name = "connection";
    if (pong instanceof ServerError) return { name, verdict: "unusable", text: wordsOf(pong), ...remedyOf(pong) };
    const { isTls, address = "" } = this.#target;
    const whoami = await asker.ask("ACL", "WHOAMI");
    if (typeof whoami === "string") this.#user = whoami;
    const user = this.#user;
    const facts = { tls: isTls, user };
    const text = `${isTls ? "TLS" : "no TLS"}, user ${user}`;
    if (isTls || isLocal(address)) return { name, verdict: "good", text, facts };
    return { name, verdict: "note", text: `${text}; password and data travel unencrypted`, facts };
  }

  #version(info: unknown): Check {
    const name = "version";
    if (info instanceof ServerError)
      return { name, verdict: "unknown", text: `INFO is refused: ${wordsOf(info)}`, ...remedyOf(info) };
    this.#server = serverNameOf(fieldsOf(info));
    if (!this.#server) return { name, verdict: "unknown", text: "INFO names no version" };
    const { product, version, redisVersion } = this.#server;
    const text = `${product} ${version}`;
    if (majorOf(redisVersion) < 7)
      return {
        name,
        verdict: "unusable",
        text: `${text} supports the commands of Redis ${redisVersion}; oriel needs those of Redis 7`,
        advice: "Use Redis 7 or later, or Valkey.",
      };
    return {
      name,
      verdict: "good",
      text: version === redisVersion ? text : `${text}, compatible with Redis ${redisVersion}`,
    };
  }

  async #infos(primaries: readonly NodeAddress[]): Promise<NodeInfo[]> {
    return Promise.all(
      primaries
        .slice(0, MAX_NODES)
        .map(async (node) => ({ address: `${node.host ?? ""}:${node.port}`, info: await this.#open(node).info() })),
    );
  }

  /** Without secrets, and with missing rules as an advice. */
  #clean(check: Check): Check {
    const { secrets } = this.#target;
    const text = redacted(check.text, secrets);
    const { rules = [] } = check;
    if (rules.length === 0) return { ...check, text };
    const where = this.#mode === "cluster" ? " on each node" : "";
    return { ...check, text, advice: `Run ACL SETUSER ${this.#user} ${rules.join(" ")}${where}.` };
  }
}

function isLocal(address: string): boolean {
  return address.startsWith("/") || /^(?:https?:\/\/)?(?:localhost|127\.|\[?::1)/.test(address);
}
