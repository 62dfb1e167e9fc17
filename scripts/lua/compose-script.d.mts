import type { Script } from "../../src/store/contract.ts";

export declare const luaFolder: string;
export declare function isStep(text: string): boolean;
export declare function composeScript(stepFile: string, replace?: Record<string, string>): Script;
export declare function composeFunction(file: string, replace?: Record<string, string>): string;
export declare function readableScript(stepFile: string): string;
export declare function asciiPrelude(): string;
export function scriptNameOf(fileName: string): string;
