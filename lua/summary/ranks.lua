-- Partially sorts values[low .. high], so that the places from .. to have the values that a full sort would put there.
-- Hoare's FIND (1961). It continues on both sides of a cut that falls between `from` and `to`. The pivot is the median of three
-- random values. Nobody can predict them, so no data makes it quadratic.
local function place(values, low, high, from, to)
  while high - low > 12 do
    local a, b, c = values[math.random(low, high)], values[math.random(low, high)], values[math.random(low, high)]
    local pivot = math.max(math.min(a, b), math.min(math.max(a, b), c))
    local i, j = low, high
    while i <= j do
      while values[i] < pivot do i = i + 1 end
      while values[j] > pivot do j = j - 1 end
      if i <= j then
        values[i], values[j] = values[j], values[i]
        i, j = i + 1, j - 1
      end
    end
    if from <= j then
      if to >= i then place(values, i, high, i, to) end
      high = j
    elseif to >= i then low = i
    else return end
  end
  for i = low + 1, high do
    local x, j = values[i], i - 1
    while j >= low and values[j] > x do
      values[j + 1] = values[j]
      j = j - 1
    end
    values[j + 1] = x
  end
end
