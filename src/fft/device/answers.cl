// Checks results of device transforms on the device, so that large arrays need not be copied to the host. WORD is an
// unsigned type as wide as a number, REAL the number itself. Every work-item stores its own partial count or sum.

KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void count_nan(GLOBAL const WORD* answer, GLOBAL uint* counts, ulong all,
                                                           ulong mask, ulong infinity) {
  uint count = 0;
  for (ulong i = GLOBAL_ID(0); i < all; i += (ulong)GROUPS(0) * GROUP_ITEMS) {
    count += ((ulong)answer[i] & mask) > infinity ? 1u : 0u;
  }
  counts[GLOBAL_ID(0)] = count;
}

// Gathers runs of `points` values, `step` elements apart, from each start.
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void gather_runs(GLOBAL const WORD* answer, GLOBAL const ulong* starts,
                                                      GLOBAL WORD* gathered, ulong all, ulong points, ulong step,
                                                      uint numbers) {
  for (ulong i = GLOBAL_ID(0); i < all; i += (ulong)GROUPS(0) * GROUP_ITEMS) {
    const ulong value = i / numbers, element = starts[value / points] + value % points * step;
    gathered[i] = answer[element * numbers + i % numbers];
  }
}

// Finds the largest absolute difference and its index, and sums the squares of the expected values. NaN counts as
// largest.
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void differ_most(GLOBAL const REAL* answer, GLOBAL const REAL* expected,
                                                      GLOBAL REAL* distances, GLOBAL ulong* places,
                                                      GLOBAL REAL* squares, ulong all) {
  REAL most = 0, sum = 0;
  ulong place = 0;
  int number = 1;
  for (ulong i = GLOBAL_ID(0); i < all; i += (ulong)GROUPS(0) * GROUP_ITEMS) {
    const REAL wanted = expected[i], apart = answer[i] - wanted, distance = apart < 0 ? -apart : apart;
    if (number && !(distance <= most)) {
      most = distance;
      place = i;
      number = distance == distance;
    }
    sum += wanted * wanted;
  }
  distances[GLOBAL_ID(0)] = most;
  places[GLOBAL_ID(0)] = place;
  squares[GLOBAL_ID(0)] = sum;
}
