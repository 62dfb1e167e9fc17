import { overMatrix } from "../../matrix/open.ts";
import { limiterSuite } from "./suite.ts";
import { aheadSuite } from "./suite-ahead.ts";
import { calendarSuite } from "./suite-calendar.ts";
import { costSuite } from "./suite-costs.ts";
import { reservationSuite } from "./suite-reservations.ts";
import { severalSuite } from "./suite-several.ts";

overMatrix("limiter", (name, open) => {
  for (const suite of [limiterSuite, costSuite, reservationSuite, severalSuite, aheadSuite, calendarSuite])
    suite(name, open);
});
