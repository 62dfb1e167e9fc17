#!lua flags=allow-oom
-- Brings what became of claimed messages, and claims others.
-- A script: a message is done, retried or dead only for whom it is claimed, and never claimed twice at once.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 MessagePack, an array of members that are done · 3 their deliveries, u8 each · 4 for how long their ids
--       are known after they were added, ms · 5 MessagePack, an array of member, deliveries, verb, ms and text by turns,
--       what became of others · 6 most messages to claim · 7 for how long, ms; up to 1000 of each
-- Verbs r: waits again, due in ms; text: its priority, a digit, and why · b: waits again, due at once, as if it had not been
--       delivered; text: its priority · x: dead; text: why
-- Reply f64 now · f64 when there is something to claim next, now: perhaps, +inf: not known of · u16 results · u8 for each, those
--       that are done first: 1 kept, 0 not claimed by this delivery (stale), 2 nor kept, but it is as this would leave it: a
--       call before has brought it · MessagePack, an array of what is claimed: member, its score before, what messages has of
--       it, and why it last failed, by turns
-- Errors CLASH; nothing was written
-- Law   claimed are first those that lapsed, up to half of what is asked for, then by priority, time and seq; a message
--       after its last delivery is dead. 1 MiB at most, or one message. While the queue is paused nothing is. Who is done is
--       so too if it lapsed for the last time meanwhile. What is retried, and due before all others, is told to those who
--       sleep. What refuses comes before the first write, and the memory that it needs is little: it runs on a full server.
-- Cost  O((results + messages) * log of what is there)
-- @include queue/law
local keys_per_step = 2
local arguments_per_step = 7
local MOST_BYTES, MOST_REMEMBERED = 1048576, 100000
local AT_A_TIME = 32
-- A prime, so that nothing that comes regularly misses it.
local FORGET_EVERY_MS, FORGET_AT = 17, 16

-- Of a message that is gone: "\2" unless another delivery is known to have done it.
local function fate_of_gone(times, id, delivery)
  local ended = redis.call("ZSCORE", times, "~" .. id)
  return ended and tonumber(ended) % DELIVERIES_SIZE ~= delivery and "\0" or "\2"
end

-- What is remembered goes with what is claimed, in `moved`.
local function keep_done(times, messages, members, deliveries, remember, now, moved)
  local scores = redis.call("ZMSCORE", times, unpack(members))
  local fates, gone, fields, seen, count = {}, {}, {}, {}, 0
  local from, to = score_of(CLAIMED, 0, 0), score_of(DEAD + 1, 0, 0)
  for i, member in ipairs(members) do
    local score, delivery = tonumber(scores[i] or "0"), string.byte(deliveries, i)
    local is_kept = score >= from and score < to and score % DELIVERIES_SIZE == delivery and not seen[member]
    fates[i] = is_kept and "\1" or scores[i] and "\0" or fate_of_gone(times, id_of(member), delivery)
    if is_kept then
      seen[member] = true
      local id = string.sub(member, SEQ_DIGITS + 1)
      count = count + 1
      gone[count] = member
      fields[#fields + 1] = ":" .. id
      if delivery > 1 or score >= score_of(DEAD, 0, 0) then fields[#fields + 1] = "!" .. id end
      local ends = math.floor(tonumber(string.sub(member, 1, SEQ_DIGITS), 16) / 1000) + remember
      if ends > now then
        moved[#moved + 1] = text_of(score_of(DONE, ends, delivery))
        moved[#moved + 1] = "~" .. id
      end
    end
  end
  if count > 0 then
    redis.call("ZREM", times, unpack(gone))
    redis.call("HDEL", messages, unpack(fields))
  end
  return table.concat(fates)
end

local function keep_others(times, messages, results, levels, now)
  local members, fates, waiting, errors, seen, first = {}, {}, {}, {}, {}, math.huge
  for i = 1, #results, 5 do members[#members + 1] = results[i] end
  local scores = redis.call("ZMSCORE", times, unpack(members))
  for i, member in ipairs(members) do
    local deliveries, verb = tonumber(results[5 * i - 3]), results[5 * i - 2]
    local ms, text = tonumber(results[5 * i - 1]), results[5 * i]
    local band, _, its = read_score(tonumber(scores[i] or "0"))
    local is_kept = band == CLAIMED and its == deliveries and not seen[member]
    local is_so = verb == "x" and band == DEAD and its == deliveries and not seen[member]
    fates[i] = is_kept and "\1" or is_so and "\2" or "\0"
    if is_kept then
      seen[member] = true
      local at
      band, at = DEAD, now
      if verb ~= "x" then
        band, at, text = tonumber(string.sub(text, 1, 1)), now + ms, string.sub(text, 2)
        first = math.min(first, at)
      end
      waiting[#waiting + 1] = text_of(score_of(band, at, verb == "b" and deliveries - 1 or deliveries))
      waiting[#waiting + 1] = member
      if verb ~= "b" then
        errors[#errors + 1] = "!" .. id_of(member)
        errors[#errors + 1] = text
      end
    end
  end
  if first < math.huge and first < head_of(times, levels) then tell(times, first) end
  if #waiting > 0 then redis.call("ZADD", times, unpack(waiting)) end
  if #errors > 0 then redis.call("HSET", messages, unpack(errors)) end
  return table.concat(fates)
end

-- Twice as many as may have come since, at most.
local function forget(times, now, came)
  local excess = redis.call("ZCOUNT", times, score_of(DONE, 0, 0), score_of(DONE, BAND_SIZE, DELIVERIES_SIZE - 1)) - MOST_REMEMBERED
  local most = math.min(math.max(excess, 2 * FORGET_EVERY_MS * came), 1000)
  local old, members = first_of(times, DONE, excess > 0 and BAND_SIZE or now - 1, most), {}
  for i = 1, #old, 2 do members[#members + 1] = old[i] end
  if #members > 0 then redis.call("ZREM", times, unpack(members)) end
end

-- Claims what was found, until it is 1 MiB; what of it is not to be delivered any more is dead.
local function claim(times, messages, found, now, until_ms, claims)
  for from = 1, #found, 2 * AT_A_TIME do
    if claims.bytes >= MOST_BYTES then return end
    local to, fields, deliveries, place = math.min(from + 2 * AT_A_TIME - 1, #found), {}, {}, 0
    for i = from, to, 2 do
      local id, count = string.sub(found[i], SEQ_DIGITS + 1), tonumber(found[i + 1]) % DELIVERIES_SIZE
      deliveries[i] = count
      fields[#fields + 1] = ":" .. id
      if count > 0 then fields[#fields + 1] = "!" .. id end
    end
    local values = redis.call("HMGET", messages, unpack(fields))
    for i = from, to, 2 do
      local member, count, why = found[i], deliveries[i], ""
      place = place + 1
      local value = values[place]
      if count > 0 then
        place = place + 1
        why = values[place] or ""
      end
      if not value then
        claims.gone[#claims.gone + 1] = member
      elseif count >= string.byte(value, SEQ_DIGITS + 1) then
        claims.moved[#claims.moved + 1] = text_of(score_of(DEAD, now, count))
        claims.moved[#claims.moved + 1] = member
        if why == "" then redis.call("HSET", messages, "!" .. id_of(member), "lapsed") end
      elseif claims.bytes == 0 or claims.bytes + #value <= MOST_BYTES then
        claims.bytes = claims.bytes + #value
        claims.moved[#claims.moved + 1] = text_of(score_of(CLAIMED, until_ms, count + 1))
        claims.moved[#claims.moved + 1] = member
        local parts, at = claims.parts, 4 * claims.count
        claims.count = claims.count + 1
        parts[at + 1], parts[at + 2], parts[at + 3], parts[at + 4] = member, found[i + 1], value, why
      else
        claims.bytes = MOST_BYTES
        return
      end
    end
  end
end

local function step(k, a, now)
  local times, messages = KEYS[k], KEYS[k + 1]
  local known = redis.call("HMGET", messages, "@layout", "@paused", "@levels")
  local refused = clash(known[1], ARGV[a])
  if refused then return refused end
  local is_paused, levels = known[2], known[3] or ""
  local members, others, fates = cmsgpack.unpack(ARGV[a + 1]), cmsgpack.unpack(ARGV[a + 4]), ""
  local most, until_ms = is_paused and 0 or tonumber(ARGV[a + 5]), now + tonumber(ARGV[a + 6])
  local claims = { count = 0, bytes = 0, parts = {}, moved = {}, gone = {} }
  if #members > 0 then
    fates = keep_done(times, messages, members, ARGV[a + 2], tonumber(ARGV[a + 3]), now, claims.moved)
    if #members >= FORGET_AT or now % FORGET_EVERY_MS == 0 then forget(times, now, #members) end
  end
  if #others > 0 then fates = fates .. keep_others(times, messages, others, levels, now) end

  if most > 0 then
    claim(times, messages, first_of(times, CLAIMED, now, math.ceil(most / 2)), now, until_ms, claims)
    for i = 1, #levels do
      local left = most - claims.count
      if left <= 0 or claims.bytes >= MOST_BYTES then break end
      claim(times, messages, first_of(times, tonumber(string.sub(levels, i, i)), now, left), now, until_ms, claims)
    end
  end
  if #claims.gone > 0 then redis.call("ZREM", times, unpack(claims.gone)) end
  if #claims.moved > 0 then redis.call("ZADD", times, unpack(claims.moved)) end

  local next_ms = math.huge
  if claims.count > 0 and claims.count == most then
    next_ms = now
  elseif not is_paused then
    next_ms = math.min(head_of(times, levels), first_ms_of(times, CLAIMED))
  end
  return struct.pack("<ddI2", now, next_ms, #fates) .. fates .. cmsgpack.pack(claims.parts)
end
