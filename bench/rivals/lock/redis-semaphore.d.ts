// Only what the rivals use, so that types are checked where the rivals' packages are not installed.
declare module "redis-semaphore" {
  export class Mutex {
    constructor(client: unknown, key: string, options: { acquireTimeout: number; lockTimeout: number });
    /** False after the time-out. Rejects when `signal` aborts. */
    tryAcquire(signal?: AbortSignal): Promise<boolean>;
    release(): Promise<void>;
  }
}
