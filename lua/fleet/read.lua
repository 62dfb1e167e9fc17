#!lua flags=allow-oom
-- The buckets of one name of a fleet, or of several.
-- A script: all are from one instant.
-- KEYS  1 buckets of the fleet
-- ARGV  1 layout · 2 buckets of a name · 3 number of the first name, 0: the others · 4 names, up to 100 · 5 only this name, or
--       empty
-- Reply REPLY · MessagePack, an array of name and its buckets in alternation; empty: no such name. A DAMAGE_MARK after
--       the buckets means that damaged ones were left out
-- Errors MISMATCH, CORRUPT
-- Cost  O(names * buckets)
-- @include fleet/law
local keys_per_step = 1
local arguments_per_step = 5
local function step(k, a, now)
  local key, layout, count = KEYS[k], ARGV[a], tonumber(ARGV[a + 1])
  local first, limit, wanted = tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3]), ARGV[a + 4]
  local known = redis.call("HMGET", key, "@layout", "@names")
  local refused = mismatch(known[1], layout)
  if refused then return refused end
  local names, told = known[2] and cmsgpack.unpack(known[2]) or {}, {}
  names[0] = ""
  for number = first, math.min(first + limit - 1, #names) do
    if wanted == "" or names[number] == wanted then
      local fields, buckets, is_damaged = {}, {}, false
      for slot = 0, count - 1 do fields[slot + 1] = number .. "|" .. slot end
      for _, bucket in ipairs(redis.call("HMGET", key, spread(fields))) do
        if bucket and #bucket == BUCKET_BYTES then buckets[#buckets + 1] = bucket end
        is_damaged = is_damaged or bucket and #bucket ~= BUCKET_BYTES
      end
      if is_damaged then buckets[#buckets + 1] = DAMAGE_MARK end
      told[#told + 1] = names[number]
      told[#told + 1] = table.concat(buckets)
    end
  end
  return struct.pack(REPLY, now) .. cmsgpack.pack(told)
end
