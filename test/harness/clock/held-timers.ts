const { setTimeout: realTimeout } = globalThis;
/** The longest delay of a timer. Node lets a longer one fire at once, and so it is not held. */
const NEVER_MS = 2 ** 31 - 1;

/** One for each body that runs: timers of `fromMs` or more are held until it ends. */
const holders: { fromMs: number; fires: boolean; held: (() => void)[] }[] = [];

/**
 * Runs `body`, in which timers of `fromMs` or more do not fire. So what ends has not waited for one, on a machine of any
 * speed, and what would have waited hangs. Afterwards these timers begin anew, or with `fires` their time is over.
 */
export async function holdingTimers<T>(fromMs: number, body: () => Promise<T>, fires = false): Promise<T> {
  const holder = { fromMs, fires, held: [] };
  holders.push(holder);
  // Another function each time: a store sets a timer again if the same function made it.
  globalThis.setTimeout = heldTimeout.bind(undefined) as typeof setTimeout;
  try {
    return await body();
  } finally {
    holders.splice(holders.indexOf(holder), 1);
    if (holders.length === 0) globalThis.setTimeout = realTimeout;
    for (const begin of holder.held as (() => void)[]) begin();
  }
}

function heldTimeout(callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout {
  const holder = holders.find(({ fromMs }) => ms >= fromMs && ms <= NEVER_MS);
  if (!holder) return realTimeout(callback, ms, ...args);
  const timer = realTimeout(callback, NEVER_MS, ...args) as NodeJS.Timeout & {
    _idleTimeout: number;
    _destroyed: boolean;
  };
  holder.held.push(() => {
    if (timer._destroyed) return;
    timer._idleTimeout = holder.fires ? 1 : ms;
    timer.refresh();
  });
  return timer;
}
