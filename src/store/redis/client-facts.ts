/** Facts from a client's options: the server's address, for messages, and the secrets that no message may contain. */
export interface ClientFacts {
  /** Host and port, or a socket's path, and the database if it is not 0. For a cluster: up to three of its nodes. */
  readonly address: string | undefined;
  readonly secrets: readonly string[];
  readonly isTls: boolean;
}

interface Options {
  host?: unknown;
  port?: unknown;
  path?: unknown;
  db?: unknown;
  url?: unknown;
  name?: unknown;
  password?: unknown;
  sentinelPassword?: unknown;
  database?: unknown;
  socket?: Options;
  sentinels?: unknown;
  redisOptions?: Options;
  rootNodes?: unknown;
  defaults?: Options;
  tls?: unknown;
}

const MAX_NODES = 3;

/** Reads the options of a client or cluster of ioredis (`startupNodes`) or node-redis (`rootNodes`). */
export function factsOf(client: object): ClientFacts {
  const { options: own, _options: ofCluster, startupNodes } = client as Record<string, unknown>;
  const options = (own ?? ofCluster ?? {}) as Options;
  const nodes = [startupNodes, options.rootNodes, options.sentinels].find((each) => Array.isArray(each));
  const inner = options.redisOptions ?? options.defaults ?? {};
  const secrets = [options.password, options.sentinelPassword, inner.password, ...urlSecrets(options, nodes ?? [])];
  return {
    address: nodes ? addressOfAll(nodes, options.sentinels === nodes ? options.name : undefined) : addressOf(options),
    isTls: Boolean(options.tls ?? options.socket?.tls ?? inner.tls ?? inner.socket?.tls),
    secrets: [...new Set(secrets.filter((each): each is string => typeof each === "string" && each !== ""))],
  };
}

function addressOfAll(nodes: readonly unknown[], name: unknown): string {
  const all = nodes.map((node) => addressOf(node));
  const more = all.length > MAX_NODES ? ` and ${all.length - MAX_NODES} more` : "";
  const text = all.slice(0, MAX_NODES).join(", ") + more;
  return name === undefined ? text : `${String(name)} of the sentinels ${text}`;
}

function addressOf(node: unknown): string {
  if (typeof node === "number") return `127.0.0.1:${node}`;
  if (typeof node === "string") return addressOfUrl(node) ?? node.replace(/^.*@/, "");
  const { host, port, path, db, socket, database, url } = (node ?? {}) as Options;
  const at = socket ?? { host, port, path };
  if (typeof at.path === "string") return at.path + databaseOf(db ?? database);
  if (at.host === undefined && at.port === undefined && typeof url === "string")
    return addressOfUrl(url) ?? "localhost:6379";
  const name = String(at.host ?? "localhost");
  return `${name.includes(":") ? `[${name}]` : name}:${at.port ?? 6379}${databaseOf(db ?? database)}`;
}

function databaseOf(db: unknown): string {
  return typeof db === "number" && db !== 0 ? `/${db}` : "";
}

function addressOfUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, pathname } = new URL(url);
  return `${hostname || "localhost"}:${port || 6379}${pathname === "/" ? "" : pathname}`;
}

function urlSecrets(options: Options, nodes: readonly unknown[]): string[] {
  const urls = [options.url, ...nodes.map((node) => (typeof node === "string" ? node : (node as Options)?.url))];
  return urls.flatMap((url) => {
    const password = typeof url === "string" ? /\/\/[^:@/]*:([^@]*)@/.exec(url)?.[1] : undefined;
    if (password === undefined) return [];
    try {
      return [password, decodeURIComponent(password)];
    } catch {
      return [password];
    }
  });
}
