/**
 * Whether the table has a batch that was acknowledged in `where`, `<born>.<generation>`. `limit`, `<born>
 * <generation>`, is the state of the table when the shard was rebased on it. The twin of lua/counter/in-table.lua.
 */
export function isInTable(where: string, limit: string): boolean {
  const last = /^([0-9a-f]+) (\d+)$/.exec(limit);
  const own = /^([0-9a-f]*)\.(\d+)$/.exec(where);
  if (!last || !own) return false;
  return Number(own[2]) <= Number(last[2]) && Number.parseInt(`0${own[1]}`, 16) <= Number.parseInt(last[1]!, 16);
}
