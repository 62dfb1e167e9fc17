#!lua
-- Takes a lock for a token, unless another holds it or it is promised to another, and gives the hold's fence.
-- A script: the fence rises in the step that takes the lock, so that the order of fences is the order of holds.
-- KEYS  1 the lock: its holder's token, as redis-semaphore's Mutex keeps it · 2 the fence given last, in decimal
--       3 who waits for it
-- ARGV  1 token · 2 lease, ms · 3 id of the process, if it waits when it is refused, or nothing
-- Reply u8 1, f64 fence: held until now + lease at least; u8 0, f64 ms after which to look again: refused
-- Law   fence = max(the last + 1, now in us): it rises without its key too, unless the clock falls back. Its key
--       expires a week after the clock has passed it. Repeating a call gives the same fence and shortens nothing.
--       Refused with an id: the process has a place among those who wait, behind those who came before, and loses it
--       when it does not ask for 10 s. With the lock its place goes. A promise binds those who ask here: it is no hold.
--       A lock that is free without a release (its lease ran out) is promised to the first by the first that asks. A
--       promise that was not taken up goes to whom it was made, if it asks; else on to the first of those that have asked
--       since; else to who asks.
--       A holder whose token is not "oriel:..." tells nobody when it goes: look again in 100 ms at the latest.
-- Cost  O(places)
-- @include lock/law
local keys_per_step = 3
local arguments_per_step = 3

-- Made where somebody waits only: each function costs as much as a key's read.
local function queue_functions()
-- @include lock/hand-on
  -- Who takes a lock that was promised in vain before it may be taken by `id`: the places with it in front, or nothing.
  local function in_front(queue, places, id, promised)
    local since = promised - PROMISE_MS + PLACE_LIFE_MS
    for at = 1, #places, PLACE_LENGTH do
      local place = string.sub(places, at, at + PLACE_LENGTH - 1)
      if string.sub(place, 1, ID_LENGTH) == id then return nil end
      if ms_in(queue, place, ID_LENGTH + 1) >= since then
        return place .. string.sub(places, 1, at - 1) .. string.sub(places, at + PLACE_LENGTH)
      end
    end
  end

  -- For a free lock: until when it is promised to another than `id`, or nothing. Made here, where nobody has yet.
  local function kept_for_another(lock, queue, text, promised, called, places, id, now)
    if promised >= now then return string.sub(places, 1, ID_LENGTH) ~= id and promised end
    local before = tonumber(string.sub(text, 1, 13))
    if before > now + PROMISE_MS then before = 0 end
    if before > 0 then
      if id ~= "" and string.sub(text, HEAD_LENGTH + 1, HEAD_LENGTH + ID_LENGTH) == id then return nil end
      places = in_front(queue, places, id, before)
    end
    if not places or places == "" or string.sub(places, 1, ID_LENGTH) == id then return nil end
    if id ~= "" then places = with(places, id, now) end
    hand_on(lock, queue, called, places, now, false)
    return now + PROMISE_MS
  end
  return read_queue, write_queue, without, write_with, kept_for_another
end

local function step(k, a, now)
  local lock, last, queue = KEYS[k], KEYS[k + 1], KEYS[k + 2]
  local token, lease, id = ARGV[a], tonumber(ARGV[a + 1]), ARGV[a + 2]
-- @include lock/holder
  local text = redis.call("GET", queue)
  local promised, called, places, is_as_read, read_queue, write_queue, without, write_with, kept_for_another = 0, 0, ""
  if text or (holder and holder ~= token) then
    read_queue, write_queue, without, write_with, kept_for_another = queue_functions()
    promised, called, places, is_as_read = read_queue(queue, text, now)
    local look_again
    if holder and holder ~= token then
      look_again = expiry < 0 and STRANGER_MS or expiry - now + 1
      if string.sub(holder, 1, 6) ~= "oriel:" then look_again = math.min(look_again, STRANGER_MS) end
    elseif not holder then
      local kept = kept_for_another(lock, queue, text, promised, called, places, id, now)
      if kept and promised < now then return struct.pack("<Bd", 0, kept - now + 1) end
      look_again = kept and kept - now + 1
    end
    if look_again then
      if id ~= "" then write_with(queue, promised, called, places, is_as_read, id, now) end
      return struct.pack("<Bd", 0, look_again)
    end
  end

  local before = redis.call("GET", last)
  local fence = string.match(before or "0", "^%d+$") and tonumber(before or 0)
  if not fence or fence >= LARGEST_FENCE then
    return refuse("CORRUPT", 'the value of the key "' .. last .. '" is damaged: the last fence is no whole number below 2^53 - 1')
  end
  if not (holder and before) then fence = math.max(fence + 1, now * 1000) end
  -- Lua writes numbers above 10^14 with an exponent.
  redis.call("SET", last, string.format("%.0f", fence), "PXAT", "" .. math.ceil(fence / 1000) + FENCE_LIFE_MS)
  redis.call("SET", lock, token, "PXAT", "" .. math.max(now + lease, expiry or 0))
  if not holder and places ~= "" then
    write_queue(queue, 0, called, id == "" and places or without(places, id), now)
  end
  return struct.pack("<Bd", 1, fence)
end
