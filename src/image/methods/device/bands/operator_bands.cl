// Separable filter of 8-bit images with weights of at least 0: two products of byte matrices, one after the other.
// Horizontally, 8 channels of 8 rows are a band matrix of weights times the bytes around them; vertically, 8 rows of 8
// channels are another band matrix times the 16-bit results of the first. Weights have 16 bits, and both bytes are rows of
// one product: results 0 to 7 belong to the high bytes, 8 to 15 to the low bytes. A group moves down a strip, 8 rows per
// step. Rows pass through a ring buffer in local memory (BATCHES steps), and so do results, so that each lane loads and
// stores 16 bytes at once. Data for later steps stay in registers.
//
// Lane 4 g + t holds word t of the 16 channels of every block, of row g of a step. The first product gives it rows 2 t and
// 2 t + 1 of channel g, which the second product uses without rearrangement, low and high bytes alternating. From the
// second product it gets channels 2 t and 2 t + 1 of row g.
#define ITEMS_HERE (32 * SUB_GROUPS)
#define OWN (16 * TILES)
#define SIDE (16 * HALF)
#define LINE (OWN * SUB_GROUPS + 2 * SIDE)
#define CHUNKS (LINE / 16)
#define PITCH (LINE + (CHUNKS % 2 == 0 ? 16 : 0))  // odd multiple of 16 bytes: no bank conflicts over 8 rows
#define STAGE_PITCH (OWN + 16)
#define ABOVE (8 * HALF_DOWN - 4)
#define COPIES ((8 * CHUNKS + ITEMS_HERE - 1) / ITEMS_HERE)
#define PAIR (4 * TILES)  // words of two steps
#if HALF == 1  // precomputed values fit the registers
#define IN_STEP(s) (s)->in_step
#define VALUE(s) (s)->value
#else
#define IN_STEP(s) (8 * (s)->in_pitch)
#define VALUE(s) ((s)->first + SIDE + LOCAL_ID(0) / 32 * OWN + 16 * (LOCAL_ID(0) % 32 % TILES))
#endif
#if SUB_GROUP_WIDTH == 32
#define UNROLLED UNROLL
#else
#define UNROLLED  // products are loops with barriers there
#endif

struct strip {  // state of a group and of a work-item
  GLOBAL const uchar* in;
  GLOBAL const uchar* ahead;  // first of the rows to fetch next; may be outside the image
  GLOBAL uchar* to;  // next address to store to
  ulong in_pitch, out_pitch, in_step;  // in_step: eight rows
  int rows, columns, wide, first, above, left_rows, value, whole_end, out_whole;
  int begin, left, from, each;  // fill_borders: `left` channels from `begin` on, then those from `from` on, `each` in total
  uint whole, offsets[COPIES];  // mask and offsets of the item's 16-byte copies
};

// Starts asynchronous copies of eight rows to local memory, for channels inside the image; `fill_borders` adds the rest.
FUNCTION void fetch_rows(struct strip* s, LOCAL uchar* to, int batch) {
  const int row = s->above + 8 * batch;
  const int inside = row >= 0 && row + 8 <= s->rows && (s->whole >> COPIES) == 0u;
  GLOBAL const uchar* line = s->ahead;
  s->ahead += IN_STEP(s);
  if (inside) {
    UNROLL
    for (int c = 0; c < COPIES; ++c) {
      const int index = LOCAL_ID(0) + c * ITEMS_HERE, r = index / CHUNKS;
      if (s->whole >> c & 1u) COPY_ASYNC_16(to + r * (PITCH - LINE) + 16 * index, line + s->offsets[c]);
    }
    return;
  }
  for (int index = LOCAL_ID(0); index < 8 * CHUNKS; index += ITEMS_HERE) {
    const int r = index / CHUNKS, at = 16 * (index - r * CHUNKS);
    const int there = BORDERED(row + r, s->rows), value = s->first + at;
    LOCAL uchar* place = to + r * PITCH + at;
    GLOBAL const uchar* from = s->in + (ulong)(there < 0 ? 0 : there) * s->in_pitch + (ulong)value;
    if (there < 0) {
      *(LOCAL uint4*)place = make_uint4(BEYOND_WORD, BEYOND_WORD, BEYOND_WORD, BEYOND_WORD);
    } else if (value >= 0 && value + 16 <= s->whole_end) {
      COPY_ASYNC_16(place, from);
    } else if (value >= 0) {
      for (int k = 0; k < 16; k += 4) {
        if (value + k + 4 <= s->whole_end) COPY_ASYNC_4(place + k, from + k);
      }
    }
  }
}

// Fills channels beyond the ends of a row, or after its last whole word, from the fetched data or from memory. `places`:
// source channel of each of them, negative for the constant.
FUNCTION void fill_borders(const struct strip* s, LOCAL uchar* slot, LOCAL const int* places, int batch) {
  for (int k = LOCAL_ID(0); k < 8 * s->each; k += ITEMS_HERE) {
    const int r = k & 7, v = k >> 3, value = v < s->left ? s->begin + v : s->from + v - s->left, place = places[v];
    uchar byte = (uchar)BEYOND;
    if (place >= 0) {
      if (place >= s->first && place < s->whole_end && place < s->first + LINE) {
        byte = slot[r * PITCH + place - s->first];
      } else {
        const int there = BORDERED(s->above + 8 * batch + r, s->rows);
        if (there >= 0) byte = s->in[(ulong)there * s->in_pitch + (ulong)place];
      }
    }
    slot[r * PITCH + value - s->first] = byte;
  }
}

// Computes the products of one step from words of eight rows, and eight output rows if enough previous rows are available
// (`complete`). `odd` is a constant at each call: two steps form a pair of factors of the second product, and the newest
// pair replaces the oldest. Sums begin at 0, because other initial values would have to be moved to their registers before
// every product.
FUNCTION void make_rows(LOCAL float* scratch, const uint* words, LOCAL uchar* place, uint* made, const uint4* across,
                        const uint4* down, int complete, const int odd) {
  const int zero[4] = {0, 0, 0, 0};
  if (!odd) {
    UNROLL
    for (int n = 0; n < 2 * TILES; ++n) {
      const uint oldest = made[2 * n + 1];
      UNROLL
      for (int p = 0; p + 1 < HALF_DOWN; ++p) {
        made[p * PAIR + 2 * n] = made[(p + 1) * PAIR + 2 * n];
        made[p * PAIR + 2 * n + 1] = made[(p + 1) * PAIR + 2 * n + 1];
      }
      made[(HALF_DOWN - 1) * PAIR + 2 * n + 1] = oldest;
    }
  }
  uint* newest = made + (HALF_DOWN - 1) * PAIR + odd;
  UNROLLED
  for (int n = 0; n < 2 * TILES; ++n) {  // low and high eight channels of a block
    const int b = n / 2 + n % 2;
    int d[4];
    UNROLLED
    for (int p = 0; p < HALF; ++p) {
      const uint4 w = across[n % 2 * HALF + p];
      MATRIX_U8(scratch, d, w.x, w.y, w.z, w.w, words[b + 2 * p], words[b + 2 * p + 1], p > 0 ? d : zero);
    }
#if SHIFT_ACROSS == 0
    newest[2 * n] = BYTE_PERMUTE((uint)d[0], (uint)d[1], 0x5410u) + BYTE_PERMUTE((uint)d[2], (uint)d[3], 0x6521u) + ADDED;
#else
    const uint v0 = (((uint)d[0] << 8) + (uint)d[2]) << SHIFT_ACROSS, v1 = (((uint)d[1] << 8) + (uint)d[3]) << SHIFT_ACROSS;
    newest[2 * n] = BYTE_PERMUTE(v0, v1, 0x7632u) + ADDED;
#endif
  }
#if SUB_GROUP_WIDTH == 32
  if (!complete) return;
#endif
  UNROLLED
  for (int i = 0; i < TILES; ++i) {
    uint results[4];
    UNROLLED
    for (int side = 0; side < 2; ++side) {
      int d[4];
      UNROLLED
      for (int p = 0; p < HALF_DOWN; ++p) {
        const uint4 w = down[odd * HALF_DOWN + p];
        const uint* two = made + p * PAIR + 2 * (2 * i + side);
        MATRIX_U8(scratch, d, w.x, w.y, w.z, w.w, two[0], two[1], p > 0 ? d : zero);
      }
      UNROLL
      for (int q = 0; q < 2; ++q) {
        uint sum = ((uint)d[q] << 8) + (uint)d[2 + q] + ROUNDING;
#ifndef NEVER_BEYOND
        sum = sum < MOST_SUM ? sum : MOST_SUM;
#endif
        results[2 * side + q] = sum << SHIFT_DOWN;
      }
    }
    const uint select = SHIFT_DOWN == 0 ? 0x0062u : 0x0073u;
    const uint low = BYTE_PERMUTE(results[0], results[1], select), high = BYTE_PERMUTE(results[2], results[3], select);
#ifdef INTERLEAVED
    *(LOCAL uint*)(place + 16 * i) = BYTE_PERMUTE(low, high, 0x5410u);
#else
    *(LOCAL ushort*)(place + 16 * i) = (ushort)low;
    *(LOCAL ushort*)(place + 16 * i + 8) = (ushort)high;
#endif
  }
}

// Stores eight rows of a sub-group from local memory.
FUNCTION void store_rows(struct strip* s, LOCAL const uchar* stage) {
  const int lane = LOCAL_ID(0) & 31;
  LOCAL const uchar* chunk = stage + lane / TILES * STAGE_PITCH + 16 * (lane % TILES);
  UNROLL
  for (int q = 0; q < TILES / 4; ++q) {
    if (s->left_rows > 32 / TILES * q) {
      if (s->out_whole) {
        *(GLOBAL uint4*)s->to = *(LOCAL const uint4*)chunk;
      } else {
        for (int e = 0; e < 16; ++e) {
          if (VALUE(s) + e < s->wide) s->to[e] = chunk[e];
        }
      }
    }
    s->to += (ulong)(32 / TILES) * s->out_pitch;
    chunk += 32 / TILES * STAGE_PITCH;
  }
  s->left_rows -= 8;
}

// Waits for rows `batch`, starts to fetch the rows of BATCHES - 1 steps later, and computes eight rows.
FUNCTION void go_down(struct strip* s, LOCAL float* scratch, LOCAL uchar* slots, int slot, LOCAL const int* places,
                      LOCAL const uchar* mine, LOCAL const uchar* stage, LOCAL uchar* place, uint* made, const uint4* across,
                      const uint4* down, int batch, int batches, const int odd) {
  COPY_ASYNC_WAIT(BATCHES - 2);
  BARRIER();  // no work-item reads the previous rows any more
  if (batch + BATCHES - 1 < batches)
    fetch_rows(s, slots + (slot > 0 ? slot - 1 : BATCHES - 1) * 8 * PITCH, batch + BATCHES - 1);
  COPY_ASYNC_COMMIT();
#if SUB_GROUP_WIDTH == 32
  if (s->each > 0)
#endif
  {
    fill_borders(s, slots + slot * 8 * PITCH, places, batch);
    BARRIER();
  }
  uint words[TILES + 2 * HALF];
  UNROLL
  for (int b = 0; b < TILES + 2 * HALF; ++b) words[b] = *(LOCAL const uint*)(mine + slot * 8 * PITCH + 16 * b);
  const int step = batch - (2 * HALF_DOWN - 1);
  make_rows(scratch, words, place, made, across, down, step >= 0, odd);
#if SUB_GROUP_WIDTH == 32
  if (step < 0) return;
  SUB_GROUP_BARRIER();
#else
  BARRIER();
#endif
  if (step >= 0) store_rows(s, stage);
}

KERNEL WORK_GROUP_RESIDENT(ITEMS_HERE, 1, 1, RESIDENT)
void bands(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
           ulong out_offset, ulong out_pitch, int rows, int columns, int in_aligned, int out_aligned,
           GLOBAL const uint4* RESTRICT fragments, int rows_each) {
  MATRIX_SCRATCH(scratch, ITEMS_HERE);
  LOCAL_ARRAY(uint4, ring, BATCHES * 8 * PITCH / 16);
  LOCAL_ARRAY(uint4, stages, SUB_GROUPS * 8 * STAGE_PITCH / 16);
  LOCAL_ARRAY(int, places, LINE);
  const int item = LOCAL_ID(0), lane = item & 31, sub = item / 32;
  struct strip s;
  s.in = image + in_offset;
  s.in_pitch = in_pitch;
  s.out_pitch = out_pitch;
  s.in_step = 8 * in_pitch;
  s.rows = rows;
  s.columns = columns;
  s.wide = columns * CHANNELS;
  s.first = (int)GROUP_ID(0) * OWN * SUB_GROUPS - SIDE;
  const int top = (int)GROUP_ID(1) * rows_each;
  s.above = top - ABOVE;
  s.ahead = s.in + (long)s.above * (long)in_pitch + s.first;
  s.whole_end = in_aligned ? s.wide & ~3 : 0;
  s.value = s.first + SIDE + sub * OWN + 16 * (lane % TILES);
  s.out_whole = out_aligned && s.value + 16 <= s.wide;
  s.left_rows = rows - top - lane / TILES;
  s.to = result + out_offset + (ulong)(top + lane / TILES) * out_pitch + (ulong)s.value;
  const int last = s.first + LINE - SIDE + REACH, end = last < s.wide + REACH ? last : s.wide + REACH;
  s.begin = s.first + SIDE - REACH;
  s.left = s.begin < 0 ? -s.begin : 0;
  s.from = s.begin < 0 ? 0 : s.begin;
  s.from = s.whole_end > s.from ? s.whole_end : s.from;
  s.each = s.left + (end > s.from ? end - s.from : 0);
  s.whole = s.wide - s.whole_end > 3 || ((s.whole_end & 15) != 0 && last > (s.whole_end & ~15)) ? 1u << COPIES : 0u;
  UNROLL
  for (int c = 0; c < COPIES; ++c) {
    const int index = item + c * ITEMS_HERE, r = index / CHUNKS, at = 16 * (index - r * CHUNKS);
    s.offsets[c] = (uint)(r * (int)in_pitch + at);
    if (index < 8 * CHUNKS && s.first + at >= 0 && s.first + at + 16 <= s.whole_end) s.whole |= 1u << c;
  }
  for (int v = item; v < s.each; v += ITEMS_HERE) places[v] = place_of(v < s.left ? s.begin + v : s.from + v - s.left, columns);
  const int out_rows = rows - top < rows_each ? rows - top : rows_each;
  const int batches = (out_rows + 7) / 8 + 2 * HALF_DOWN - 1;
  LOCAL uchar* const slots = (LOCAL uchar*)ring;
  LOCAL uchar* const stage = (LOCAL uchar*)stages + sub * 8 * STAGE_PITCH;
  for (int b = 0; b < BATCHES - 1; ++b) {
    if (b < batches) fetch_rows(&s, slots + b * 8 * PITCH, b);
    COPY_ASYNC_COMMIT();
  }
  uint4 across[2 * HALF], down[2 * HALF_DOWN];
  UNROLL
  for (int k = 0; k < 2 * HALF; ++k) across[k] = LOAD_CACHED(fragments + 32 * k + lane);
  UNROLL
  for (int k = 0; k < 2 * HALF_DOWN; ++k) down[k] = LOAD_CACHED(fragments + 32 * (2 * HALF + k) + lane);
  uint made[HALF_DOWN * PAIR];
  UNROLL
  for (int k = 0; k < HALF_DOWN * PAIR; ++k) made[k] = 0u;
  const int g = lane >> 2, t = lane & 3;
  LOCAL const uchar* const mine = slots + g * PITCH + sub * OWN + 4 * t;
#ifdef INTERLEAVED
  LOCAL uchar* const place = stage + g * STAGE_PITCH + 4 * t;
#else
  LOCAL uchar* const place = stage + g * STAGE_PITCH + 2 * t;
#endif
  int slot = 0;
  for (int k = 0; k < batches; ++k) {
    go_down(&s, scratch, slots, slot, places, mine, stage, place, made, across, down, k, batches,
            SUB_GROUP_WIDTH == 32 ? 0 : k % 2);
    slot = slot + 1 < BATCHES ? slot + 1 : 0;
#if SUB_GROUP_WIDTH == 32  // two steps per iteration, so that no registers are moved
    if (++k >= batches) break;
    go_down(&s, scratch, slots, slot, places, mine, stage, place, made, across, down, k, batches, 1);
    slot = slot + 1 < BATCHES ? slot + 1 : 0;
#endif
  }
}
