// Latencies of a ring's pages: compute units of the first partition write one word in some blocks of every page; units
// of the second one time the first read of them. ranks: rank of each unit in its partition, then the number of units per
// partition.

FUNCTION uint block_of(uint i) { return ((i >> 1) * 74u % 512u) ^ (i & 1u); }
FUNCTION uint swapped(uint block) { return (block ^ block >> 1 ^ block >> 3 ^ block >> 5 ^ block >> 7) & 1u; }
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void write_pages(GLOBAL uint* ring, GLOBAL const uint* units,
                                                      GLOBAL const uint* ranks, uint pages, uint round) {
  const uint unit = COMPUTE_UNIT_ID() % UNITS;
  if (units[3 + unit] != 0) return;
  for (uint page = ranks[unit]; page < pages; page += ranks[UNITS]) {
    for (uint i = LOCAL_ID(0); i < BLOCKS; i += GROUP_ITEMS) ring[page * 524288u + block_of(i) * 1024u] = round;
  }
}
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void time_pages(GLOBAL const uint* ring, GLOBAL const uint* units,
                                                     GLOBAL const uint* ranks, uint pages, uint round,
                                                     GLOBAL uint* sums) {
  LOCAL_BLOCK(uint, seen, 1);
  const uint unit = COMPUTE_UNIT_ID() % UNITS;
  if (LOCAL_ID(0) != 0 || units[3 + unit] == 0) return;
  for (uint page = ranks[unit]; page < pages; page += ranks[UNITS + 1]) {
    uint even = 0, odd = 0;
    TIMED_LOAD(ring + page * 524288u + 64u, seen);  // the page's address
    for (uint i = 0; i < BLOCKS; ++i) {
      const uint block = block_of(i), cycles = TIMED_LOAD(ring + page * 524288u + block * 1024u, seen);
      if (swapped(block) != 0) {
        odd += cycles;
      } else {
        even += cycles;
      }
    }
    if (round == 0) continue;
    ATOMIC_ADD(sums + 2 * page, even);
    ATOMIC_ADD(sums + 2 * page + 1, odd);
  }
}
