import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTimeMs } from "../../../src/command/formats/times.ts";

const MS = Date.UTC(2014, 2, 7, 3, 41, 0);

test.each([
  ["2014-03-07T03:41:00Z", MS],
  ["2014-03-07T03:41:00.123Z", MS + 123],
  ["2014-03-07T03:41:00.123999Z", MS + 123],
  ["2014-03-07T03:41Z", MS],
  ["2014-03-07T05:11:00+01:30", MS],
  ["2014-03-06T22:41:00-0500", MS],
  ["2014-03-07 03:41:00", MS],
  ["2014-03-07 03:41:00,5", MS + 500],
  ["2014-03-07 03:41:00.895000", MS + 895], // MySQL, SQLite
  ["2014-03-07 04:41:00.895+01", MS + 895], // PostgreSQL
  ["2014-03-07 09:11:00+05:30", MS],
  ["2014-03-07 03:41:00.446039 +00:00", MS + 446],
  ["2014-03-07 03:41:00.123456789+00:00", MS + 123], // pandas
  ["2014-03-07T03:41:00.1234567Z", MS + 123], // .NET
  ["2014-03-07t03:41:00z", MS],
  ["2014-03-07 03:41:00 UTC", MS],
  ["2014/03/07 03:41:00", MS], // nginx's error log
  ["2014-03-07", Date.UTC(2014, 2, 7)],
  ["07/Mar/2014:03:41:00 +0000", MS],
  ["[07/Mar/2014:03:41:00 +0000]", MS],
  ["[07/Mar/2014:04:41:00 +0100]", MS],
  ["0001-01-01", -62135596800000],
  ["1394163660", MS],
  ["1394163660.123", MS + 123],
  ["1394163660123", MS + 123],
  ["1394163660123.9", MS + 123],
  ["20141307", 20141307000], // no date
  ["0", 0],
  ["-1.5", -1500],
  ["-0.0001", -1],
])("%s", (text, ms) => {
  expect(parseTimeMs(text)).toBe(ms);
});

test.each([
  ["2014-02-30"],
  ["2014-13-01"],
  ["2014-03-07T24:00:00Z"],
  ["2014-03-07T03:60:00Z"],
  ["2014-03-07T03:41:60Z"],
  ["31/Feb/2014:03:41:00 +0000"],
  ["07/Mai/2014:03:41:00 +0000"],
  ["1394163660123456"], // microseconds
  ["20140307"], // a date without signs, not a day in 1970
  ["20140307034100"],
  ["1e9"],
  [""],
  ["now"],
  ["NaN"],
  ["07.03.2014"],
  ["03/07/2014"],
  ["2014-03/07"],
  ["2014-03-07T03:41:00+25:00"],
  ["2014-03-07T03:41:00+01:99"],
])("%s is not a time", (text) => {
  expect(parseTimeMs(text)).toBeNaN();
});

test("every instant is read back from its ISO form and from its epoch ms", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (date) => {
      expect(parseTimeMs(date.toISOString())).toBe(date.getTime());
      if (date.getTime() >= 1e11 && date.getTime() < 1e14)
        expect(parseTimeMs(String(date.getTime()))).toBe(date.getTime());
    }),
  );
});
