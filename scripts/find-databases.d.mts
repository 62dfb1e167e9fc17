export function unpacked(name: string): string;
export function findPostgres(): { bin: string; env: NodeJS.ProcessEnv } | undefined;
export function findMariadb(): { server: string; share: string; env: NodeJS.ProcessEnv } | undefined;
