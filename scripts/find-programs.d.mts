export function findRedis(): string | undefined;
export function findValkey(): string | undefined;
export function findRedisCli(): string | undefined;
export function findChromium(): string | undefined;
export function findPrometheus(): { prometheus: string; promtool: string } | undefined;
export function findPython(module: string): string | undefined;
export function findPostgres(): { bin: string; env: NodeJS.ProcessEnv } | undefined;
export function findMariadb(): { server: string; share: string; env: NodeJS.ProcessEnv } | undefined;
