import { fileURLToPath } from "node:url";
import { findServer } from "./redis-server.ts";

const unpacked = fileURLToPath(new URL("../../node_modules/.oriel/valkey/usr/bin/valkey-server", import.meta.url));

/** The program of a Valkey beside the Redis: ORIEL_VALKEY_SERVER, else valkey-server on PATH, else what `npm test` unpacked. */
export function findValkey(): string | undefined {
  const named = process.env.ORIEL_VALKEY_SERVER;
  return findServer(named ? [named] : ["valkey-server", unpacked]);
}
