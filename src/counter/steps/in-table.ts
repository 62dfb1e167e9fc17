/**
 * Whether what was acknowledged in `where`, `<born>.<generation>`, is in the table as it was when a shard was made to follow
 * it, `<born> <generation>`. The twin of lua/counter/in-table.lua.
 */
export function isInTable(where: string, limit: string): boolean {
  const last = /^([0-9a-f]+) (\d+)$/.exec(limit);
  const own = /^([0-9a-f]*)\.(\d+)$/.exec(where);
  if (!last || !own) return false;
  return Number(own[2]) <= Number(last[2]) && Number.parseInt(`0${own[1]}`, 16) <= Number.parseInt(last[1]!, 16);
}
