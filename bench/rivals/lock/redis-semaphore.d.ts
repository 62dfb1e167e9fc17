// Only what the rivals use, so that types are checked where the rivals' packages are not installed.
declare module "redis-semaphore" {
  export class Mutex {
    constructor(client: unknown, key: string, options: { acquireTimeout: number; lockTimeout: number });
    /** False when the time is over; rejects when `signal` is aborted. */
    tryAcquire(signal?: AbortSignal): Promise<boolean>;
    release(): Promise<void>;
  }
}
