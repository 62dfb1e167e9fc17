export interface RecordOptions {
  /** The event's own time; default: the server's stamp. Needed under `clock: "event"`. */
  at?: number | Date;
  /** Gives up waiting; the event may still be written. */
  signal?: AbortSignal;
}

export interface RecordManyOptions {
  /** One time for all events, or one for each, ms. */
  at?: number | Date | ArrayLike<number>;
  signal?: AbortSignal;
}
