#!lua flags=allow-oom
-- Lists the messages that would be claimed next if no others were added: first the due ones by priority and time, then
-- the others by time.
-- A script: the list and the contents are of one instant.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 maximum number of messages, 1..256
-- Reply PEEKED · the messages (queue/stored-message)
-- Errors MISMATCH, CORRUPT
-- Cost  O(priorities * (log(stored messages) + listed))
-- @include queue/layout
-- @include queue/stored-message
local keys_per_step = 2
local arguments_per_step = 2

-- Adds messages that are not due yet, until `found` has `limit` messages.
local function add_later(times, levels, now, limit, found)
  local later = {}
  for i = 1, #levels do
    local level = tonumber(string.sub(levels, i, i))
    local waiting = redis.call("ZRANGE", times, score_of(level, now + 1, 0), score_of(level, BAND_SIZE, DELIVERIES_SIZE - 1),
      "BYSCORE", "LIMIT", 0, limit - #found / 2, "WITHSCORES")
    for j = 1, #waiting, 2 do
      local _, ms = read_score(tonumber(waiting[j + 1]))
      later[#later + 1] = { ms = ms, at = #later, member = waiting[j], score = waiting[j + 1] }
    end
  end
  table.sort(later, function(one, other) return one.ms < other.ms or (one.ms == other.ms and one.at < other.at) end)
  for i = 1, math.min(#later, limit - #found / 2) do
    found[#found + 1] = later[i].member
    found[#found + 1] = later[i].score
  end
end

local function step(k, a, now)
  local times, messages, limit = KEYS[k], KEYS[k + 1], tonumber(ARGV[a + 1])
  local known = redis.call("HMGET", messages, "@layout", "@levels")
  local refused = mismatch(messages, known[1], ARGV[a])
  if refused then return refused end
  local levels, found = levels_of(known[2], known[1]), {}
  for i = 1, #levels do
    local due = first_of(times, tonumber(string.sub(levels, i, i)), now, limit - #found / 2)
    for j = 1, #due do found[#found + 1] = due[j] end
  end
  if #found < 2 * limit then add_later(times, levels, now, limit, found) end
  return struct.pack(PEEKED, now) .. stored_messages(messages, found)
end
