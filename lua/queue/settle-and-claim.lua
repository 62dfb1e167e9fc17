#!lua flags=allow-oom
-- Delivers the results of claimed messages, and claims others.
-- A script: only the delivery that holds a claim may settle it, and no message may be claimed twice at once.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 MessagePack, an array of the members of done messages · 3 their deliveries, u8 each · 4 how long their
--       ids are remembered after they were added, ms · 5 MessagePack, an array of other results: member, deliveries, verb,
--       ms and text in alternation · 6 maximum number of messages to claim · 7 duration of their claims, ms. At most 1000
--       messages of each kind
-- VERB  r: retry, due in ms; text: priority, a digit, and why it failed
--       b: release, due at once, and the delivery does not count; text: priority
--       a: again, due in ms, as if it had just been added; text: priority
--       x: dead; text: why
--       c: the bytes are not a message, and become a dead letter; ms: its id, or another one if that is unusable; text: why
-- Reply SETTLED · RESULT, u8 for each result, done ones first · DIED · MessagePack, an array: messages that died, then
--       claimed ones. For each: member, former score (empty if it was invalid), value in `messages` (empty if it died), why
--       it last failed
-- Errors MISMATCH, CORRUPT; nothing was written
-- Law   Claims lapsed messages first, up to half of the requested number, then due messages by priority, time and seq,
--       then the other lapsed ones. A message that lapsed after its last delivery becomes dead. One call claims at
--       most 1 MiB, or one larger message. A paused queue claims nothing. A result "done" or "again" counts
--       even if its claim lapsed for the last time. A message that comes again gets a new seq, so that late results of its
--       earlier deliveries, which have the same numbers, are refused. A retried message that is due before all others publishes a hint. Every check that
--       can fail comes before the first write. The script needs little memory, so it runs on a full server.
--       A shard whose last message is done expires (queue/expiry).
-- Cost  O((results + messages) * log(stored messages))
-- @include queue/layout
-- @include queue/expiry
-- @include queue/bury-corrupt
local keys_per_step = 2
local arguments_per_step = 7
local LOOK_AROUND_EVERY_MS = 61

-- The status of a result whose message is gone. If another delivery is known to have ended it, the result is stale. Else an earlier copy of
-- this call has most likely delivered it.
local function status_of_gone(times, id, delivery)
  local ended = redis.call("ZSCORE", times, "~" .. id)
  return ended and tonumber(ended) % DELIVERIES_SIZE ~= delivery and RESULT_STALE_BYTE or RESULT_REPEATED_BYTE
end

-- Settles done messages. Ids to deduplicate are added to `moved`, and written with the claims.
local function keep_done(times, messages, members, deliveries, remember, now, moved)
  local scores = redis.call("ZMSCORE", times, spread(members))
  local statuses, gone, fields, seen, count = {}, {}, {}, {}, 0
  local from, to = score_of(CLAIMED, 0, 0), score_of(DEAD + 1, 0, 0)
  for i, member in ipairs(members) do
    local score, delivery = tonumber(scores[i] or "0"), string.byte(deliveries, i)
    local is_kept = score >= from and score < to and score % DELIVERIES_SIZE == delivery and not seen[member]
    statuses[i] = is_kept and RESULT_SETTLED_BYTE or scores[i] and RESULT_STALE_BYTE
      or status_of_gone(times, id_of(member), delivery)
    if is_kept then
      seen[member] = true
      local id = string.sub(member, SEQ_DIGITS + 1)
      count = count + 1
      gone[count] = member
      fields[#fields + 1] = ":" .. id
      if delivery > 1 or score >= score_of(DEAD, 0, 0) then fields[#fields + 1] = "!" .. id end
      local ends = math.floor((tonumber(string.sub(member, 1, SEQ_DIGITS), 16) or 0) / 1000) + remember
      if ends > now then
        moved[#moved + 1] = text_of(score_of(DONE, ends, delivery))
        moved[#moved + 1] = "~" .. id
      end
    end
  end
  if count > 0 then
    redis.call("ZREM", times, spread(gone))
    redis.call("HDEL", messages, spread(fields))
  end
  return table.concat(statuses)
end

-- The new seq of a message that comes again, as digits; nil if the message is gone. `again` collects what is written.
local function renew(messages, member, now, again)
  local id = id_of(member)
  local value = redis.call("HGET", messages, ":" .. id)
  if not value then return nil end
  if not again.seq then
    again.seq = seq_of(redis.call("HGET", messages, "@seq"))
    again.is_kept, again.seq = again.seq ~= nil, again.seq or 0
  end
  local own = tonumber(string.sub(member, 1, SEQ_DIGITS), 16) or 0
  again.seq = math.max(again.seq + 1, own + 1, now * 1000)
  local digits = string.format("%014x", again.seq)
  again.gone[#again.gone + 1] = member
  again.errors[#again.errors + 1] = "!" .. id
  again.values[#again.values + 1] = ":" .. id
  again.values[#again.values + 1] = digits .. string.sub(value, SEQ_DIGITS + 1)
  return digits
end

local function keep_again(times, messages, again)
  if #again.gone == 0 then return end
  redis.call("ZREM", times, spread(again.gone))
  redis.call("HDEL", messages, spread(again.errors))
  redis.call("HSET", messages, spread(again.values))
  if again.is_kept then redis.call("HSET", messages, "@seq", string.format("%.0f", again.seq)) end
end

local function keep_others(times, messages, results, levels, now)
  local members, statuses, waiting, errors, seen, first, buried = {}, {}, {}, {}, {}, math.huge, {}
  local again = { gone = {}, errors = {}, values = {} }
  for i = 1, #results, 5 do members[#members + 1] = results[i] end
  local scores = redis.call("ZMSCORE", times, spread(members))
  for i, member in ipairs(members) do
    local deliveries, verb = tonumber(results[5 * i - 3]), results[5 * i - 2]
    local ms, text = tonumber(results[5 * i - 1]), results[5 * i]
    local band, _, its = read_score(tonumber(scores[i] or "0"))
    local is_held = band == CLAIMED or (band == DEAD and verb == VERB_AGAIN)
    local is_kept = is_held and its == deliveries and not seen[member]
    local is_dead = verb == VERB_DEAD or verb == VERB_CORRUPT
    local is_repeated = is_dead and band == DEAD and its == deliveries and not seen[member]
    statuses[i] = is_kept and RESULT_SETTLED_BYTE or is_repeated and RESULT_REPEATED_BYTE or RESULT_STALE_BYTE
    if is_kept and verb == VERB_CORRUPT then
      seen[member] = true
      buried[#buried + 1] = { member, deliveries, results[5 * i - 1], text }
    elseif is_kept then
      seen[member] = true
      local at
      band, at = DEAD, now
      if verb ~= VERB_DEAD then
        band, at, text = tonumber(string.sub(text, 1, 1)), now + ms, string.sub(text, 2)
        first = math.min(first, at)
      end
      local digits = verb == VERB_AGAIN and renew(messages, member, now, again)
      local count = digits and 0 or verb == VERB_RELEASE and deliveries - 1 or deliveries
      waiting[#waiting + 1] = text_of(score_of(band, at, count))
      waiting[#waiting + 1] = digits and digits .. id_of(member) or member
      if verb == VERB_RETRY or verb == VERB_DEAD then
        errors[#errors + 1] = "!" .. id_of(member)
        errors[#errors + 1] = text
      end
    end
  end
  if first < math.huge and first < head_of(times, levels) then publish_due(times, first) end
  keep_again(times, messages, again)
  if #waiting > 0 then redis.call("ZADD", times, spread(waiting)) end
  if #errors > 0 then redis.call("HSET", messages, spread(errors)) end
  for i = 1, #buried do bury(times, messages, now, spread(buried[i])) end
  return table.concat(statuses)
end

-- Removes expired ids, or the oldest ids if too many are remembered. At most twice as many as may have been added
-- since.
local function forget(times, now, came)
  local excess = redis.call("ZCOUNT", times, score_of(DONE, 0, 0), score_of(DONE, BAND_SIZE, DELIVERIES_SIZE - 1)) - MAX_DEDUPE_IDS
  local limit = math.min(math.max(excess, 2 * FORGET_EVERY_MS * came), MAX_FORGOTTEN)
  local old, members = first_of(times, DONE, excess > 0 and BAND_SIZE or now - 1, limit), {}
  for i = 1, #old, 2 do members[#members + 1] = old[i] end
  if #members > 0 then redis.call("ZREM", times, spread(members)) end
end

-- Claims the found messages from `first` to `last`, up to 1 MiB. Messages without deliveries left become dead.
local function claim(times, messages, found, first, last, now, until_ms, claims)
  for from = first, last, 2 * CLAIMED_AT_A_TIME do
    if claims.bytes >= MAX_BYTES then return end
    local to, fields, scores, place = math.min(from + 2 * CLAIMED_AT_A_TIME - 1, last), {}, {}, 0
    for i = from, to, 2 do
      local id, number = string.sub(found[i], SEQ_DIGITS + 1), tonumber(found[i + 1])
      local score = math.floor(number)
      if score ~= number then found[i + 1] = text_of(score) end
      scores[i] = score
      fields[#fields + 1] = ":" .. id
      if score % DELIVERIES_SIZE > 0 then fields[#fields + 1] = "!" .. id end
    end
    local values = redis.call("HMGET", messages, spread(fields))
    for i = from, to, 2 do
      local member, count, why = found[i], scores[i] % DELIVERIES_SIZE, ""
      place = place + 1
      local value = values[place]
      if count > 0 then
        place = place + 1
        why = values[place] or ""
      end
      -- A value without a valid delivery count is still delivered; its reader reports the damage.
      local allowed = value and string.byte(value, SEQ_DIGITS + ENVELOPE_MAX_DELIVERIES_AT + 1) or 0
      if allowed == 0 or allowed > MAX_DELIVERIES then allowed = MAX_DELIVERIES end
      if not value then
        claims.gone[#claims.gone + 1] = member
      elseif count >= allowed then
        claims.moved[#claims.moved + 1] = text_of(score_of(DEAD, now, count))
        claims.moved[#claims.moved + 1] = member
        if why == "" then
          why = LAPSED
          redis.call("HSET", messages, "!" .. id_of(member), why)
        end
        local died, at = claims.died, #claims.died
        died[at + 1], died[at + 2], died[at + 3], died[at + 4] = member, found[i + 1], "", why
      elseif claims.bytes == 0 or claims.bytes + #value <= MAX_BYTES then
        claims.bytes = claims.bytes + #value
        claims.moved[#claims.moved + 1] = text_of(score_of(CLAIMED, until_ms, count + 1))
        claims.moved[#claims.moved + 1] = member
        local parts, at = claims.parts, 4 * claims.count
        claims.count = claims.count + 1
        local before = claims.is_stray and "" or found[i + 1]
        parts[at + 1], parts[at + 2], parts[at + 3], parts[at + 4] = member, before, value, why
      else
        claims.bytes = MAX_BYTES
        return
      end
    end
  end
end

-- Members with a score that no step writes. They are treated as never delivered.
local function strays_of(times, limit)
  local found = {}
  for _, range in ipairs({ { score_of(DONE + 1, 0, 0), "+inf" }, { "-inf", "(0" } }) do
    for _, member in ipairs(redis.call("ZRANGE", times, range[1], range[2], "BYSCORE", "LIMIT", 0, limit + 1)) do
      if member ~= "" and #found < 2 * limit then
        found[#found + 1] = member
        found[#found + 1] = "0"
      end
    end
  end
  return found
end

local function claim_due(times, messages, levels, limit, now, until_ms, claims)
  for i = 1, #levels do
    local left = limit - claims.count
    if left <= 0 or claims.bytes >= MAX_BYTES then return end
    local due = first_of(times, tonumber(string.sub(levels, i, i)), now, left)
    claim(times, messages, due, 1, #due, now, until_ms, claims)
  end
end

-- When the first message is due or the first claim lapses; +inf if there is none.
local function next_of(times, levels)
  return math.min(head_of(times, levels), first_ms_of(times, CLAIMED))
end

local function claim_all(times, messages, levels, limit, now, until_ms, claims)
  local lapsed = first_of(times, CLAIMED, now, limit)
  local half = math.min(#lapsed, 2 * math.ceil(limit / 2))
  claim(times, messages, lapsed, 1, half, now, until_ms, claims)
  claim_due(times, messages, levels, limit, now, until_ms, claims)
  local last = math.min(#lapsed, half + 2 * (limit - claims.count))
  if last > half then claim(times, messages, lapsed, half + 1, last, now, until_ms, claims) end
  if claims.count > 0 or now % LOOK_AROUND_EVERY_MS > 0 then return end
  -- Nothing is due: check the priorities that a damaged @levels may hide.
  local others = string.gsub(EVERY_LEVEL, "[x" .. levels .. "]", "")
  claim_due(times, messages, others, limit, now, until_ms, claims)
  if claims.count > 0 then return end
  claims.is_stray = true
  local strays = strays_of(times, limit)
  claim(times, messages, strays, 1, #strays, now, until_ms, claims)
end

local function step(k, a, now)
  local times, messages = KEYS[k], KEYS[k + 1]
  local known = redis.call("HMGET", messages, "@layout", "@paused", "@levels")
  local refused = mismatch(messages, known[1], ARGV[a])
  if refused then return refused end
  local is_paused, levels = known[2], levels_of(known[3], known[1])
  local members, others, statuses = cmsgpack.unpack(ARGV[a + 1]), cmsgpack.unpack(ARGV[a + 4]), ""
  local limit, until_ms = is_paused and 0 or tonumber(ARGV[a + 5]), now + tonumber(ARGV[a + 6])
  local claims = { count = 0, bytes = 0, parts = {}, moved = {}, gone = {}, died = {} }
  if #members > 0 then
    statuses = keep_done(times, messages, members, ARGV[a + 2], tonumber(ARGV[a + 3]), now, claims.moved)
    if #members >= FORGET_AT or now % FORGET_EVERY_MS == 0 then forget(times, now, #members) end
  end
  if #others > 0 then statuses = statuses .. keep_others(times, messages, others, levels, now) end

  local next_ms = is_paused and math.huge or next_of(times, levels)
  if limit > 0 and (next_ms <= now or now % LOOK_AROUND_EVERY_MS == 0) then
    claim_all(times, messages, levels, limit, now, until_ms, claims)
  end
  if #claims.gone > 0 then redis.call("ZREM", times, spread(claims.gone)) end
  if #claims.moved > 0 then redis.call("ZADD", times, spread(claims.moved)) end

  if claims.count > 0 and claims.count == limit then
    next_ms = now
  elseif (next_ms <= now or claims.count > 0) and not is_paused then
    next_ms = next_of(times, levels)
  end
  if next_ms == math.huge and (statuses ~= "" or #claims.gone > 0) then expire_if_empty(times, messages, now) end
  local listed = claims.parts
  if #claims.died > 0 then
    listed = claims.died
    for i = 1, 4 * claims.count do listed[#listed + 1] = claims.parts[i] end
  end
  local died_count = #listed / 4 - claims.count
  return struct.pack(SETTLED, now, next_ms, #statuses) .. statuses .. struct.pack(DIED, died_count) .. cmsgpack.pack(listed)
end
