// The store's suite over HTTP, to be bundled for another runtime: standards only, no Buffer.

import { bytesOfBase64 } from "../../../src/base/base64.ts";
import { httpStore } from "../../../src/store/http/http.ts";
import { onServers, type Raw } from "../../store/contract/on-servers.ts";
import { storeSuite } from "../../store/contract/suite.ts";
import { type Outcome, runSuites } from "./suite-runner.ts";

/** Runs the suite over the REST server, by a store of its own. */
export function runStoreSuite(url: string, token: string): Promise<Outcome> {
  const ask = async (...command: string[]) => {
    const headers = { Authorization: `Bearer ${token}`, "Upstash-Encoding": "base64" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(command) });
    return ((await response.json()) as { result: string | number | null }).result;
  };
  const raw: Raw = {
    async getBuffer(key) {
      const found = await ask("GET", key);
      return typeof found === "string" ? bytesOfBase64(found) : null;
    },
    pexpiretime: async (key) => Number(await ask("PEXPIRETIME", key)),
    disconnect() {},
  };
  const open = onServers(async () => ({
    storeOf: (options) => httpStore({ deadline: "1m", ...options, url, token }),
    end() {},
    raw,
    flush: () => ask("FLUSHALL"),
    stop: async () => {},
  }));
  storeSuite("over HTTP", open);
  return runSuites();
}
