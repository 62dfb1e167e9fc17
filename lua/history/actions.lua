#!lua
-- Adds an entry to the stream of operators' actions, and reads the stream.
-- A script: the entry's place comes from the server's clock, and a repeated entry is recognised in the same step.
-- KEYS  1 the stream: its fields are the names and values of an entry
-- ARGV  1 the names and values of the entry by turns, as a MessagePack array; "" adds none · 2 "1" to read the stream
-- Reply if it was asked for, a MessagePack array: for each entry, the latest first, its ms, and its names and values as a
--       MessagePack array
-- Error CORRUPT names the key; nothing was written
-- Law   An entry that equals one of the last RECENT_ENTRIES is not added again. The oldest are removed above MAX_ACTION_ENTRIES.
--       An id is the server's time in ms and a number. If that time was stepped back, it is the last id and the next number.
-- Cost  O(RECENT_ENTRIES); O(MAX_ACTION_ENTRIES) to read
-- @include layouts/history
-- @include store/refuse
-- @include store/spread
local keys_per_step = 1
local arguments_per_step = 2

-- The id of the next entry, and whether `entry` is one of the last. Nil if the last id is not a time.
local function place_of(key, entry, now)
  local ms, number, is_there = now, 0, false
  for i, its in ipairs(redis.call("XREVRANGE", key, "+", "-", "COUNT", tostring(RECENT_ENTRIES))) do
    is_there = is_there or cmsgpack.pack(its[2]) == cmsgpack.pack(entry)
    local last_ms, last_number = string.match(its[1], "^(%d+)-(%d+)$")
    if i == 1 and tonumber(last_ms) >= ms then ms, number = tonumber(last_ms), tonumber(last_number) + 1 end
  end
  return ms < 2 ^ 53 and number < 2 ^ 53 and string.format("%.0f-%.0f", ms, number), is_there
end

local function step(k, a, now)
  local key, kind = KEYS[k], redis.call("TYPE", KEYS[k])
  local damaged = 'the value of the key "' .. key .. '" is damaged: '
  kind = kind.ok or kind
  if kind ~= "stream" and kind ~= "none" then return refuse("CORRUPT", damaged .. "it is not a stream of actions") end
  if ARGV[a] ~= "" then
    local entry = cmsgpack.unpack(ARGV[a])
    local id, is_there = place_of(key, entry, now)
    if not id then return refuse("CORRUPT", damaged .. "its last id is not a time in ms") end
    if not is_there then
      redis.call("XADD", key, "MAXLEN", tostring(MAX_ACTION_ENTRIES), id, spread(entry))
      redis.call("PEXPIREAT", key, string.format("%.0f", now + LIST_LIFE_MS))
    end
  end
  if ARGV[a + 1] ~= "1" then return "" end
  local reply = {}
  for _, its in ipairs(redis.call("XREVRANGE", key, "+", "-", "COUNT", tostring(MAX_ACTION_ENTRIES))) do
    reply[#reply + 1] = string.match(its[1], "^%d+")
    reply[#reply + 1] = cmsgpack.pack(its[2])
  end
  return #reply > 0 and cmsgpack.pack(reply) or ""
end
