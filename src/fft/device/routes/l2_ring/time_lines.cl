// Latencies of first reads: one work-group writes cache lines for all compute units, then each unit times its own.

KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void write_lines(GLOBAL uint* lines) {
  for (uint i = LOCAL_ID(0); i < UNITS * LINES; i += GROUP_ITEMS) lines[i * LINE_WORDS] = i;
}
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void time_lines(GLOBAL const uint* lines, GLOBAL uint* sums, uint round) {
  LOCAL_BLOCK(uint, seen, 1);
  if (LOCAL_ID(0) != 0) return;
  const uint unit = COMPUTE_UNIT_ID() % UNITS;
  uint sum = 0;
  for (uint i = 0; i < LINES; ++i) sum += TIMED_LOAD(lines + (unit * LINES + i) * LINE_WORDS, seen);
  const uint before = ATOMIC_ADD(sums + UNITS + unit, 1u);
  if (round >= IDLE_ROUNDS && before == round) sums[unit] += sum;  // the first group on this unit
}
