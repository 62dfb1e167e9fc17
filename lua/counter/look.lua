#!lua flags=allow-oom
-- The state of a shard without its counts, or of any other value under its key. It refuses nothing.
-- A script: all values are from one instant.
-- KEYS  the shard
-- ARGV  (none)
-- Reply text, lines: type · @layout · @cur · @ack · @base · @born · @pure · @rebased, each as stored, "-" if it does not exist ·
--       then, for each generation from the one after @ack to @cur, at most MAX_LISTED_GENERATIONS: its number, " ", sum,
--       " ", nonce ("-": none) · then @again. Line feeds within a value are sent as spaces
-- Cost  O(1), if no batch was sent again
-- @include layouts/counter
local keys_per_step = 1
local arguments_per_step = 0
local function line(text)
  return (string.gsub(text or "-", "\n", " "))
end
local function step(k, a, now)
  local key = KEYS[k]
  local kind = redis.call("TYPE", key)
  kind = kind.ok or kind
  if kind ~= "hash" then return kind end
  local known = redis.call("HMGET", key, "@layout", "@cur", "@ack", "@base", "@born", "@pure", "@rebased", "@again")
  local lines = { kind }
  for i = 1, 7 do lines[#lines + 1] = line(known[i]) end
  local current, acked = tonumber(known[2] or "1"), tonumber(known[3] or "0")
  if current and acked then
    for generation = acked + 1, math.min(current, acked + MAX_LISTED_GENERATIONS) do
      local number = string.format("%.0f", generation)
      local found = redis.call("HMGET", key, "@n:" .. number, "@x:" .. number)
      lines[#lines + 1] = number .. " " .. line(found[1]) .. " " .. line(found[2])
    end
  end
  return table.concat(lines, "\n") .. "\n" .. (known[8] or "")
end
