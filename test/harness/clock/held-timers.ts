const { setTimeout: realTimeout } = globalThis;
const NEVER_MS = 2 ** 31 - 1;

/** One for each body that runs: timers of `fromMs` or more are held until it ends. */
const holders: { fromMs: number; held: (() => void)[] }[] = [];

/**
 * Runs `body`, in which timers of `fromMs` or more do not fire. So what ends has not waited for one, on a machine of any
 * speed, and what would have waited hangs. Afterwards these timers begin anew.
 */
export async function holdingTimers<T>(fromMs: number, body: () => Promise<T>): Promise<T> {
  const holder = { fromMs, held: [] };
  holders.push(holder);
  globalThis.setTimeout = heldTimeout as typeof setTimeout;
  try {
    return await body();
  } finally {
    holders.splice(holders.indexOf(holder), 1);
    if (holders.length === 0) globalThis.setTimeout = realTimeout;
    for (const begin of holder.held as (() => void)[]) begin();
  }
}

function heldTimeout(callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout {
  const holder = holders.find(({ fromMs }) => ms >= fromMs);
  if (!holder) return realTimeout(callback, ms, ...args);
  const timer = realTimeout(callback, NEVER_MS, ...args) as NodeJS.Timeout & {
    _idleTimeout: number;
    _destroyed: boolean;
  };
  holder.held.push(() => {
    if (timer._destroyed) return;
    timer._idleTimeout = ms;
    timer.refresh();
  });
  return timer;
}
