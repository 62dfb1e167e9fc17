#!lua
-- Adds messages that become due later. A message whose id is known stays unchanged.
-- A script: the id check and the writes of content and due time must be one step.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 MessagePack, an array of id, due time and envelope in alternation, up to 1000 of each. Due time: ms
--       since 1970 in decimal text, or "+" and ms from now
-- Reply ADDED, u8 for each message
-- Errors MISMATCH, CORRUPT; nothing was written
-- Law   Known are the ids of waiting, claimed and dead messages, remembered ids of done ones, ids added earlier in this
--       call, and copies of cancelled messages (see move). The id of such a copy is new for other messages.
--       The keys of a shard with a message have no expiry.
--       If a message is due before the previous head, publishes an empty hint to due:<times>.
-- Cost  O(messages * log(stored messages))
-- @include queue/layout
-- @include queue/keep
local keys_per_step = 2
local arguments_per_step = 2

local function with_level(levels, level)
  if string.find(levels, level, 1, true) then return levels end
  local sorted = {}
  for each in string.gmatch(levels .. level, "%d") do sorted[#sorted + 1] = each end
  table.sort(sorted, function(one, other) return one > other end)
  return table.concat(sorted)
end

-- Until when each message is known as cancelled; false: none is.
local function copies_among(times, items, known_until, now)
  if tonumber(known_until or 0) < now then return false end
  local members = {}
  for i = 1, #items, 3 do members[#members + 1] = cancelled_member(items[i + 2], 0, items[i]) end
  return redis.call("ZMSCORE", times, spread(members))
end

local function step(k, a, now)
  local times, messages, layout, items = KEYS[k], KEYS[k + 1], ARGV[a], cmsgpack.unpack(ARGV[a + 1])
  local fields, remembered = { "@layout", "@seq", "@levels", "@cancelled" }, {}
  for i = 1, #items, 3 do
    fields[#fields + 1] = ":" .. items[i]
    remembered[#remembered + 1] = "~" .. items[i]
  end
  local known, ends = redis.call("HMGET", messages, spread(fields)), redis.call("ZMSCORE", times, spread(remembered))
  local refused = mismatch(messages, known[1], layout)
  if refused then return refused end

  local seq, old_levels, answers = seq_of(known[2]), levels_of(known[3], known[2]), {}
  if not seq then return damaged(messages, "its field @seq is not a number; if it is deleted, seqs start again") end
  local copies = copies_among(times, items, known[4], now)
  local levels, first, scores, values, here = old_levels, math.huge, {}, {}, {}
  for i = 1, #ends do
    local id, when, envelope = items[3 * i - 2], items[3 * i - 1], items[3 * i]
    local is_known = known[i + 4] or here[id] or (copies and copies[i]) or (ends[i] and tonumber(ends[i]) >= score_of(DONE, now, 0))
    answers[i] = is_known and ADDED_KNOWN_BYTE or ADDED_ADDED_BYTE
    if not is_known then
      here[id] = true
      local priority = string.byte(envelope, ENVELOPE_PRIORITY_AT + 1)
      local due = tonumber(when)
      if string.sub(when, 1, 1) == "+" then due = now + due end
      due = math.max(0, math.min(due, BAND_SIZE - 1))
      seq = math.max(seq + 1, now * 1000)
      local digits = string.format("%014x", seq)
      levels = with_level(levels, "" .. priority)
      first = math.min(first, due)
      scores[#scores + 1] = text_of(score_of(priority, due, 0))
      scores[#scores + 1] = digits .. id
      values[#values + 1] = ":" .. id
      values[#values + 1] = digits .. envelope
    end
  end
  if #scores == 0 then
    -- WAIT covers only writes of its own connection, and this connection may be new.
    redis.call("HSET", messages, "@layout", layout)
    return table.concat(answers)
  end
  local head = head_of(times, old_levels)
  if levels ~= known[3] then keep(times, messages) end
  redis.call("HSET", messages, "@layout", layout, "@seq", string.format("%.0f", seq), "@levels", levels, spread(values))
  redis.call("ZADD", times, "+inf", "", spread(scores))
  if first < head then publish_due(times, first) end
  return table.concat(answers)
end
