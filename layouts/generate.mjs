// Turns a layout (layouts/<room>.mjs: constants, enums, records) into TypeScript constants and into Lua locals, and names
// the fields that a Lua step reads from a record. layouts/README.md describes both.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".mjs") && name !== "generate.mjs");

/** Layouts by room. */
export const layouts = Object.fromEntries(
  await Promise.all(
    files.map(async (name) => [name.slice(0, -".mjs".length), await import(pathToFileURL(join(folder, name)).href)]),
  ),
);

const BYTES = { u8: 1, u16: 2, u32: 4, u48: 6, f64: 8 };
const PACKED = { u8: "B", u16: "I2", u32: "I4", u48: "I6", f64: "d" };

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const sizeOf = (type) => BYTES[type] ?? Number(type);

/** Fields of a record with their offsets; a type that is a number stands for so many bytes of no type. */
function fieldsOf(record) {
  let at = 0;
  return record.map(([name, type, lua = snake(name)]) => {
    const field = { name, type, lua, at };
    at += sizeOf(type);
    return field;
  });
}

/** Offsets, sizes and constants by their names in both languages. Offsets count from 0. */
function numbersOf({ constants = {}, records = {} }) {
  const numbers = { ...constants };
  for (const [record, declared] of Object.entries(records)) {
    const fields = fieldsOf(declared);
    for (const { name, at } of fields) if (name !== "zero") numbers[`${record}_${snake(name).toUpperCase()}_AT`] = at;
    numbers[`${record}_BYTES`] = declared.reduce((sum, [, type]) => sum + sizeOf(type), 0);
  }
  return numbers;
}

/** The text of src/generated/layouts/<room>.ts. */
export function layoutModule(layout) {
  const enums = Object.entries(layout.enums ?? {}).map(([name, values]) => [
    name,
    `${JSON.stringify(values)} as const`,
  ]);
  const numbers = Object.entries(numbersOf(layout)).map(([name, value]) => [name, JSON.stringify(value)]);
  // Numbers first: esbuild writes their values in the place of their names only before the first other statement.
  return [...numbers, ...enums].map(([name, value]) => `export const ${name} = ${value};\n`).join("");
}

/** The values of enums as Lua's constants: `MODE_GIVE_BACK` for `MODE.giveBack`. */
function enumConstants({ enums = {} }) {
  return Object.entries(enums).flatMap(([name, values]) =>
    Object.entries(values).map(([value, number]) => [`${name}_${snake(value).toUpperCase()}`, number]),
  );
}

/** What "-- @include layouts/<room>" stands for in a Lua step: locals, which composeScript replaces by their values. */
export function layoutLocals(room) {
  const layout = layouts[room];
  if (!layout) throw new Error(`layouts/${room}.mjs is missing`);
  const numbers = [...enumConstants(layout), ...Object.entries(numbersOf(layout))].map(
    ([name, value]) => `local ${name} = ${JSON.stringify(value)}`,
  );
  // Redis takes its arguments as text; texts of offsets save its conversion of numbers.
  const texts = Object.entries(numbersOf(layout))
    .filter(([name]) => /_(AT|BYTES)$/.test(name))
    .map(
      ([name, value]) =>
        `local ${name.replace(/_BYTES$/, "_LAST_BYTE")}_TEXT = "${name.endsWith("_AT") ? value : value - 1}"`,
    );
  // A reply of one byte needs no struct.pack.
  const bytes = enumConstants(layout)
    .filter(([, value]) => Number.isInteger(value) && value < 256)
    .map(([name, value]) => `local ${name}_BYTE = "\\${value}"`);
  const formats = Object.entries(layout.records ?? {}).map(
    ([name, record]) => `local ${name} = "${formatOf(fieldsOf(record), () => true)}"`,
  );
  return [...numbers, ...texts, ...bytes, ...formats].join("\n");
}

/** A format of Lua's struct for the chosen fields; the others are skipped, but must be there. */
function formatOf(fields, isChosen) {
  const parts = fields.map((field) =>
    PACKED[field.type] && isChosen(field) ? PACKED[field.type] : "x".repeat(sizeOf(field.type)),
  );
  return `<${parts.join("")}`;
}

/**
 * In `number, birth = struct.unpack(CHUNK, text)` the names choose the fields of the record. A name may begin with "its_"
 * where another local has the plain name, and may be a field of a table (`p.number`). Throws for a name that is no field,
 * or not in the order of the record.
 */
export function withNamedFields(text, rooms) {
  const records = Object.assign({}, ...rooms.map((room) => layouts[room].records ?? {}));
  return text.replace(
    /(\blocal\s+)?((?:[a-z_][\w.]*,\s*)*[a-z_][\w.]*)(\s*=\s*struct\.unpack\()([A-Z_]+)(?=[,)])/g,
    (line, local = "", names, middle, record) => {
      if (!records[record]) return line;
      const fields = fieldsOf(records[record]);
      const chosen = new Map();
      let last = -1;
      for (const name of names.split(/,\s*/)) {
        const plain = name.replace(/^\w+\./, "");
        const place = fields.findIndex(({ lua }) => lua === plain || `its_${lua}` === plain);
        if (place <= last)
          throw new Error(`${line}: ${name} is no field of ${record}, or stands before its predecessor`);
        chosen.set(fields[place], name);
        last = place;
      }
      // Redis reads a number faster than it skips its bytes; a skipped number needs a local to go to.
      if (!local) return `${names}${middle}"${formatOf(fields, (field) => chosen.has(field))}"`;
      const slots = fields.slice(0, last + 1).filter(({ type }) => PACKED[type]);
      return `${local}${slots.map((field) => chosen.get(field) ?? "_").join(", ")}${middle}"${formatOf(fields, () => true)}"`;
    },
  );
}
