import dns from "node:dns";
import { atEnd } from "../harness/ends.ts";

export interface Name {
  readonly host: string;
  /** From now on the name has this address. Open connections stay. */
  moveTo(address: string): void;
  /** How often it was looked up. */
  readonly lookups: number;
}

type Found = (error: Error | null, ...rest: unknown[]) => void;

/** A host name that this process resolves itself, until the test ends. Each new connection to a name looks it up. */
export function hostName(address: string, host = "primary.oriel.test"): Name {
  const { lookup } = dns;
  let [current, lookups] = [address, 0];
  const own = (name: string, options: { all?: boolean }, found: Found) => {
    if (name !== host) return lookup(name, options as never, found as never);
    lookups++;
    const entry = { address: current, family: current.includes(":") ? 6 : 4 };
    if (options.all) found(null, [entry]);
    else found(null, entry.address, entry.family);
  };
  dns.lookup = own as unknown as typeof dns.lookup;
  atEnd(() => {
    dns.lookup = lookup;
  });
  return {
    host,
    moveTo(to) {
      current = to;
    },
    get lookups() {
      return lookups;
    },
  };
}
