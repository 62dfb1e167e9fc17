import { asCorrupt } from "../../store/as-corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { HEADER_BYTES } from "../journal/format/chunk.ts";
import { constants } from "../journal/format/constants.ts";
import type { JournalCopy } from "../journal/replica/journal-copy.ts";
import type { WindowView } from "../series/pending-query.ts";
import type { CommitLoop } from "../series/session/commit-loop.ts";
import { kindOf, type WindowQuery } from "../stats/window-query.ts";
import { GroupNames } from "./group-names.ts";
import type { GroupSettings } from "./group-options.ts";
import { GroupedWindow } from "./grouped-window.ts";
import type { OwnGroups } from "./labels.ts";
import { NumberedAppends } from "./numbered-appends.ts";
import type { NamedWindow } from "./rows.ts";

/** A question reads events and names again this often while a new group appears between them. The rest then counts as `_other`. */
const MAX_ATTEMPTS = 8;
const NOTHING_PROVEN = { since: undefined, generation: 0, count: 0 };

/** The numbers of the groups of one journal, and its windows with the names of their groups. */
export class GroupedJournal {
  readonly names: GroupNames;
  /** Sends the appends of the journal's loops. */
  readonly send: NumberedAppends["send"];
  readonly #key: string;
  readonly #loop: () => CommitLoop;
  /** The copy of the events that was read last. Numbers up to `count` in it have the names of this generation. */
  #proven: { since: object | undefined; generation: number; count: number } = NOTHING_PROVEN;

  /** `loop`: the loop that takes the next question. `onFull` is called once, when a group is not kept. */
  constructor(
    store: Store,
    key: string,
    { labels, maxGroups, series: { retentionMs, entropy } }: GroupSettings,
    own: OwnGroups,
    onFull: (maxGroups: number) => void,
    loop: () => CommitLoop,
  ) {
    this.#key = key;
    this.#loop = loop;
    this.names = new GroupNames(store, key, { labels, maxGroups, retentionMs, entropy, onFull });
    this.send = new NumberedAppends(store, key, this.names, own).send;
  }

  /**
   * The events of a window, with the names of their groups. One request for the events that this process lacks, and one for new names.
   *
   * Law: a number is a group if the process knew so before it read the events, and the names are still there afterwards. After a failover
   * it may be another group, in the events or in the names. The names are read after the events, so if they have room, no event is
   * of the group 0 because they had none.
   */
  async window(query: WindowQuery): Promise<NamedWindow> {
    const { names } = this;
    for (let attempt = 1; ; attempt++) {
      if (names.known.length === 0) await names.refresh();
      const { generation, groups } = names;
      const { count } = groups;
      const loop = this.#loop();
      loop.checkAskable();
      const { age } = loop.online.view;
      const proven = this.#proven;
      if (attempt > 1 || age.since !== proven.since || generation !== proven.generation) age.forget();
      const window = (view: WindowView, fromMs: number, toMs: number) => {
        const events = new GroupedWindow();
        try {
          view.collect(events, fromMs, toMs, query.closed);
        } catch (error) {
          throw asCorrupt(this.#key, error);
        }
        const first = firstIn(loop.online.view.copy, fromMs);
        const { latestMs = toMs } = view;
        return { events, fromMs, toMs, latestMs, first, degradedBy: view.degradedBy(fromMs), since: age.since };
      };
      // Callers of one commit share the window, whatever rows they ask for.
      const found = await loop.exact.compute(query, `groups ${kindOf(query)}`, window);
      let provenCount = proven.count;
      let isNew = true;
      if (found.since !== proven.since) {
        await names.refresh();
        const isSame = generation === names.generation;
        provenCount = isSame ? count : 0;
        isNew = !isSame || count < names.groups.count;
        this.#proven = { since: found.since, generation, count: provenCount };
      }
      const current = names.groups;
      const [others, last] = [current.others, current.others + current.maxGroups];
      const isProven = generation === names.generation;
      const isUnsure = isProven ? found.events.hasBetween(others + provenCount, last) : found.events.runs.length > 0;
      if (isNew && isUnsure && attempt < MAX_ATTEMPTS) continue;
      // Its numbers are those of a dictionary that is gone: each append names one, even if all its events are of the group _other.
      const isOld = found.first < names.firstChunk || (names.known.length === 0 && found.events.runs.length > 0);
      const degradedBy = found.degradedBy ?? (isOld ? "lost" : undefined);
      const { former } = names;
      const valuesOf = (number: number) => {
        if (isOld || !isProven) return undefined;
        const isOfNow = number >= others && number <= last;
        return isOfNow
          ? number > others + provenCount
            ? undefined
            : current.valuesOf(number)
          : former?.valuesOf(number);
      };
      const numbered = [current, ...(former ? [former] : [])].map((its) => ({
        others: its.others,
        hasRoom: !its.isFull,
        numberOf: (values: readonly string[]) => its.numberOf(values),
      }));
      return { ...found, degradedBy, valuesOf, numbered };
    }
  }
}

/** The first chunk that may have an event of a window; Infinity if none has. */
function firstIn({ chunks }: JournalCopy, fromMs: number): number {
  const first = chunks.find(
    ({ header, length }) => length > HEADER_BYTES && header.lastStampMs + constants.earlyMs >= fromMs,
  );
  return first?.header.number ?? Number.POSITIVE_INFINITY;
}
