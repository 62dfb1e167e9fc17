#!lua flags=allow-oom
-- Lists entries of the registry, one page. Changes nothing.
-- KEYS  1 the structures or the processes: a hash of lua/registry/announce.lua.
-- ARGV  1 the cursor of HSCAN, "0" for the first page.
-- Reply a MessagePack array: now in ms, the next cursor ("0" after the last page), then each field and its record.
-- Law   an entry that is there during the whole listing is on at least one page. It may be on several.
-- Cost  O(PAGE); the whole hash while it is small
-- @include layouts/registry
local keys_per_step = 1
local arguments_per_step = 1

local function step(k, a, now)
  local found = redis.call("HSCAN", KEYS[k], ARGV[a], "COUNT", PAGE)
  local reply = { string.format("%.0f", now), found[1] }
  for i = 1, #found[2] do reply[i + 2] = found[2][i] end
  return cmsgpack.pack(reply)
end
