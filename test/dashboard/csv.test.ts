import { expect, it } from "vitest";
import { csvOf } from "../../src/operate/dashboard/csv.ts";

it("quotes a field of CSV, and lets no text be a formula", () => {
  const texts = ["plain", "a,b", 'say "no"', "two\nlines", "=1+1", "+1", "-1", "@x", '=HYPERLINK("x","y")', "\tx"];
  expect(
    csvOf(
      ["n", "text"],
      texts.map((text, i) => [i === 0 ? null : -i, text]),
    ),
  ).toBe(
    [
      "n,text",
      ",plain",
      '-1,"a,b"',
      '-2,"say ""no"""',
      '-3,"two\nlines"',
      "-4,'=1+1",
      "-5,'+1",
      "-6,'-1",
      "-7,'@x",
      `-8,"'=HYPERLINK(""x"",""y"")"`,
      "-9,'\tx",
      "",
    ].join("\r\n"),
  );
});
