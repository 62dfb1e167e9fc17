const { setTimeout: realTimeout } = globalThis;
/** The longest delay of a timer. Node lets a longer one fire at once, and so it is not held. */
const NEVER_MS = 2 ** 31 - 1;

interface Holder {
  fromMs: number;
  fires: boolean;
  held: HeldTimer[];
}
/** `begin` ends the hold. */
interface HeldTimer {
  ms: number;
  begin(fires: boolean): void;
}

/** One for each body that runs: timers of `fromMs` or more are held until it ends. */
const holders: Holder[] = [];

/**
 * Runs `body`, in which timers of `fromMs` or more do not fire. So what ends has not waited for one, on a machine of any
 * speed, and what would have waited hangs. Afterwards these timers begin anew, or with `fires` their time is over. Where
 * another body runs that holds them too, they begin after that one.
 */
export async function holdingTimers<T>(fromMs: number, body: () => Promise<T>, fires = false): Promise<T> {
  const holder: Holder = { fromMs, fires, held: [] };
  // Another function, since a store sets a timer again if the same function made it. But the same one where no more timers
  // are held than before: a store that connects again under another one replaces its client.
  if (holderOf(fromMs) === undefined) globalThis.setTimeout = heldTimeout.bind(undefined) as typeof setTimeout;
  holders.push(holder);
  try {
    return await body();
  } finally {
    holders.splice(holders.indexOf(holder), 1);
    if (holders.length === 0) globalThis.setTimeout = realTimeout;
    for (const timer of holder.held) {
      const next = fires ? undefined : holderOf(timer.ms);
      if (next) next.held.push(timer);
      else timer.begin(fires);
    }
  }
}

/** The body that holds a timer of `ms`. */
function holderOf(ms: number): Holder | undefined {
  return holders.find(({ fromMs }) => ms >= fromMs && ms <= NEVER_MS);
}

function heldTimeout(callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout {
  const holder = holderOf(ms);
  if (!holder) return realTimeout(callback, ms, ...args);
  const timer = realTimeout(callback, NEVER_MS, ...args) as NodeJS.Timeout & {
    _idleTimeout: number;
    _destroyed: boolean;
  };
  const begin = (fires: boolean) => {
    if (timer._destroyed) return;
    timer._idleTimeout = fires ? 1 : ms;
    timer.refresh();
  };
  holder.held.push({ ms, begin });
  return timer;
}
