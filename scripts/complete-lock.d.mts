export declare const LOCKED_FOLDERS: readonly string[];
export declare function lockFile(folder: string): string;
export declare function missingPackages(lock: object): Map<string, object>;
