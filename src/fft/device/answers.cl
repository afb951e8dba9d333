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

#ifdef SUMS
// Sums of a line's values times roots of unity, values[i] exp(sign 2 pi i wanted n / length): one value of the line's
// transform in double. Work-groups along the second axis each sum `part` values of a line. A root is advanced by
// products 16 times, then computed again.
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void line_sums(GLOBAL const REAL* values, GLOBAL const ulong* starts,
                                                    GLOBAL const ulong* wanted, GLOBAL double* sums, ulong length,
                                                    ulong points, ulong step, ulong part, uint numbers, double sign) {
  LOCAL_ARRAY(double, all_re, GROUP_ITEMS);
  LOCAL_ARRAY(double, all_im, GROUP_ITEMS);
  const int item = LOCAL_ID(0);
  const ulong start = starts[GROUP_ID(0)], frequency = wanted[GROUP_ID(0)];
  const ulong begin = GROUP_ID(1) * part, end = begin + part < points ? begin + part : points;
  const double unit = 2.0 / (double)length, advance = unit * (double)(frequency * GROUP_ITEMS % length);
  const double advance_re = cospi(advance), advance_im = sign * sinpi(advance);
  double sum_re = 0, sum_im = 0;
  for (ulong first = begin + item; first < end; first += 16 * GROUP_ITEMS) {
    const double angle = unit * (double)(frequency * first % length);
    double re = cospi(angle), im = sign * sinpi(angle);
    for (ulong i = first; i < end && i < first + 16 * GROUP_ITEMS; i += GROUP_ITEMS) {
      const ulong at = (start + i * step) * numbers;
      const double value_re = values[at], value_im = numbers == 2 ? (double)values[at + numbers - 1] : 0.0;
      sum_re += value_re * re - value_im * im;
      sum_im += value_re * im + value_im * re;
      const double next = re * advance_re - im * advance_im;
      im = re * advance_im + im * advance_re;
      re = next;
    }
  }
  all_re[item] = sum_re;
  all_im[item] = sum_im;
  for (int apart = GROUP_ITEMS / 2; apart > 0; apart /= 2) {
    BARRIER();
    if (item < apart) {
      all_re[item] += all_re[item + apart];
      all_im[item] += all_im[item + apart];
    }
  }
  if (item == 0) {
    const ulong sum = (ulong)GROUP_ID(0) * GROUPS(1) + GROUP_ID(1);
    sums[2 * sum] = all_re[0];
    sums[2 * sum + 1] = all_im[0];
  }
}
#endif
