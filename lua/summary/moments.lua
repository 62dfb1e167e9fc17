-- Computes counts, extrema and sums of n values, and moves the numbers (all but NaN) to the front. Bit-equal to its twin,
-- src/journal/steps/server-moments.ts. The sum of the finite values is a double-double (TwoSum in journal order). M2 is taken
-- about the rounded mean and corrected for it (Chan, Golub, LeVeque 1983), in blocks of 128. If the sum leaves the range of
-- f64, everything is computed again, scaled down by 2^540.

local function sums(values, numbers, finite, scale)
  local high, low = 0, 0
  for i = 1, numbers do
    local x = values[i] * scale
    if x - x == 0 then
      local next = high + x
      local part = next - high
      low = low + ((high - (next - part)) + (x - part))
      high = next
    end
  end
  local about, squares, apart = high / finite, 0, 0
  for from = 1, numbers, 128 do
    local some, off = 0, 0
    for i = from, math.min(from + 127, numbers) do
      local d = values[i] * scale - about
      if d - d == 0 then
        some = some + d * d
        off = off + d
      end
    end
    squares, apart = squares + some, apart + off
  end
  return high, low, squares - apart * apart / finite
end

local function moments(values, n)
  local numbers, infinite, negative_infinite, min, max = 0, 0, 0, math.huge, -math.huge
  for i = 1, n do
    local x = values[i]
    if x == x then
      numbers = numbers + 1
      values[numbers] = x
      if x < min then min = x end
      if x > max then max = x end
      if x - x ~= 0 then
        if x > 0 then infinite = infinite + 1 else negative_infinite = negative_infinite + 1 end
      end
    end
  end
  local finite, scale = numbers - infinite - negative_infinite, 1
  local high, low, m2 = 0, 0, 0
  if finite > 0 then
    high, low, m2 = sums(values, numbers, finite, 1)
    if high - high ~= 0 then
      scale = DOWNSCALED
      high, low, m2 = sums(values, numbers, finite, scale)
    end
  end
  return numbers, infinite, negative_infinite, min, max, high, low, m2, scale
end
