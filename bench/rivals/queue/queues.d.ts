// Only what the rivals use, so that types are checked where the rivals' packages are not installed.
declare module "bullmq" {
  interface JobOptions {
    timestamp: number;
    delay: number;
    removeOnComplete: boolean;
  }
  export class Queue<Data> {
    constructor(name: string, options: { connection: { host: string; port: number } });
    waitUntilReady(): Promise<unknown>;
    add(name: string, data: Data, options: JobOptions): Promise<unknown>;
    addBulk(jobs: { name: string; data: Data; opts: JobOptions }[]): Promise<unknown>;
    getJobCounts(): Promise<Record<string, number>>;
    close(): Promise<void>;
  }
  export class Worker<Data> {
    constructor(
      name: string,
      handle: (job: { data: Data }) => Promise<void>,
      options: { connection: { host: string; port: number; maxRetriesPerRequest: null }; concurrency: number },
    );
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  }
}
