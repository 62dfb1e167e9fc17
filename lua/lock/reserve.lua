-- The functions of the steps that acquire a lock, for when processes wait. Twin: src/lock/steps/reservation.ts.
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
  return read_queue, write_queue, without, write_with, reserve_for_another, notify_next
end
