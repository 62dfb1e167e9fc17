#!lua
-- Adds the counts of one process since its last flush to the buckets of its fleet.
-- A script: a bucket is read, replaced if it is older, and added to in one step.
-- KEYS  1 buckets of the fleet
-- ARGV  1 layout · 2 sender, 8 bytes · 3 number of its batch, rising · 4 length of a bucket, ms · 5 buckets · 6 maximum names ·
--       7 MessagePack, an array of name and bucket in alternation, up to 500 of each
-- Reply REPLY · u8 for each, its OUTCOME
-- Errors MISMATCH, CORRUPT; nothing was written
-- Law   A repeated batch is not added again, unless 511 others have sent since, or 10 min have passed. A start in the
--       future is moved to the current bucket. A bucket is too late if its slot has a newer one, or it ended a whole window ago.
-- Cost  O(names + buckets)
-- @include fleet/law
local keys_per_step = 1
local arguments_per_step = 7

-- Returns the senders with this one at the end, or nil if the batch was added before.
local function with_sender(senders, sender, number, now)
  local at = string.find(senders, sender, 1, true)
  while at and at % SENDER_BYTES ~= 1 do at = string.find(senders, sender, at + 1, true) end
  if at then
    if struct.unpack(SENDER_BATCH, senders, at + SENDER_NUMBER_AT) >= number then return nil end
    senders = string.sub(senders, 1, at - 1) .. string.sub(senders, at + SENDER_BYTES)
  end
  local is_full = #senders >= MAX_SENDERS * SENDER_BYTES
  if is_full or (senders ~= "" and struct.unpack(SENDER_TIME, senders, SENDER_FLUSHED_MS_AT + 1) < now - SENDER_LIFE_MS) then
    senders = string.sub(senders, SENDER_BYTES + 1)
  end
  return senders .. sender .. struct.pack(SENDER_BATCH, number, now)
end

local function merged(old, given)
  if not old then return given end
  local start, allowed, denied, success, failure, sum, smallest, largest = struct.unpack(BUCKET, old)
  local its_start, its_allowed, its_denied, its_success, its_failure, its_sum, its_smallest, its_largest =
    struct.unpack(BUCKET, given)
  if its_start > start then return given end
  return struct.pack(BUCKET, start, allowed + its_allowed, denied + its_denied, success + its_success, failure + its_failure,
    sum + its_sum, math.min(smallest, its_smallest), math.max(largest, its_largest))
end

local function step(k, a, now)
  local key, layout, sender, number = KEYS[k], ARGV[a], ARGV[a + 1], tonumber(ARGV[a + 2])
  local length, count, max_names = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5])
  local known = redis.call("HMGET", key, "@layout", "@names", "@senders")
  local refused = mismatch(known[1], layout)
  if refused then return refused end
  local given = cmsgpack.unpack(ARGV[a + 6])
  local senders = with_sender(known[3] or "", sender, number, now)
  if not senders then return struct.pack(REPLY, now) .. string.rep(string.char(OUTCOME_ADDED), #given / 2) end

  local names, numbers, is_new = known[2] and cmsgpack.unpack(known[2]) or {}, { [""] = 0 }, false
  for i, name in ipairs(names) do numbers[name] = i end
  local outcomes, fields, buckets, starts = {}, {}, {}, {}
  local first, present = now - count * length, now - now % length
  for i = 1, #given, 2 do
    local name, start = given[i], struct.unpack(BUCKET_START, given[i + 1])
    start = start - start % length
    local at = (i + 1) / 2
    outcomes[at] = OUTCOME_ADDED
    if start < first then
      outcomes[at] = OUTCOME_TOO_LATE
    else
      if not numbers[name] and #names < max_names then
        names[#names + 1] = name
        numbers[name], is_new = #names, true
      elseif not numbers[name] then
        outcomes[at] = OUTCOME_ADDED_TO_OTHERS
      end
      if start > present then start = present end
      fields[#fields + 1] = string.format("%d|%d", numbers[name] or 0, start / length % count)
      buckets[#buckets + 1] = struct.pack(BUCKET_START, start) .. string.sub(given[i + 1], BUCKET_START_BYTES + 1)
      starts[#starts + 1] = at
    end
  end
  local changed = { "@layout", layout, "@senders", senders }
  if is_new then
    changed[#changed + 1] = "@names"
    changed[#changed + 1] = cmsgpack.pack(names)
  end
  if #fields > 0 then
    local there, now_there = redis.call("HMGET", key, spread(fields)), {}
    for i, field in ipairs(fields) do
      local old = now_there[field] or there[i] or nil
      if old and not now_there[field] and not is_sound(old) then
        old, outcomes[starts[i]] = nil, OUTCOME_REPLACED
      end
      if old and struct.unpack(BUCKET_START, old) > struct.unpack(BUCKET_START, buckets[i]) then
        outcomes[starts[i]] = OUTCOME_TOO_LATE
      else
        now_there[field] = merged(old, buckets[i])
      end
    end
    for field, bucket in pairs(now_there) do
      changed[#changed + 1] = field
      changed[#changed + 1] = bucket
    end
  end
  redis.call("HSET", key, spread(changed))
  redis.call("PEXPIREAT", key, string.format("%.0f", now + (count + 1) * length + SLACK_MS))
  return struct.pack(REPLY, now) .. string.char(spread(outcomes))
end
