// Sorting of many points, whose records would be written to places all over the memory: records are moved to parts of
// `keys` consecutive keys first, and each part, which fits the second-level cache, is sorted by one work-group.
#define PART_GROUP 512
#define PART_POINTS 24 /* most points of a part per work-item */
#define SLICE (WIDE ? 16 : 32) /* points per work-item of count_parts and fill_parts */
#define MOST_PARTS 4096
#define MOST_KEYS 2048 /* of a part */

// Counts the points per part. `bad` as in count_points.
KERNEL WORK_GROUP(PART_GROUP, 1, 1)
void count_parts(GLOBAL const NUMBER* RESTRICT x, GLOBAL const NUMBER* RESTRICT y, GLOBAL const NUMBER* RESTRICT z,
                 GLOBAL uint* RESTRICT counts, GLOBAL uint* RESTRICT bad, NUMBER farthest, uint count, int cells0,
                 int cells1, int cells2, int tiles, uint keys, uint parts) {
  LOCAL_ARRAY(uint, own, MOST_PARTS);
  const uint item = (uint)LOCAL_ID(0), begin = (uint)GROUP_ID(0) * (PART_GROUP * SLICE);
  const uint end = min(begin + PART_GROUP * SLICE, count);
  for (uint i = item; i < parts; i += PART_GROUP) own[i] = 0;
  BARRIER();
  for (uint j = begin + item; j < end; j += PART_GROUP) {
    const NUMBER a = x[j], b = AXES > 1 ? y[j] : 0, c = AXES > 2 ? z[j] : 0;
    if (TURNS || (fabs(a) <= farthest && fabs(b) <= farthest && fabs(c) <= farthest)) {
      ATOMIC_ADD(&own[key_of(a, b, c, cells0, cells1, cells2, tiles) / keys], 1u);
    } else {
      ATOMIC_MIN(bad, j);
    }
  }
  BARRIER();
  for (uint i = item; i < parts; i += PART_GROUP) {
    if (own[i] != 0) ATOMIC_ADD(&counts[i], own[i]);
  }
}

// Moves records to their parts. `next` holds the first place of each part, and its end afterwards.
KERNEL WORK_GROUP(PART_GROUP, 1, 1)
void fill_parts(GLOBAL const NUMBER* RESTRICT x, GLOBAL const NUMBER* RESTRICT y, GLOBAL const NUMBER* RESTRICT z,
                GLOBAL uint* RESTRICT next, GLOBAL NUMBER* RESTRICT records, uint count, int cells0, int cells1,
                int cells2, int tiles, uint keys, uint parts) {
  LOCAL_ARRAY(uint, own, MOST_PARTS);
  const uint item = (uint)LOCAL_ID(0), begin = (uint)GROUP_ID(0) * (PART_GROUP * SLICE);
  const uint end = min(begin + PART_GROUP * SLICE, count);
  for (uint i = item; i < parts; i += PART_GROUP) own[i] = 0;
  BARRIER();
  uint held[SLICE];  // a point's part, and its rank among those of this group
  UNROLL for (uint k = 0; k < SLICE; ++k) {
    const uint j = begin + item + k * PART_GROUP;
    held[k] = 0;
    if (j >= end) continue;
    const NUMBER b = AXES > 1 ? y[j] : 0, c = AXES > 2 ? z[j] : 0;
    const uint part = key_of(x[j], b, c, cells0, cells1, cells2, tiles) / keys;
    held[k] = part << 16 | ATOMIC_ADD(&own[part], 1u);
  }
  BARRIER();
  for (uint i = item; i < parts; i += PART_GROUP) {
    if (own[i] != 0) own[i] = ATOMIC_ADD(&next[i], own[i]);
  }
  BARRIER();
  UNROLL for (uint k = 0; k < SLICE; ++k) {
    const uint j = begin + item + k * PART_GROUP;
    if (j >= end) continue;
    const ulong to = (ulong)(own[held[k] >> 16] + (held[k] & 0xffffu));
    const NUMBER b = AXES > 1 ? y[j] : 0, c = AXES > 2 ? z[j] : 0;
    STORE_RECORD(records, to, x[j], b, c, j);
  }
}

// Sorts the records of a part, and stores the first point of each of its keys. `ends` of the parts.
KERNEL WORK_GROUP(PART_GROUP, 1, 1)
void sort_part(GLOBAL const NUMBER* RESTRICT from, GLOBAL const uint* RESTRICT ends, GLOBAL NUMBER* RESTRICT records,
               GLOBAL uint* RESTRICT counts, int cells0, int cells1, int cells2, int tiles, uint keys, uint all_keys) {
  LOCAL_ARRAY(uint, own, MOST_KEYS);
  LOCAL_ARRAY(uint, sums, 2 * PART_GROUP);
  const uint item = (uint)LOCAL_ID(0), part = (uint)GROUP_ID(0), first_key = part * keys;
  const uint begin = part == 0 ? 0 : ends[part - 1], end = ends[part], here = min(keys, all_keys - first_key);
  for (uint i = item; i < here; i += PART_GROUP) own[i] = 0;
  BARRIER();
  uint held[PART_POINTS];  // a record's key, and its rank among those of that key
  UNROLL for (uint k = 0; k < PART_POINTS; ++k) {
    const uint i = begin + item + k * PART_GROUP;
    held[k] = 0;
    if (i >= end) continue;
    GLOBAL const NUMBER* record = from + 4 * (ulong)i;
    const uint key = key_of(record[0], record[1], record[2], cells0, cells1, cells2, tiles) - first_key;
    held[k] = key << 16 | ATOMIC_ADD(&own[key], 1u);
  }
  BARRIER();
  const uint each = (here + PART_GROUP - 1) / PART_GROUP;
  uint sum = 0;
  for (uint k = 0; k < each; ++k) sum += item * each + k < here ? own[item * each + k] : 0;
  sums[item] = sum;
  uint at = 0;
  for (uint step = 1; step < PART_GROUP; step *= 2) {
    BARRIER();
    sums[PART_GROUP - at + item] = sums[at + item] + (item >= step ? sums[at + item - step] : 0);
    at = PART_GROUP - at;
  }
  BARRIER();
  uint before = begin + sums[at + item] - sum;
  for (uint i = item * each; i < min((item + 1) * each, here); ++i) {
    const uint one = own[i];
    own[i] = before;
    counts[first_key + i] = before;
    before += one;
  }
  BARRIER();
  UNROLL for (uint k = 0; k < PART_POINTS; ++k) {
    const uint i = begin + item + k * PART_GROUP;
    if (i >= end) continue;
    GLOBAL const NUMBER* record = from + 4 * (ulong)i;
    const ulong to = (ulong)(own[held[k] >> 16] + (held[k] & 0xffffu));
    STORE_RECORD(records, to, record[0], record[1], record[2], LOADED_INDEX(record[3]));
  }
}
