import type { TlsOptions } from "../../entries/index.ts";

/** Where the server is, after flags, the environment and a configuration file were looked at. */
export interface ServerTyped {
  redis?: string;
  prefix?: string;
  tls?: TlsOptions;
}
