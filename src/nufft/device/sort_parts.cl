// Sorts many points in two passes (appended to nonuniform.cl). A part is a range of keys. First the points move to their parts:
// a work-group groups its points by part in local memory, so that it stores runs of adjacent records. Then one work-group per
// part sorts it by an index list in local memory. Points are stored twice in runs instead of once at scattered addresses.
#define PART_ITEMS 512
#define COUNTED 16384u /* points per work-group of count_parts */
#define MOVED (WIDE ? 2048 : 4096) /* points per work-group of fill_parts */
#define AT_ONCE 8 /* points that a work-item loads before it uses them */
#define MOST_PARTS 2048
#define MOST_IN_PART 16384
#define MOST_KEYS 1536 /* per part */
#if WIDE
#define RECORD_QUADS 2
#define RECORD_QUAD double2
#define AT_X(r) ((r)[0].x)
#define AT_Y(r) ((r)[0].y)
#define AT_Z(r) ((r)[1].x)
#else
#define RECORD_QUADS 1
#define RECORD_QUAD float4
#define AT_X(r) ((r)[0].x)
#define AT_Y(r) ((r)[0].y)
#define AT_Z(r) ((r)[0].z)
#endif

// Replaces `count` numbers in local memory by their exclusive prefix sums; returns the total. `sums`: scratch memory of
// 2 * PART_ITEMS numbers. Ends with a barrier.
FUNCTION uint sum_before(LOCAL uint* numbers, LOCAL uint* sums, uint count) {
  const int i = LOCAL_ID(0);
  const uint own = (count + PART_ITEMS - 1) / PART_ITEMS, begin = min((uint)i * own, count), end = min(begin + own, count);
  uint sum = 0;
  for (uint k = begin; k < end; ++k) sum += numbers[k];
  sums[i] = sum;
  int from = 0;
  for (int step = 1; step < PART_ITEMS; step *= 2) {
    BARRIER();
    sums[PART_ITEMS - from + i] = sums[from + i] + (i >= step ? sums[from + i - step] : 0);
    from = PART_ITEMS - from;
  }
  uint before = sums[from + i] - sum;
  for (uint k = begin; k < end; ++k) {
    const uint one = numbers[k];
    numbers[k] = before;
    before += one;
  }
  BARRIER();
  return sums[from + PART_ITEMS - 1];
}

// Counts the points per part. found[0] becomes the least index of a point that is not within `farthest`.
KERNEL WORK_GROUP(PART_ITEMS, 1, 1)
void count_parts(GLOBAL const NUMBER* RESTRICT x, GLOBAL const NUMBER* RESTRICT y, GLOBAL const NUMBER* RESTRICT z,
                 GLOBAL uint* RESTRICT counts, GLOBAL uint* RESTRICT found, NUMBER farthest, uint count, int cells0,
                 int cells1, int cells2, int tiles, uint keys_per_part, uint parts) {
  LOCAL_ARRAY(uint, numbers, MOST_PARTS);
  for (uint part = LOCAL_ID(0); part < parts; part += PART_ITEMS) numbers[part] = 0;
  BARRIER();
  const uint first = (uint)GROUP_ID(0) * COUNTED, end = min(first + COUNTED, count);
  for (uint j = first + (uint)LOCAL_ID(0); j < end; j += PART_ITEMS) {
    const NUMBER a = x[j], b = AXES > 1 ? y[j] : 0, c = AXES > 2 ? z[j] : 0;
    if (!TURNS && !(fabs(a) <= farthest && fabs(b) <= farthest && fabs(c) <= farthest)) {
      ATOMIC_MIN(found, j);
    } else {
      ATOMIC_ADD(&numbers[key_of(a, b, c, cells0, cells1, cells2, tiles) / keys_per_part], 1u);
    }
  }
  BARRIER();
  for (uint part = LOCAL_ID(0); part < parts; part += PART_ITEMS) {
    if (numbers[part] > 0) ATOMIC_ADD(&counts[part], numbers[part]);
  }
}

// Finds the first point of each part and the end of the last; found[2] becomes the number of points of the largest part.
KERNEL WORK_GROUP(PART_ITEMS, 1, 1)
void start_parts(GLOBAL const uint* RESTRICT counts, GLOBAL uint* RESTRICT starts, GLOBAL uint* RESTRICT cursors,
                 GLOBAL uint* RESTRICT found, uint parts) {
  LOCAL_ARRAY(uint, numbers, MOST_PARTS);
  LOCAL_ARRAY(uint, sums, 2 * PART_ITEMS);
  LOCAL_ARRAY(uint, largest, 1);
  if (LOCAL_ID(0) == 0) largest[0] = 0;
  BARRIER();
  for (uint part = LOCAL_ID(0); part < parts; part += PART_ITEMS) {
    numbers[part] = counts[part];
    ATOMIC_MAX(&largest[0], counts[part]);
  }
  BARRIER();
  sum_before(numbers, sums, parts);
  for (uint part = LOCAL_ID(0); part < parts; part += PART_ITEMS) {
    starts[part] = cursors[part] = numbers[part];
    if (part + 1 == parts) starts[parts] = numbers[part] + counts[part];
  }
  if (LOCAL_ID(0) == 0) found[2] = largest[0];
}

// Moves the points to their parts.
KERNEL WORK_GROUP(PART_ITEMS, 1, 1)
void fill_parts(GLOBAL const NUMBER* RESTRICT x, GLOBAL const NUMBER* RESTRICT y, GLOBAL const NUMBER* RESTRICT z,
                GLOBAL uint* RESTRICT cursors, GLOBAL RECORD_QUAD* RESTRICT moved, NUMBER farthest, uint count, int cells0,
                int cells1, int cells2, int tiles, uint keys_per_part, uint parts) {
  LOCAL_BLOCK(RECORD_QUAD, grouped, MOVED * RECORD_QUADS);
  LOCAL_ARRAY(uint, numbers, MOST_PARTS);
  LOCAL_ARRAY(uint, to, MOST_PARTS);
  LOCAL_ARRAY(uint, sums, 2 * PART_ITEMS);
  LOCAL_ARRAY(ushort, part_of, MOVED);
  const uint item = LOCAL_ID(0), first = (uint)GROUP_ID(0) * MOVED;
  for (uint part = item; part < parts; part += PART_ITEMS) numbers[part] = 0;
  BARRIER();
  NUMBER a[MOVED / PART_ITEMS], b[MOVED / PART_ITEMS], c[MOVED / PART_ITEMS];
  uint part[MOVED / PART_ITEMS], rank[MOVED / PART_ITEMS];
  UNROLL for (int k = 0; k < MOVED / PART_ITEMS; ++k) {
    const uint j = first + (uint)k * PART_ITEMS + item;
    a[k] = j < count ? x[j] : 0, b[k] = AXES > 1 && j < count ? y[j] : 0, c[k] = AXES > 2 && j < count ? z[j] : 0;
    part[k] = NO_KEY;
    if (j >= count || (!TURNS && !(fabs(a[k]) <= farthest && fabs(b[k]) <= farthest && fabs(c[k]) <= farthest))) continue;
    part[k] = key_of(a[k], b[k], c[k], cells0, cells1, cells2, tiles) / keys_per_part;
    rank[k] = ATOMIC_ADD(&numbers[part[k]], 1u);
  }
  BARRIER();
  for (uint p = item; p < parts; p += PART_ITEMS) to[p] = numbers[p] > 0 ? ATOMIC_ADD(&cursors[p], numbers[p]) : 0;
  BARRIER();
  const uint all = sum_before(numbers, sums, parts);
  UNROLL for (int k = 0; k < MOVED / PART_ITEMS; ++k) {
    if (part[k] == NO_KEY) continue;
    const uint slot = numbers[part[k]] + rank[k], j = first + (uint)k * PART_ITEMS + item;
    part_of[slot] = (ushort)part[k];
#if WIDE
    grouped[2 * slot] = make_double2(a[k], b[k]);
    grouped[2 * slot + 1] = make_double2(c[k], STORED_INDEX(j));
#else
    grouped[slot] = make_float4(a[k], b[k], c[k], STORED_INDEX(j));
#endif
  }
  BARRIER();
  for (uint i = item; i < all * RECORD_QUADS; i += PART_ITEMS) {
    const uint slot = i / RECORD_QUADS, p = part_of[slot];
    moved[RECORD_QUADS * (ulong)(to[p] + slot - numbers[p]) + i % RECORD_QUADS] = grouped[i];
  }
}

// Sorts one part, and stores the first point of each of its keys.
KERNEL WORK_GROUP(PART_ITEMS, 1, 1)
void sort_part(GLOBAL const RECORD_QUAD* RESTRICT moved, GLOBAL const uint* RESTRICT starts, GLOBAL uint* RESTRICT counts,
               GLOBAL RECORD_QUAD* RESTRICT records, int cells0, int cells1, int cells2, int tiles, uint keys_per_part,
               uint keys) {
  LOCAL_BLOCK(ushort, both, 2 * MOST_IN_PART);
  LOCAL_ARRAY(uint, numbers, MOST_KEYS);
  LOCAL_ARRAY(uint, sums, 2 * PART_ITEMS);
  LOCAL ushort* order = both + MOST_IN_PART;
  const uint item = LOCAL_ID(0), begin = starts[GROUP_ID(0)], count = starts[GROUP_ID(0) + 1] - begin;
  const uint first_key = (uint)GROUP_ID(0) * keys_per_part, own = min(keys_per_part, keys - first_key);
  for (uint key = item; key < own; key += PART_ITEMS) numbers[key] = 0;
  BARRIER();
  moved += RECORD_QUADS * (ulong)begin;
  records += RECORD_QUADS * (ulong)begin;
  for (uint base = 0; base < count; base += AT_ONCE * PART_ITEMS) {
    RECORD_QUAD loaded[AT_ONCE][RECORD_QUADS];
    UNROLL for (int k = 0; k < AT_ONCE; ++k) {
      const uint i = min(base + (uint)k * PART_ITEMS + item, count - 1);
      UNROLL for (int q = 0; q < RECORD_QUADS; ++q) loaded[k][q] = moved[RECORD_QUADS * i + q];
    }
    UNROLL for (int k = 0; k < AT_ONCE; ++k) {
      const uint i = base + (uint)k * PART_ITEMS + item;
      if (i >= count) continue;
      const uint key = key_of(AT_X(loaded[k]), AT_Y(loaded[k]), AT_Z(loaded[k]), cells0, cells1, cells2, tiles) - first_key;
      both[i] = (ushort)key;
      ATOMIC_ADD(&numbers[key], 1u);
    }
  }
  BARRIER();
  sum_before(numbers, sums, own);
  for (uint key = item; key < own; key += PART_ITEMS) counts[first_key + key] = begin + numbers[key];
  BARRIER();
  for (uint i = item; i < count; i += PART_ITEMS) order[ATOMIC_ADD(&numbers[both[i]], 1u)] = (ushort)i;
  BARRIER();
  for (uint base = 0; base < count * RECORD_QUADS; base += AT_ONCE * PART_ITEMS) {
    RECORD_QUAD loaded[AT_ONCE];
    UNROLL for (int k = 0; k < AT_ONCE; ++k) {
      const uint i = min(base + (uint)k * PART_ITEMS + item, count * RECORD_QUADS - 1);
      loaded[k] = moved[RECORD_QUADS * (uint)order[i / RECORD_QUADS] + i % RECORD_QUADS];
    }
    UNROLL for (int k = 0; k < AT_ONCE; ++k) {
      const uint i = base + (uint)k * PART_ITEMS + item;
      if (i < count * RECORD_QUADS) records[i] = loaded[k];
    }
  }
}
