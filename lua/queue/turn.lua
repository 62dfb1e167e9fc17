#!lua flags=allow-oom
-- Brings what became of claimed messages, and claims others.
-- A script: a message is done, retried or dead only for whom it is claimed, and never claimed twice at once.
-- KEYS  1 times · 2 messages
-- ARGV  1 layout · 2 MessagePack, an array of member, deliveries, verb, ms and text by turns, up to 1000 of each ·
--       3 most messages to claim, 0..1000 · 4 for how long, ms
-- Verbs d: done, its id is known until ms after it was added · r: waits again, due in ms; text: its priority, a digit, and
--       why · b: waits again, due at once, as if it had not been delivered; text: its priority · x: dead; text: why
-- Reply f64 now · f64 when there is something to claim next, now: perhaps, +inf: not known of · u16 results · u8 for each: 1 kept,
--       0 not claimed by this delivery (stale) · u16 messages · for each u8 deliveries · u8 1 if it lapsed ·
--       f64 when it was due, or lapsed · u32, member · u32, what messages has of it · u32, why it last failed
-- Errors CLASH; nothing was written
-- Law   claimed are first those that lapsed, up to half of what is asked for, then by priority, time and seq; a message
--       after its last delivery is dead. 1 MiB at most, or one message. While the queue is paused nothing is. Who is done is
--       so too if it lapsed for the last time meanwhile. What is retried, and due before all others, is told to those who
--       sleep. What refuses comes before the first write, and the memory that it needs is little: it runs on a full server.
-- Cost  O((results + messages) * log of what is there)
-- @include queue/law
local keys_per_step = 2
local arguments_per_step = 4
local MOST_BYTES = 1048576
local MOST_REMEMBERED = 100000
local AT_A_TIME = 32

local function is_claimed_by(score, deliveries, verb)
  if not score then return false end
  local band, _, its = read_score(tonumber(score))
  return (band == CLAIMED or (band == DEAD and verb == "d")) and its == tonumber(deliveries)
end

-- What is remembered goes with what is claimed, in `moved`.
local function keep_results(times, messages, results, levels, now, moved)
  local members, fates = {}, {}
  for i = 1, #results, 5 do members[#members + 1] = results[i] end
  if #members == 0 then return "" end
  local scores = redis.call("ZMSCORE", times, unpack(members))
  local gone, waiting, fields, errors, seen, first = {}, {}, {}, {}, {}, math.huge
  for i, member in ipairs(members) do
    local deliveries, verb, ms, text = results[5 * i - 3], results[5 * i - 2], tonumber(results[5 * i - 1]), results[5 * i]
    local is_kept = not seen[member] and is_claimed_by(scores[i], deliveries, verb)
    fates[i] = is_kept and "\1" or "\0"
    if is_kept then
      seen[member] = true
      local id = id_of(member)
      if verb == "d" then
        gone[#gone + 1] = member
        fields[#fields + 1] = ":" .. id
        if tonumber(deliveries) > 1 or read_score(tonumber(scores[i])) == DEAD then fields[#fields + 1] = "!" .. id end
        local ends = math.floor(tonumber(string.sub(member, 1, SEQ_DIGITS), 16) / 1000) + ms
        if ends > now then
          moved[#moved + 1] = text_of(score_of(DONE, ends, 0))
          moved[#moved + 1] = "~" .. id
        end
      else
        local band, at = DEAD, now
        if verb ~= "x" then
          band, at, text = tonumber(string.sub(text, 1, 1)), now + ms, string.sub(text, 2)
          first = math.min(first, at)
        end
        waiting[#waiting + 1] = text_of(score_of(band, at, verb == "b" and deliveries - 1 or tonumber(deliveries)))
        waiting[#waiting + 1] = member
        if verb ~= "b" then
          errors[#errors + 1] = "!" .. id
          errors[#errors + 1] = text
        end
      end
    end
  end
  if #gone > 0 then
    redis.call("ZREM", times, unpack(gone))
    redis.call("HDEL", messages, unpack(fields))
  end
  if first < math.huge and first < head_of(times, levels) then tell(times, first) end
  if #waiting > 0 then redis.call("ZADD", times, unpack(waiting)) end
  if #errors > 0 then redis.call("HSET", messages, unpack(errors)) end
  return table.concat(fates)
end

-- Twice as many as may have come, at most.
local function forget(times, now, came)
  local excess = redis.call("ZCOUNT", times, DONE * BAND_SIZE, score_of(DONE, BAND_SIZE, 0)) - MOST_REMEMBERED
  local old = first_of(times, DONE, excess > 0 and BAND_SIZE or now - 1, math.min(math.max(excess, 2 * came), 1000))
  local members = {}
  for i = 1, #old, 2 do members[#members + 1] = old[i] end
  if #members > 0 then redis.call("ZREM", times, unpack(members)) end
end

-- Claims what was found, until it is 1 MiB; what of it is not to be delivered any more is dead.
local function claim(times, messages, found, lapses, now, claims)
  for from = 1, #found, 2 * AT_A_TIME do
    if claims.bytes >= MOST_BYTES then return end
    local to, fields, place = math.min(from + 2 * AT_A_TIME - 1, #found), {}, 0
    local since, deliveries = {}, {}
    for i = from, to, 2 do
      local id, _ = id_of(found[i])
      fields[#fields + 1] = ":" .. id
      _, since[i], deliveries[i] = read_score(tonumber(found[i + 1]))
      if deliveries[i] > 0 then fields[#fields + 1] = "!" .. id end
    end
    local values = redis.call("HMGET", messages, unpack(fields))
    for i = from, to, 2 do
      place = place + 1
      local member, value, why, count = found[i], values[place], "", deliveries[i]
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
        claims.moved[#claims.moved + 1] = text_of(score_of(CLAIMED, claims.until_ms, count + 1))
        claims.moved[#claims.moved + 1] = member
        claims.count = claims.count + 1
        claims.parts[claims.count] = struct.pack("<BBdI4c0I4c0I4c0", count + 1, lapses and 1 or 0, since[i], #member, member,
          #value, value, #why, why)
      else
        claims.bytes = MOST_BYTES
        return
      end
    end
  end
end

local function first_claimed(times)
  local _, score = unpack(first_of(times, CLAIMED, BAND_SIZE, 1))
  if not score then return math.huge end
  local _, ms = read_score(tonumber(score))
  return ms
end

local function step(k, a, now)
  local times, messages, layout = KEYS[k], KEYS[k + 1], ARGV[a]
  local results, most, visibility = cmsgpack.unpack(ARGV[a + 1]), tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local known = redis.call("HMGET", messages, "@layout", "@paused", "@levels")
  local refused = clash(known[1], layout)
  if refused then return refused end
  local levels = known[3] or ""
  local claims = { count = 0, bytes = 0, parts = {}, moved = {}, gone = {}, until_ms = now + visibility }
  local fates = keep_results(times, messages, results, levels, now, claims.moved)
  if #claims.moved > 0 then forget(times, now, #fates) end

  if known[2] then most = 0 end
  local lapse_ms = first_claimed(times)
  if most > 0 and lapse_ms <= now then
    claim(times, messages, first_of(times, CLAIMED, now, math.ceil(most / 2)), true, now, claims)
  end
  for i = 1, #levels do
    local left = most - claims.count
    if left <= 0 or claims.bytes >= MOST_BYTES then break end
    claim(times, messages, first_of(times, tonumber(string.sub(levels, i, i)), now, left), false, now, claims)
  end
  if #claims.gone > 0 then redis.call("ZREM", times, unpack(claims.gone)) end
  if #claims.moved > 0 then redis.call("ZADD", times, unpack(claims.moved)) end

  local next_ms = math.huge
  if claims.count > 0 and claims.count == most then
    next_ms = now
  elseif not known[2] then
    if claims.count > 0 or lapse_ms <= now then lapse_ms = first_claimed(times) end
    next_ms = math.min(head_of(times, levels), lapse_ms)
  end
  return struct.pack("<ddI2", now, next_ms, #fates) .. fates .. struct.pack("<I2", claims.count) .. table.concat(claims.parts)
end
