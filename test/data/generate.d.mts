export declare function generate(folder: string, seed?: number): string;
