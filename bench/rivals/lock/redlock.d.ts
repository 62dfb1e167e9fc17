// Only what the rivals use, so that types are checked where the rivals' packages are not installed.
declare module "redlock" {
  export default class Redlock {
    constructor(clients: unknown[], settings: { retryCount: number });
    acquire(resources: string[], durationMs: number): Promise<{ release(): Promise<unknown> }>;
  }
}
