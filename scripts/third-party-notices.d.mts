import type { Plugin } from "esbuild";

export declare function thirdPartyNotices(file: string): Plugin;
