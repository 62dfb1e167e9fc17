// Only what the rivals use, so that types are checked where the rivals' packages are not installed.
declare module "hdr-histogram-js" {
  export interface Histogram {
    /** Whole numbers from 1. */
    recordValue(value: number): void;
    getValueAtPercentile(percentile: number): number;
    destroy(): void;
  }
  export function initWebAssemblySync(): void;
  export function build(request: {
    useWebAssembly: boolean;
    lowestDiscernibleValue: number;
    highestTrackableValue: number;
    numberOfSignificantValueDigits: number;
  }): Histogram;
}

declare module "tdigest" {
  export class TDigest {
    push(value: number): void;
    compress(): void;
    percentile(share: number): number | undefined;
  }
}

declare module "@datadog/sketches-js" {
  export class DDSketch {
    constructor(options: { relativeAccuracy: number });
    accept(value: number): void;
    getValueAtQuantile(share: number): number;
  }
}
