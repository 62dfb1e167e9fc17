import { overMatrix } from "../../matrix/open.ts";
import { limiterSuite } from "./suite.ts";
import { aheadSuite } from "./suite-ahead.ts";
import { calendarSuite } from "./suite-calendar.ts";
import { reservationSuite } from "./suite-reservations.ts";
import { severalSuite } from "./suite-several.ts";

overMatrix("limiter", (name, open) => {
  for (const suite of [limiterSuite, reservationSuite, severalSuite, aheadSuite, calendarSuite]) suite(name, open);
});
