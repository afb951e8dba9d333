// What planning asks of answers that are large, so that they need not come to the host. WORD is an unsigned type as
// wide as a number, REAL the number itself; every work-item leaves its own part of what is counted or summed up.

KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void count_no_numbers(GLOBAL const WORD* answer, GLOBAL uint* counts, ulong all,
                                                           ulong mask, ulong infinity) {
  uint count = 0;
  for (ulong i = GLOBAL_ID(0); i < all; i += (ulong)GROUPS(0) * GROUP_ITEMS) {
    count += ((ulong)answer[i] & mask) > infinity ? 1u : 0u;
  }
  counts[GLOBAL_ID(0)] = count;
}

// Runs of `points` values, `step` elements apart, from each of the starts on.
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void gather_runs(GLOBAL const WORD* answer, GLOBAL const ulong* starts,
                                                      GLOBAL WORD* gathered, ulong all, ulong points, ulong step,
                                                      uint numbers) {
  for (ulong i = GLOBAL_ID(0); i < all; i += (ulong)GROUPS(0) * GROUP_ITEMS) {
    const ulong value = i / numbers, element = starts[value / points] + value % points * step;
    gathered[i] = answer[element * numbers + i % numbers];
  }
}

// The largest distance, where it is, and the expected numbers' squares. What is no number is the largest.
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
