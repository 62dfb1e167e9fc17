-- Adds up the events of a window: their number, NaN and infinities among them, least and greatest number, and the sum of the finite ones
-- as a double-double (TwoSum). -0 is below +0. Twin: Accumulator in src/engine/stats/runs/run.ts.
local function new_tally()
  return { count = 0, nan_count = 0, positive_infinity_count = 0, negative_infinity_count = 0, min = math.huge, max = -math.huge,
    sum_high = 0, sum_low = 0 }
end

-- Adds the first `n` values.
local function add_values(tally, values, n)
  local nan, plus, minus, min, max, high, low = 0, 0, 0, tally.min, tally.max, tally.sum_high, tally.sum_low
  for i = 1, n do
    local x = values[i]
    if x - x == 0 then
      local next = high + x
      local part = next - high
      low = low + ((high - (next - part)) + (x - part))
      high = next
    elseif x ~= x then nan = nan + 1
    elseif x > 0 then plus = plus + 1
    else minus = minus + 1 end
    if x <= min and (x < min or 1 / x < 0) then min = x end
    if x >= max and (x > max or 1 / x > 0) then max = x end
  end
  tally.count, tally.nan_count = tally.count + n, tally.nan_count + nan
  tally.positive_infinity_count = tally.positive_infinity_count + plus
  tally.negative_infinity_count = tally.negative_infinity_count + minus
  tally.min, tally.max, tally.sum_high, tally.sum_low = min, max, high, low
end

-- Adds the statistics of a chunk or a block, as a tally has them.
local function add_part(tally, part)
  tally.count, tally.nan_count = tally.count + part.count, tally.nan_count + part.nan_count
  tally.positive_infinity_count = tally.positive_infinity_count + part.positive_infinity_count
  tally.negative_infinity_count = tally.negative_infinity_count + part.negative_infinity_count
  if part.min <= tally.min and (part.min < tally.min or 1 / part.min < 0) then tally.min = part.min end
  if part.max >= tally.max and (part.max > tally.max or 1 / part.max > 0) then tally.max = part.max end
  local high = tally.sum_high + part.sum_high
  local added = high - tally.sum_high
  tally.sum_low = tally.sum_low + (tally.sum_high - (high - added)) + (part.sum_high - added) + part.sum_low
  tally.sum_high = high
end

-- (high + low) / count, correctly rounded except for rare ties. Twin: meanOf in src/engine/kernel/double-double.ts.
local function mean_of(high, low, count)
  if math.abs(high) > 2 ^ 990 then return mean_of(high * 2 ^ -64, low * 2 ^ -64, count) * 2 ^ 64 end
  local quotient = high / count
  local product = quotient * count
  -- Dekker's product: the halves of both factors have 26 bits.
  local q_high = 134217729 * quotient - (134217729 * quotient - quotient)
  local c_high = 134217729 * count - (134217729 * count - count)
  local q_low, c_low = quotient - q_high, count - c_high
  local lost = q_low * c_low - (product - q_high * c_high - q_low * c_high - q_high * c_low)
  return quotient + (high - product - lost + low) / count
end
