import { type Modes, modesOf } from "../../simulator/modes.ts";
import { CALM, type Weather } from "../../simulator/world/network.ts";
import { Random } from "../../simulator/world/random.ts";
import { weatherOf } from "../../simulator/world/weather.ts";

/** One schedule's conditions, all drawn from its seed. */
export interface Plan {
  readonly seed: number;
  readonly durationMs: number;
  /** Hours with rests and partitions so long that marks are forgotten meanwhile. */
  readonly isLong: boolean;
  readonly weather: Weather;
  /** One value of each mode of the matrix; a plan may say otherwise of these two. */
  readonly modes: Modes;
  readonly shards: number;
  readonly producerCount: number;
  readonly ownerCount: number;
  readonly drainerCount: number;
  readonly readerCount: number;
  readonly paceMs: number;
  /** Replicas that producers and owners of the source wait for. */
  readonly replicas: number;
  readonly ownerReplicas: number;
  /** Drainers wait until replicas have what they take, as they should; otherwise a failover may take it back. */
  readonly isWaiting: boolean;
  /** How often each of these happens. */
  readonly failovers: number;
  readonly clockSteps: number;
  readonly silences: number;
  readonly partitions: number;
  readonly pauses: number;
  readonly kills: number;
  readonly fullTimes: number;
  /** Some processes count with a dimension that others do not know. */
  readonly isGrowing: boolean;
}

export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const isLong = random.chance(0.15);
  const some = (probability: number, most: number) => (random.chance(probability) ? random.int(1, most) : 0);
  const weather = random.chance(0.1) ? CALM : weatherOf(random);
  const modes = modesOf(random, "counters");
  return {
    seed,
    isLong,
    weather,
    durationMs: isLong ? random.int(2, 5) * 3_600_000 : random.int(30_000, 90_000),
    modes,
    shards: modes.shards as number,
    producerCount: random.int(1, 3),
    ownerCount: random.pick([0, 0, 1, 2, 3]),
    replicas: modes.replicas as number,
    ownerReplicas: random.pick([0, 1]),
    drainerCount: random.pick([0, 1, 2, 2]),
    readerCount: random.int(0, 1),
    paceMs: isLong ? random.pick([120_000, 900_000]) : random.pick([100, 400, 1500]),
    isWaiting: random.chance(0.7),
    failovers: some(0.6, random.pick([2, 12])),
    clockSteps: some(0.4, 3),
    silences: some(0.3, 2),
    partitions: some(0.5, isLong ? 4 : 3),
    pauses: some(0.4, 4),
    kills: some(0.5, 4),
    // A copy that the network made of a request would be counted after its refusal: no client sends such.
    fullTimes: weather.repeated === 0 ? some(0.4, 3) : 0,
    isGrowing: random.chance(0.3),
  };
}
