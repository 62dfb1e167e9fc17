// Exported by the entry of each structure: errors, durations, and the stores that every runtime has.
export {
  type ErrorSite as ErrorPlace,
  OrielError,
  type OrielErrorCode,
  type OrielErrorOptions,
} from "../../base/errors.ts";
export { type Clock, type Closed, type Duration, parseDuration } from "../../base/time.ts";
export type {
  Argument,
  Keyspace,
  Operation,
  PackedForm,
  PackedStep,
  Packing,
  RunOptions,
  Script,
  Step,
  StepOfArguments,
  Store,
  StoreEvents,
  StoreHealth,
  WatchedStore,
} from "../../store/contract.ts";
export type { ScriptStoreOptions } from "../../store/delivery/script-store.ts";
export type { StoreFailure } from "../../store/health/failures.ts";
export { type HttpStoreOptions, httpStore } from "../../store/http/http.ts";
export type { Fetch } from "../../store/http/http-request.ts";
export type { MemoryStore, MemoryStoreOptions } from "../../store/memory/memory.ts";
export type { RedisClient, RedisStoreOptions } from "../../store/redis/client-store.ts";
export type { IoredisClient } from "../../store/redis/ioredis-client.ts";
export type { NodeRedisClient, NodeRedisCluster, SendOptions } from "../../store/redis/node-redis-client.ts";
export type { Pem, TlsOptions } from "../../store/redis/tls.ts";
export { memoryStore } from "../memory-store.ts";
