-- @include layouts/queue
-- @include store/spread
-- A shard of a queue: two keys, which are never empty while they exist. They expire together, while the shard is empty: its hash
-- has no field but @layout, @seq, @levels and @cancelled. A message, a pause and @home keep them (lua/queue/expiry.lua).
-- times: a sorted set, score = (band * 2^42 + ms) * 128 + deliveries, a whole number of 53 bits
--   band 0..9 | a waiting message of that priority | ms: when it is due            | member: seq, 14 hexadecimal digits, and id
--   band 10   | a claimed message                  | ms: when the claim lapses     | member: the same
--   band 11   | a dead message                     | ms: when it died              | member: the same
--   band 12   | the id of a done message           | ms: until when it is known    | member: "~" and id
--   band 12   | a cancelled message                | ms: until when it is known    | member: "^", its nonce and id
--   +inf      | keeps the key                      |                               | member: empty
-- messages: a hash
--   :<id>     | seq, 14 digits, and the message: ENVELOPE and payload (layouts/queue.mjs). PAYLOAD_RAW is always dead
--   !<id>     | why its last delivery failed
--   @layout   | format and number of shards; all processes must agree. The shard with tag 0 belongs to every number of
--             | shards. It has the layout before another shard has a message
--   @seq      | the last seq, us: max(last + 1, now), so that messages with equal times keep their order
--   @levels   | priorities used since the shard was last empty, highest first. While the keys have an expiry it is empty. A
--             | step that changes it takes the expiry away
--   @cancelled| until when the last cancelled message is known, ms; absent: none was cancelled
--   @paused   | exists while the queue is paused
--   @home     | exists in the shard with tag 0 of a queue with several shards
local MAX_TEXTS = 1000
local EVERY_LEVEL = "9876543210"

local function score_of(band, ms, deliveries)
  return (band * BAND_SIZE + math.max(0, math.min(math.floor(ms), BAND_SIZE - 1))) * DELIVERIES_SIZE + deliveries
end

-- Scores as text for Redis. Formatting 16 digits is slow and many scores are equal, so texts are cached. The cache is
-- bounded because it outlives the call.
local texts, texts_kept = {}, 0
local function text_of(score)
  local text = texts[score]
  if not text then
    if texts_kept == MAX_TEXTS then texts, texts_kept = {}, 0 end
    text = string.format("%.0f", score)
    texts[score], texts_kept = text, texts_kept + 1
  end
  return text
end

-- Band, ms, deliveries.
local function read_score(score)
  local deliveries = score % DELIVERIES_SIZE
  local time = (score - deliveries) / DELIVERIES_SIZE
  local ms = time % BAND_SIZE
  return (time - ms) / BAND_SIZE, ms, deliveries
end

local function id_of(member)
  return string.sub(member, SEQ_DIGITS + 1)
end

-- The member of a cancelled message, whose envelope begins after `at` bytes.
local function cancelled_member(text, at, id)
  local nonce = string.sub(text, at + ENVELOPE_NONCE_AT + 1, at + ENVELOPE_BYTES) .. "\0\0\0\0"
  return "^" .. string.format("%02x%02x%02x%02x", string.byte(nonce, 1, 4)) .. id
end

-- Alternating members and scores of a band, up to a time.
local function first_of(times, band, until_ms, limit)
  return redis.call("ZRANGE", times, score_of(band, 0, 0), score_of(band, until_ms, DELIVERIES_SIZE - 1), "BYSCORE",
    "LIMIT", 0, limit, "WITHSCORES")
end

-- When the first message of a band is due; +inf if there is none.
local function first_ms_of(times, band)
  local _, score = spread(first_of(times, band, BAND_SIZE, 1))
  if not score then return math.huge end
  local _, ms = read_score(tonumber(score))
  return ms
end

-- When the first waiting message is due; +inf if none waits.
local function head_of(times, levels)
  local head = math.huge
  for i = 1, #levels do head = math.min(head, first_ms_of(times, tonumber(string.sub(levels, i, i)))) end
  return head
end

-- Publishes a hint to sleeping workers: a message is due earlier than they know.
local function publish_due(times, ms)
  redis.pcall("PUBLISH", "due:" .. times, string.format("%.0f", ms))
end

local function damaged(key, what)
  return refuse("CORRUPT", 'the value of the key "' .. key .. '" is damaged: ' .. what)
end

local function mismatch(messages, messages_layout, layout)
  if not messages_layout or messages_layout == layout then return nil end
  if #messages_layout > 20 or not string.find(messages_layout, "^%d+|%d+$") then
    return damaged(messages, "its field @layout is no layout")
  end
  return refuse("MISMATCH", "the queue's layout (format|shards) is " .. messages_layout .. ", not " .. layout .. ": use that number of shards, or another name")
end

-- Priorities that may be in use, highest first. All priorities if the stored list is damaged.
local function levels_of(kept, is_begun)
  if not kept then return is_begun and EVERY_LEVEL or "" end
  local before = 58
  for i = 1, #kept do
    local digit = string.byte(kept, i)
    if digit < 48 or digit >= before then return EVERY_LEVEL end
    before = digit
  end
  return kept
end

-- The last seq; nil if the stored value is invalid.
local function seq_of(kept)
  if not kept then return 0 end
  if #kept > 16 or not string.find(kept, "^%d+$") then return nil end
  local seq = tonumber(kept)
  return seq < 9007199254740992 and seq or nil
end
