/** A server that one can rent. */
export interface Offer {
  readonly name: string;
  readonly memoryGiB: number;
  /** That it can send for long. */
  readonly networkGbit: number;
  /** Processes of Redis that it runs, each with a core. Below 1: the share of a core that it may use for long. */
  readonly primaries: number;
  /** In the currency of the list. */
  readonly monthly: number;
}

export interface PriceList {
  readonly provider: string;
  readonly kind: string;
  /** When the prices were valid. */
  readonly date: string;
  readonly source: string;
  readonly currency: string;
  readonly offers: readonly Offer[];
}

const HOURS_A_MONTH = 730;

/** Redis runs scripts on one core, however many a node has. */
function node(name: string, memoryGiB: number, networkGbit: number, hourly: number, primaries = 1): Offer {
  return { name, memoryGiB, networkGbit, primaries, monthly: HOURS_A_MONTH * hourly };
}

/** Every second core is left to the system, and to saves to the disk. The network is shared, so no part of it is certain. */
function server(name: string, cores: number, memoryGiB: number, monthly: number): Offer {
  return { name, memoryGiB, networkGbit: 10, primaries: cores / 2, monthly };
}

/** Two public lists, as an example of what servers cost. They are no advice, and without replicas, taxes and traffic between zones. */
export const PRICE_LISTS: readonly PriceList[] = [
  {
    provider: "AWS",
    kind: "ElastiCache for Redis OSS, nodes on demand, us-east-1",
    date: "2026-10-02",
    source: "https://aws.amazon.com/elasticache/pricing/",
    currency: "USD",
    offers: [
      node("cache.t4g.small", 1.37, 0.128, 0.032, 0.2),
      node("cache.t4g.medium", 3.09, 0.256, 0.065, 0.2),
      node("cache.m7g.large", 6.38, 0.937, 0.158),
      node("cache.r7g.large", 13.07, 0.937, 0.219),
      node("cache.r7g.xlarge", 26.32, 1.876, 0.437),
      node("cache.r7g.2xlarge", 52.82, 3.75, 0.873),
      node("cache.r7g.4xlarge", 105.81, 7.5, 1.745),
      node("cache.r7g.8xlarge", 209.55, 15, 3.491),
      node("cache.r7g.16xlarge", 419.09, 30, 6.981),
    ],
  },
  {
    provider: "Hetzner",
    kind: "Cloud servers with dedicated cores (CCX), Germany, orders from this date on",
    date: "2026-06-15",
    source: "https://docs.hetzner.com/general/infrastructure-and-availability/price-adjustment/",
    currency: "EUR",
    offers: [
      server("CCX13", 2, 8, 42.99),
      server("CCX23", 4, 16, 85.99),
      server("CCX33", 8, 32, 138.49),
      server("CCX43", 16, 64, 275.99),
      server("CCX53", 32, 128, 533.49),
      server("CCX63", 48, 192, 853.49),
    ],
  },
];

/** What all primaries together need. */
export interface Need {
  readonly primaries: number;
  /** Of all. `maxmemory`, with room for buffers. */
  readonly memoryBytes: number;
  /** The share of a core of one primary, and what one sends or gets. */
  readonly cores: number;
  readonly networkBytesPerSecond: number;
}

/** The cheapest servers of one kind, and their number. Undefined if no offer is large enough. */
export function cheapest(
  { offers }: PriceList,
  need: Need,
): { offer: Offer; count: number; monthly: number } | undefined {
  const { primaries, memoryBytes, cores, networkBytesPerSecond } = need;
  const fitting = offers.flatMap((offer) => {
    const perServer = Math.min(primaries, Math.max(1, Math.floor(offer.primaries)));
    const fits = Math.min(
      perServer,
      Math.floor((offer.memoryGiB * 2 ** 30) / (memoryBytes / primaries)),
      Math.floor((offer.networkGbit * 1.25e8) / networkBytesPerSecond),
    );
    if (fits < 1 || cores > Math.min(1, offer.primaries)) return [];
    const count = Math.ceil(primaries / fits);
    return [{ offer, count, monthly: count * offer.monthly }];
  });
  return fitting.sort((a, b) => a.monthly - b.monthly)[0];
}
