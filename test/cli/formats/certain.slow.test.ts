import { expect, test } from "vitest";
import { command } from "../command.ts";
import { readText } from "./outcomes.ts";

const REQUEST =
  '203.0.113.7 - - [01/May/2024:10:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "Mozilla/5.0 (KHTML, like Gecko)"';
const AT = "2026-01-01T00:00:0";
const twice = (line: string) => `${line}\n${line}\n`;

/** Inputs that are of no form that replay knows, with a part of the line that is shown. */
const FOREIGN: [name: string, text: string, shown: string][] = [
  ["a virtual host in front", twice(`shop.example:443 ${REQUEST}`), "shop.example:443"],
  ["a host in front", twice(`shop.example ${REQUEST}`), "shop.example"],
  ["a date in front", twice(`2019/12/06 08:16:01 shop.example ${REQUEST}`), "2019/12/06"],
  ["docker compose", twice(`web-1 | ${REQUEST}`), "web-1"],
  ["docker compose with colours", twice(`nginx.1     | \u001b[0mshop.example ${REQUEST}`), "nginx.1"],
  ["kubectl --timestamps", twice(`2024-05-01T10:00:00.123456789Z ${REQUEST}`), "2024-05-01T"],
  ["kubectl --prefix", twice(`[pod/web-1/nginx] ${REQUEST}`), "[pod/web-1"],
  ["syslog", twice(`May  1 10:00:00 web-1 nginx: ${REQUEST}`), "May  1"],
  ["syslog with a day of two digits", twice(`May 11 10:00:00 web-1 nginx: ${REQUEST}`), "May 11"],
  ["a list of addresses", twice(REQUEST.replace(".7 ", ".7, 10.0.0.1 ")), "203.0.113.7, 10"],
  ["a joined list of addresses", twice(REQUEST.replace(".7 ", ".7,10.0.0.1 ")), "203.0.113.7,10"],
  ["an address with its port", twice(REQUEST.replace(".7 ", ".7:50321 ")), "203.0.113.7:50321"],
  [
    "AWS ALB",
    twice(
      `h2 ${AT}1.356787Z app/x/1 203.0.113.7:62611 10.0.0.1:443 0.006 200 498 "GET / HTTP/2.0" "(KHTML, like Gecko)"`,
    ),
    "h2 2026",
  ],
  ["IIS", "#Software: IIS\n#Fields: date time s-ip\n2017-07-18 00:09:01 10.0.0.5 GET /h - 443 12\n", "#Fields"],
  ["CloudFront", `#Version: 1.0\n#Fields: date time\n${"2019-12-04\t21:02:31\tLAX1\t392\n".repeat(300)}`, "#Fields"],
  ["logfmt", `time=${AT}1Z level=info ms=12\ntime=${AT}2Z level=info ms=13\n`, "level=info"],
  ["a JSON array", `[\n{"time":"${AT}1Z","value":10},\n{"time":"${AT}2Z","value":11}\n]\n`, "time"],
  ["a JSON array in one line", `[{"time":"${AT}1Z","value":10},{"time":"${AT}2Z","value":11}]\n`, "[{"],
  ["JSON over several lines", `{\n  "time": "${AT}1Z",\n  "value": 10\n}\n`, "time"],
  ["JSON behind a name", twice(`web-1 | {"time":"${AT}1Z","value":10}`), "web-1"],
  ["Python's NaN in JSON", `{"time":"${AT}1Z","value":1}\n{"time":"${AT}2Z","value":NaN}\n`, "NaN"],
  ["decimal commas", `time;ms\n${AT}1Z;1,5\n${AT}2Z;2,5\n`, "1,5"],
  ["quoted decimal commas among whole numbers", `time,ms\n${AT}1Z,1\n${AT}2Z,"2,5"\n${AT}3Z,3\n`, "2,5"],
  ["decimal commas in JSON", twice(`{"time":"${AT}1Z","value":"1,5"}`), "1,5"],
  ["decimal commas as a column of their own", `time,ms\n${AT}1Z,1,5\n`, "1,5"],
  ["Python's log", "2026-01-01 00:00:01,123 INFO took 5\n2026-01-01 00:00:02,123 INFO took 6\n", "INFO"],
  ["Excel's American dates", "time,ms\n1/2/2026 3:04,5\n1/2/2026 3:05,6\n", "1/2/2026"],
  ["days of a spreadsheet", "time,ms\n45123.5,5\n45123.6,6\n", "45123.5"],
  ["days of a spreadsheet in JSON", '{"time":45123.5,"value":5}\n{"time":45123.6,"value":6}\n', "45123.5"],
  ["Julian days", "time,ms\n2460310.5,5\n2460310.6,6\n", "2460310.5"],
  ["dates without signs", "date,ms\n20260130,5\n20260131,6\n", "20260130"],
  ["dates with hours, without signs", "date,ms\n202601302359,5\n20260131235959,6\n", "202601302359"],
  ["numbers without a time", "id,ms\n1,5\n2,6\n", "1,5"],
  ["a text", "Hello, world\nThis is a text, no more\n", "This is"],
  ["one line of text", "just some text\n", "just some text"],
  [
    "Windows-1252",
    Buffer.from(`time,city,ms\n${AT}1Z,Z\xfcrich,10\n${AT}2Z,Z\xf6rich,20\n`, "latin1") as never,
    "not UTF-8",
  ],
];

test.each(FOREIGN)(
  "%s: one message that shows the line and names the forms, exit status 2, and nothing else",
  async (_, text, shown) => {
    for (const more of [[], ["--json"], ["--key", "host"]].slice(0, text.includes("HTTP/1.1") ? 3 : 2)) {
      const { status, stdout, stderr } = await command(["replay", "-", ...more], text);
      expect({ status, stdout }, stderr).toEqual({ status: 2, stdout: "" });
      const message = more[0] === "--json" ? JSON.parse(stderr).message : stderr;
      expect(message).toContain(shown);
      expect(message).toContain("CSV, NDJSON (one JSON object a line) or a common or combined access log");
      expect(message).toMatch(/^(oriel: ARGUMENT )?[^\n]*(\nsee \S+#argument\n)?$/);
    }
  },
);

/** Inputs whose time or value is not certain, with what must be named. */
const AMBIGUOUS: [name: string, text: string, message: string][] = [
  [
    "only a status",
    `time,path,status\n${AT}1Z,/a,200\n${AT}2Z,/b,404\n`,
    "the numbers of the column status do not look measured",
  ],
  ["statuses without a header", `${AT}1Z,/a,200\n${AT}2Z,/b,404\n`, "the numbers of the column 3 do not look measured"],
  ["only a level", twice(`{"time":"${AT}1Z","level":30}`), "the numbers of the field level do not look measured"],
  ["two columns of times", `from,to,ms\n${AT}1Z,${AT}2Z,5\n`, "several columns hold times, name one of them: from, to"],
  [
    "two fields of times",
    twice(`{"from":"${AT}1Z","to":"${AT}2Z","ms":5}`),
    "several fields hold times, name one of them: from, to",
  ],
  [
    "a date and a time of day",
    "date,hour,ms\n2026-01-01,10:00:01,5\n2026-01-01,10:00:02,6\n",
    "the columns date and hour hold dates and times of day",
  ],
];

test.each(AMBIGUOUS)("%s: exit status 2, and the message names what is missing", async (_, text, message) => {
  const { status, stdout, stderr } = await command(["replay", "-"], text);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain(message);
});

test("UTF-16 is named, with its conversion", async () => {
  for (const mark of [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])]) {
    const text = Buffer.concat([mark, Buffer.from("time,value\n", "utf16le")]);
    const { status, stderr } = await command(["replay", "-"], text as never);
    expect(status).toBe(2);
    expect(stderr).toContain("the input is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8");
  }
});

test.each([
  ["the column of times, not the first", `ms,when\n5,${AT}1Z\n6,${AT}2Z\n`, {}, [5, 6]],
  ["a column of times beside one whose name says time", `time,created,ms\n0.5,${AT}1Z,5\n0.7,${AT}2Z,6\n`, {}, [5, 6]],
  ["a field of times, not the one whose name says time", twice(`{"time":0.5,"ts":"${AT}1Z","ms":5}`), {}, [5, 5]],
  ["a field of times in an object", twice(`{"event":{"created":"${AT}1Z"},"ms":5}`), {}, [5, 5]],
  ["the log of pino", twice(`{"level":30,"time":"${AT}1Z","pid":1,"responseTime":5}`), {}, [5, 5]],
  ["a status among values", `time,status,ms\n${AT}1Z,200,5\n${AT}2Z,200,6\n`, {}, [5, 6]],
  [
    "joined files with headers and byte order marks",
    `\ufefftime,ms\n${AT}1Z,5\n\ufefftime,ms\n${AT}2Z,6\n`,
    {},
    [5, 6],
  ],
  ["a delimiter at the end of each line", `time,ms\n${AT}1Z,5,\n${AT}2Z,6,\n`, {}, [5, 6]],
  [
    "a status that was asked for",
    `time,path,status\n${AT}1Z,/a,200\n${AT}2Z,/b,404\n`,
    { value: "status" },
    [200, 404],
  ],
])("%s", async (_, text, selection, values) => {
  for (const chunkBytes of [7, 1000]) {
    const { readings, bad } = await readText(text, { ...selection, chunkBytes });
    expect(bad).toEqual([]);
    expect(readings.map(({ value }) => value)).toEqual(values);
    for (const { atMs } of readings) expect(Math.floor(atMs / 10_000)).toBe(Date.UTC(2026, 0) / 10_000);
  }
});

test("a form is certain if 99 % of its first 1 000 lines follow it; lines without a value do", async () => {
  const lines = Array.from(
    { length: 1000 },
    (_, i) => `${1394163660 + i},${i % 2 ? i : ["", "-", "NaN", "null", "\\N"][i % 5]}`,
  );
  const wrong = (count: number) => lines.map((line, i) => (i > 0 && i <= count ? "wrong" : line)).join("\n");
  const { bad } = await readText(wrong(10));
  expect(bad.filter(({ isWithoutValue }) => !isWithoutValue)).toHaveLength(10);
  await expect(readText(wrong(11))).rejects.toThrow('line 2, "wrong", cannot be read');
  const late = `${lines.join("\n")}\n${"wrong\n".repeat(500)}`;
  expect((await readText(late)).bad.filter(({ isWithoutValue }) => !isWithoutValue)).toHaveLength(500);
});

test("as what the input is read is said in one line at the top", async () => {
  const { stderr } = await command(["replay", "-"], `took,when,host\n5,${AT}1Z,a\n6,${AT}2Z,b\n`);
  expect(stderr.split("\n")[0]).toBe(
    "oriel: read as CSV: time when, value took; guessed: time when, the only column of times; value took, the only column of numbers (--value takes another)",
  );
});
