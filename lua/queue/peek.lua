#!lua flags=allow-oom
-- The first messages that wait, of each priority.
-- A script: what they say is of the instant of the list.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 how many of each priority, 1..1000
-- Reply f64 now · for each f64 score · u32, id · u32, what messages has of it · u32, why it last failed; highest priority
--       first, then by time and seq; 1 MiB at most, or one message
-- Errors CLASH
-- Cost  O(priorities * (log of what is there + listed))
-- @include queue/law
local keys_per_step = 2
local arguments_per_step = 2
local MOST_BYTES = 1048576
local function step(k, a, now)
  local times, messages = KEYS[k], KEYS[k + 1]
  local known = redis.call("HMGET", messages, "@layout", "@levels")
  local refused = clash(known[1], ARGV[a])
  if refused then return refused end
  local parts, bytes = { struct.pack("<d", now) }, 0
  for level in string.gmatch(known[2] or "", "%d") do
    local found = first_of(times, tonumber(level), BAND_SIZE, ARGV[a + 1])
    for i = 1, #found, 2 do
      local id = id_of(found[i])
      local of_it = redis.call("HMGET", messages, ":" .. id, "!" .. id)
      local value, why = of_it[1] or "", of_it[2] or ""
      bytes = bytes + #value
      if bytes > MOST_BYTES and #parts > 1 then return table.concat(parts) end
      parts[#parts + 1] = struct.pack("<dI4", tonumber(found[i + 1]), #id) .. id .. struct.pack("<I4", #value) .. value ..
        struct.pack("<I4", #why) .. why
    end
  end
  return table.concat(parts)
end
