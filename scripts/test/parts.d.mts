export const PARTS: Record<string, readonly string[]>;
export function filesOf(part: string): string;
export function ownFilesOf(part: string): string;
