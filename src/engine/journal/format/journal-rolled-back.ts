/** Thrown if the journal no longer matches the copy, after a failover, restore or delete. The copy is dropped and read again. */
export class JournalRolledBack extends Error {
  /** True if events of the copy were in the journal and are lost. False: they may have been deleted. */
  readonly isLoss: boolean;

  constructor(isLoss = false) {
    super();
    this.isLoss = isLoss;
  }
}
