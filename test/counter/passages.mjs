// Passages of vehicles, as a fixed rule makes them of three files of measurements: each row is passed by some vehicles, by
// the minute that follows it; which lane and direction, and how many at once, follows from their numbers.
import { readFileSync } from "node:fs";

const SITES = { "TravelTime_387.csv": "387", "speed_7578.csv": "7578", "occupancy_t4013.csv": "t4013" };
const VEHICLES_PER_ROW = 330;

/** The events of one of so many workers: [site, lane, direction, at, count], together those of all rows of all files. */
export function* passages(folder, worker, workers) {
  for (const [file, site] of Object.entries(SITES)) {
    const rows = readFileSync(`${folder}/${file}`, "utf8").trim().split("\n").slice(1);
    for (let i = worker; i < rows.length; i += workers) {
      const [time, value] = rows[i].split(",");
      const at = Date.parse(`${time.replace(" ", "T")}Z`);
      const step = Math.max(1, Math.round(Number(value)));
      for (let j = 0; j < VEHICLES_PER_ROW; j++) {
        const mixed = i * 31 + j * step;
        yield [site, `${mixed % 3}`, mixed % 2 ? "N" : "S", at + ((j * 977 + step) % 60_000), 1 + (mixed % 2)];
      }
    }
  }
}
