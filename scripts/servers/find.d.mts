export interface FoundServer {
  name: string;
  product: string;
  version: string;
  path: string;
}
export function findServers(): (FoundServer | { name: string; missing: string })[];
