import { OrielError, show } from "../../../../base/errors.ts";
import type { CounterShape } from "../../../counter/table.ts";
import type { Layout } from "../layout.ts";
import type { KeyedRow } from "../rows.ts";
import { longestValue } from "../shape.ts";
import type { MysqlSession } from "./mysql-session.ts";

/**
 * Checks the table of a counter with added dimensions. Throws ARGUMENT if the server would silently write other rows: a
 * key without a dimension merges rows, and a server that is not in strict mode truncates long values.
 */
export class MysqlColumns {
  readonly #shape: CounterShape;
  readonly #layout: Layout;
  #isKnown = false;

  constructor(shape: CounterShape, layout: Layout) {
    this.#shape = shape;
    this.#layout = layout;
  }

  async check(session: MysqlSession, rows: readonly KeyedRow[]): Promise<void> {
    if (!this.#shape.added) return;
    const longest = longestValue(this.#shape);
    const long = rows.filter(({ values }) => values.some((value) => value.length > longest));
    if (this.#isKnown && long.length === 0) return;
    const { dimensions, table } = this.#layout;
    const columns = (await session.rows(`SHOW COLUMNS FROM ${table}`)).map(columnOf);
    for (const [i, name] of dimensions.entries()) {
      const column = columns.find((one) => one.name.toLowerCase() === name.toLowerCase());
      if (!column?.isKey) throw wrong(`${table} has no column ${name} in its primary key; it must have`);
      const found = long.find(({ values }) => values[i]!.length > column.characters)?.values[i];
      if (found !== undefined)
        throw wrong(
          `value of ${this.#shape.dimensions[i]} is ${show(found)}, of ${found.length} characters; the column ${name} of ` +
            `${table} must have room for it`,
        );
    }
    this.#isKnown = true;
  }
}

function columnOf({ Field, Type, Key }: Readonly<Record<string, unknown>>) {
  const characters = Number(/^varchar\((\d+)\)/i.exec(String(Type))?.[1] ?? Number.POSITIVE_INFINITY);
  return { name: `\`${String(Field).replaceAll("`", "``")}\``, isKey: String(Key) === "PRI", characters };
}

function wrong(what: string): OrielError {
  return new OrielError("ARGUMENT", `${what} (docs/runbook/add-a-dimension.md)`);
}
