import * as oriel from "../../../src/entries/index.ts";
import { type QuorumClient, QuorumLock, QuorumSemaphore } from "../../../src/entries/structures/semaphore.ts";
import type { Right, Subject } from "./walk.ts";

const nothing: Right = () => [];
/** A client of a server that grants all. */
const client = (): QuorumClient => {
  const grant = async () => 1;
  return { set: async () => "OK", get: grant, eval: grant, evalsha: grant, zrem: grant } as unknown as QuorumClient;
};
const signal = () => new AbortController().signal;

export const LOCKS: Record<string, Subject> = {
  Lock: {
    called: oriel.Lock,
    right: (store) => [store, "a", { watchdogLease: 1000, replicas: 0 }],
    methods: {
      tryLock: () => [{ wait: 0, lease: 1000, signal: signal() }],
      withLock: () => [() => 1, { wait: 0, lease: 1000, signal: signal() }],
      isHeld: () => [],
      inspect: () => [],
      forceRelease: () => [{ fence: 1 }],
      "static all": (store) => [[new oriel.Lock(store, "a")], { watchdogLease: 1000 }],
    },
  },
  LockSet: {
    object: (store) => oriel.Lock.all([new oriel.Lock(store, "a")]),
    methods: {
      tryLock: () => [{ wait: 0, lease: 1000, signal: signal() }],
      withLock: () => [() => 1, { wait: 0, lease: 1000, signal: signal() }],
    },
  },
  HeldLocks: {
    object: (store) => oriel.Lock.all([new oriel.Lock(store, "a")]).tryLock({ lease: 1000 }),
    methods: { assertHeld: nothing, extend: () => [1000], release: nothing },
  },
  ReadWriteLock: {
    called: oriel.ReadWriteLock,
    right: (store) => [store, "a", { watchdogLease: 1000, replicas: 0 }],
    methods: {},
  },
  LockSide: {
    object: (store) => new oriel.ReadWriteLock(store, "a").write,
    methods: {
      tryLock: () => [{ wait: 0, lease: 1000, signal: signal() }],
      withLock: () => [() => 1, { wait: 0, lease: 1000, signal: signal() }],
    },
  },
  HeldLock: {
    object: (store) => new oriel.Lock(store, "a").tryLock({ lease: 1000 }),
    methods: { assertHeld: nothing, extend: () => [1000], release: nothing },
  },
  QuorumLock: {
    called: QuorumLock,
    right: () => [[client(), client(), client()], "a", { watchdogLease: 1000 }],
    methods: {
      tryLock: () => [{ wait: 0, lease: 1000, signal: signal() }],
      withLock: () => [() => 1, { wait: 0, lease: 1000, signal: signal() }],
    },
  },
  QuorumSemaphore: {
    called: QuorumSemaphore,
    right: () => [[client(), client(), client()], "a", { limit: 5, watchdogLease: 1000 }],
    methods: {
      tryAcquire: () => [2, { signal: signal() }],
      acquire: () => [2, { wait: 0, signal: signal() }],
      withPermits: () => [2, () => 1, { wait: 0, signal: signal() }],
    },
  },
  Semaphore: {
    called: oriel.Semaphore,
    right: (store) => [store, "a", { limit: 5, watchdogLease: 1000, replicas: 0 }],
    methods: {
      tryAcquire: () => [{ lease: 1000, signal: signal() }],
      acquire: () => [{ wait: 0, lease: 1000, signal: signal() }],
      withPermit: () => [() => 1, { wait: 0, lease: 1000, signal: signal() }],
    },
  },
  MultiSemaphore: {
    called: oriel.MultiSemaphore,
    right: (store) => [store, "a", { limit: 5, watchdogLease: 1000, replicas: 0 }],
    methods: {
      tryAcquire: () => [2, { lease: 1000, signal: signal() }],
      acquire: () => [2, { wait: 0, lease: 1000, signal: signal() }],
      withPermits: () => [2, () => 1, { wait: 0, lease: 1000, signal: signal() }],
    },
  },
};
