#!lua
-- Announces structures of one process.
-- KEYS  1 the structures, a hash: kind, space and name as JSON, to a record · 2 when each was announced, a sorted set
--       3 the processes, a hash: id to a record · 4 when each was announced, a sorted set
-- ARGV  1 the process's id · 2 its version of oriel · 3 its record, JSON
--       4 three lines for each structure: its field of key 1, the settings that all processes must share, and the others. Both
--         are JSON
-- Reply a line with now, then three lines for each structure: other shared settings that were announced last, when, and by
--       which process; empty lines if there were none
-- Law   an entry is removed when its life has ended, or when more than MAX_LISTED are newer.
-- Cost  O(structures * log(entries))
--
-- A record of a structure has the lines: shared settings, ms, process, version, settings; then the first three lines of the last
-- record that had other shared settings. A record of a process has the lines: ms, JSON.
-- @include layouts/registry
local keys_per_step = 4
local arguments_per_step = 4

local function put(entries, times, field, record, now, life)
  local time = string.format("%.0f", now)
  redis.call("HSET", entries, field, record)
  redis.call("ZADD", times, time, field)
  for _, key in ipairs({ entries, times }) do redis.call("PEXPIREAT", key, string.format("%.0f", now + life)) end
end

local function remove_old(entries, times, before, added)
  local excess = redis.call("ZCARD", times) - MAX_LISTED
  local oldest = redis.call("ZRANGE", times, "0", MAX_REMOVED + added, "WITHSCORES")
  for i = 1, #oldest, 2 do
    if i < 2 * excess or tonumber(oldest[i + 1]) < before then
      redis.call("HDEL", entries, oldest[i])
      redis.call("ZREM", times, oldest[i])
    end
  end
end

local function step(k, a, now)
  local structures, announced, processes, seen = KEYS[k], KEYS[k + 1], KEYS[k + 2], KEYS[k + 3]
  local time = string.format("%.0f", now)
  -- A key with another type fails here, before the first write.
  redis.call("ZCARD", announced)
  redis.call("HGET", processes, ARGV[a])
  redis.call("ZCARD", seen)
  local reply, fields, records = { time }, {}, {}
  for field, shared, settings in string.gmatch(ARGV[a + 3], "([^\n]*)\n([^\n]*)\n([^\n]*)\n") do
    local last = redis.call("HGET", structures, field) or ""
    local head, other = string.match(last, "^([^\n]*\n%d+\n[^\n]*)\n[^\n]*\n[^\n]*\n(.*)$")
    if head and string.sub(head, 1, #shared + 1) ~= shared .. "\n" then other = head end
    if not other or other == "" then other = "\n\n" end
    fields[#fields + 1] = field
    records[#fields] = table.concat({ shared, time, ARGV[a], ARGV[a + 1], settings, other }, "\n")
    reply[#fields + 1] = other
  end
  for i = 1, #fields do put(structures, announced, fields[i], records[i], now, STRUCTURE_LIFE_MS) end
  put(processes, seen, ARGV[a], time .. "\n" .. ARGV[a + 2], now, PROCESS_LIFE_MS)
  remove_old(structures, announced, now - STRUCTURE_LIFE_MS, #fields)
  remove_old(processes, seen, now - PROCESS_LIFE_MS, 1)
  return table.concat(reply, "\n")
end
