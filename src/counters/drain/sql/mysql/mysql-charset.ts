import { OrielError } from "../../../../base/errors.ts";
import type { MysqlSession } from "./mysql-session.ts";

/**
 * Throws ARGUMENT if names of tables and columns would reach the server changed: the driver sends statements in the
 * connection's character set, with "?" for unsupported characters. Values are written in hexadecimal.
 */
export async function checkCharset(session: MysqlSession, texts: readonly string[]): Promise<void> {
  if (texts.every((text) => /^[\0-\x7f]*$/.test(text))) return;
  const [row] = await session.rows("SELECT @@SESSION.character_set_client AS charset");
  const charset = String(row?.charset);
  if (!charset.startsWith("utf8"))
    throw new OrielError(
      "ARGUMENT",
      `the character set of the connection is ${charset}, and a name of the table, the ledger or a column is not plain ` +
        "ASCII; it must be utf8mb4, or all names must be plain ASCII",
    );
}
