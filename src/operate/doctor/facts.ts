/** The fields of INFO, as name and value. */
export function fieldsOf(info: unknown): ReadonlyMap<string, string> {
  const lines = typeof info === "string" ? info.split(/\r?\n/) : [];
  return new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(":");
      return colon > 0 && !line.startsWith("#") ? [[line.slice(0, colon), line.slice(colon + 1).trim()] as const] : [];
    }),
  );
}

export interface ServerName {
  /** "Redis", "Valkey", "Dragonfly", ... */
  readonly product: string;
  /** Of the product. */
  readonly version: string;
  /** The version of Redis that the server is compatible with, by its own account. */
  readonly redisVersion: string;
}

/** Products that report a version of their own, besides the version of Redis that they are compatible with. */
const OWN_FIELDS: readonly (readonly [field: string, product: string])[] = [
  ["dragonfly_version", "Dragonfly"],
  ["upstash_version", "Upstash Redis"],
  ["garnet_version", "Garnet"],
  ["kvrocks_version", "Kvrocks"],
  ["memurai_version", "Memurai"],
  ["valkey_version", "Valkey"],
  ["rlec_version", "Redis Enterprise"],
];

/** Reads the server's name from INFO. Undefined if INFO has no version. */
export function serverNameOf(fields: ReadonlyMap<string, string>): ServerName | undefined {
  const redisVersion = fields.get("redis_version") ?? "";
  const [field, product] = OWN_FIELDS.find(([name]) => fields.has(name)) ?? [];
  if (field !== undefined && product !== undefined) {
    const version = fields.get(field)!.replace(/^(?:df-)?v/, "");
    return { product: managed(product, fields), version, redisVersion };
  }
  if (redisVersion === "") return undefined;
  const isKeyDb = fields.has("mvcc_depth") || /keydb/i.test(fields.get("executable") ?? "");
  return { product: managed(isKeyDb ? "KeyDB" : "Redis", fields), version: redisVersion, redisVersion };
}

/** ElastiCache and MemoryDB report their name as the operating system. */
function managed(product: string, fields: ReadonlyMap<string, string>): string {
  const [, service] = /^Amazon (\S+)/.exec(fields.get("os") ?? "") ?? [];
  return service === undefined ? product : `${product} (Amazon ${service})`;
}

/** The major version as a number. NaN if it is unknown. */
export function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}
