#!lua
-- Acquires a lock for a token, unless it is held by or reserved for another, and returns the hold's fence.
-- One atomic step: the fence rises with the hold, so the order of fences is the order of holds.
-- KEYS  1 the lock: its holder's token, as redis-semaphore's Mutex stores it · 2 the last fence, in decimal
--       3 the queue of waiting processes
-- ARGV  1 token · 2 lease, ms · 3 id of the process if it waits after a refusal, else empty
-- Reply ACQUIRED. Acquired: the lock is held at least until now + lease
-- Law   fence = max(last + 1, now in us). It rises even if its key is missing, unless the clock is set back. Its key
--       expires a week after the end of the fence's day (UTC), so its expiry is written once a day. A repeated call returns
--       the same fence and shortens nothing.
--       A process that is refused with an id gets a place at the end of the queue. It loses the place if it does not ask
--       for 10 s, and when it gets the lock. A reservation binds the callers of this step only.
--       If a lock is free without a release (its lease ended), the first request reserves it for the first process in the
--       queue. After a missed reservation the lock goes to its owner, if that asks; else to the first process that has asked
--       since; else to the caller.
--       A holder whose token does not begin with "oriel:" publishes no release, so waiters retry within 100 ms.
-- Cost  O(places)
-- @include layouts/lock
local keys_per_step = 3
local arguments_per_step = 3

-- Defined only if processes wait, because each definition of a function costs as much as a read of a key.
local function queue_functions()
-- @include lock/notify-next
  -- The places after a missed reservation, led by the first process that has asked since; nil if that is `id`, or none has.
  local function next_in_time(queue, places, id, reserved)
    local since = reserved - RESERVATION_MS + PLACE_LIFE_MS
    for at = 1, #places, PLACE_LENGTH do
      local place = string.sub(places, at, at + PLACE_LENGTH - 1)
      if string.sub(place, 1, ID_LENGTH) == id then return nil end
      if ms_in(queue, place, ID_LENGTH + 1) >= since then
        return place .. string.sub(places, 1, at - 1) .. string.sub(places, at + PLACE_LENGTH)
      end
    end
  end

  -- Until when a free lock is reserved for a process other than `id`; nil if it is not. Makes the reservation if needed.
  local function reserve_for_another(lock, queue, text, reserved, noticed, places, id, now)
    if reserved >= now then return string.sub(places, 1, ID_LENGTH) ~= id and reserved end
    local before = tonumber(string.sub(text, 1, 13))
    if before > now + RESERVATION_MS then before = 0 end
    if before > 0 then
      if id ~= "" and string.sub(text, HEAD_LENGTH + 1, HEAD_LENGTH + ID_LENGTH) == id then return nil end
      places = next_in_time(queue, places, id, before)
    end
    if not places or places == "" or string.sub(places, 1, ID_LENGTH) == id then return nil end
    if id ~= "" then places = with(places, id, now) end
    notify_next(lock, queue, noticed, places, now, false)
    return now + RESERVATION_MS
  end
  return read_queue, write_queue, without, write_with, reserve_for_another
end

local function step(k, a, now)
  local call = redis.call
  local lock, last, queue = KEYS[k], KEYS[k + 1], KEYS[k + 2]
  local token, lease, id = ARGV[a], tonumber(ARGV[a + 1]), ARGV[a + 2]
-- @include lock/holder
  local text = call("GET", queue)
  local reserved, noticed, places, is_as_read, read_queue, write_queue, without, write_with, reserve_for_another = 0, 0, ""
  if text or (holder and holder ~= token) then
    read_queue, write_queue, without, write_with, reserve_for_another = queue_functions()
    reserved, noticed, places, is_as_read = read_queue(queue, text, now)
    local retry_in
    if holder and holder ~= token then
      retry_in = expiry < 0 and FOREIGN_POLL_MS or expiry - now + 1
      if string.sub(holder, 1, 6) ~= "oriel:" then retry_in = math.min(retry_in, FOREIGN_POLL_MS) end
    elseif not holder then
      local kept = reserve_for_another(lock, queue, text, reserved, noticed, places, id, now)
      if kept and reserved < now then return struct.pack(ACQUIRED, STATUS_REFUSED, kept - now + 1) end
      retry_in = kept and kept - now + 1
    end
    if retry_in then
      if id ~= "" then write_with(queue, reserved, noticed, places, is_as_read, id, now) end
      return struct.pack(ACQUIRED, STATUS_REFUSED, retry_in)
    end
  end

  local before = call("GET", last)
  local fence = string.match(before or "0", "^%d+$") and tonumber(before or 0)
  if not fence or fence >= MAX_FENCE then
    return refuse("CORRUPT", 'the value of the key "' .. last .. '" is damaged: the last fence is not an integer below 2^53 - 1')
  end
  if not (holder and before) then
    local raised = math.max(fence + 1, now * 1000)
    local day = math.floor(raised / DAY_US)
    -- INCRBY changes the number in place and leaves the expiry: half the cost of SET. Lua writes numbers above 10^14 with
    -- an exponent.
    if before and math.floor(fence / DAY_US) == day then
      call("INCRBY", last, string.format("%.0f", raised - fence))
    else
      call("SET", last, string.format("%.0f", raised), "PXAT", string.format("%.0f", (day + 1) * DAY_MS + FENCE_LIFE_MS))
    end
    fence = raised
  end
  call("SET", lock, token, "PXAT", "" .. math.max(now + lease, expiry or 0))
  if not holder and places ~= "" then
    write_queue(queue, 0, noticed, id == "" and places or without(places, id), now)
  end
  return struct.pack(ACQUIRED, STATUS_ACQUIRED, fence)
end
