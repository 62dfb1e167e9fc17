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
  export interface Centroid {
    mean: number;
    n: number;
  }
  export class TDigest {
    /** It compresses at `compressAt / delta` centroids. 0: never. */
    constructor(delta?: number, compressAt?: number);
    push(value: number): void;
    push_centroid(centroid: Centroid): void;
    /** By mean. */
    toArray(): Centroid[];
    compress(): void;
    percentile(share: number): number | undefined;
  }
}

declare module "@datadog/sketches-js" {
  export class DDSketch {
    constructor(options: { relativeAccuracy: number });
    readonly mapping: { key(value: number): number; value(key: number): number };
    /** Bins of positive values. That of a key is at `key - offset`. */
    readonly store: { bins: number[]; count: number; offset: number; minKey: number; maxKey: number };
    accept(value: number, weight?: number): void;
    getValueAtQuantile(share: number): number;
  }
}
