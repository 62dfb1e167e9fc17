/** The journal is not what the copy was made of (failover, restore, delete): the copy goes, and is read again. */
export class Rolled extends Error {
  /** True when what the copy holds was there and no longer is; else it may have been deleted. */
  readonly isLoss: boolean;

  constructor(isLoss = false) {
    super();
    this.isLoss = isLoss;
  }
}
