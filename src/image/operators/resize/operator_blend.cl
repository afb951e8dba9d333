// Enlarging 8-bit images with two taps per axis: two products of byte matrices as in operator_bands, but with separate
// weights for every 16 channels and every 8 rows of the output. A group moves down a strip of the output; input rows pass
// through a ring buffer in local memory, 8 at a time. The first product computes output channels from 32 bytes of each row;
// the second computes 8 rows from two blocks of eight such rows. The weights already account for taps beyond the image.
#define ITEMS_HERE (32 * SUB_GROUPS)
#define OWN (16 * TILES)
#define CHUNKS (LINE / 16)
#define PITCH (LINE + (CHUNKS % 2 == 0 ? 16 : 0))  // odd multiple of 16 bytes: no bank conflicts over 8 rows
#define STAGE_PITCH (OWN + 16)
#define COPIES ((8 * CHUNKS + ITEMS_HERE - 1) / ITEMS_HERE)
#if SUB_GROUP_WIDTH == 32
#define UNROLLED UNROLL
#else
#define UNROLLED  // products are loops with barriers there
#endif

// One 16-byte copy of a work-item within eight rows.
struct copy16 {
  GLOBAL const uchar* from;
  int to, row, value, whole;
};

FUNCTION struct copy16 first_rows(GLOBAL const uchar* in, ulong pitch, int wide, int first, int row, int aligned, int c) {
  const int index = LOCAL_ID(0) + c * ITEMS_HERE, r = index / CHUNKS, at = 16 * (index - r * CHUNKS), value = first + at;
  struct copy16 b;
  b.from = in + (ulong)(row + r) * pitch + (ulong)value;
  b.to = r * PITCH + at;
  b.row = r;
  b.value = value;
  b.whole = aligned && value + 16 <= wide;
  return b;
}

// Starts asynchronous copies of eight rows to local memory. Data beyond the image have weight 0 and are not copied.
FUNCTION void fetch_rows(struct copy16* copies, ulong eight_rows, int left, int wide, LOCAL uchar* slot) {
  UNROLL
  for (int c = 0; c < COPIES; ++c) {
    if (copies[c].row < (left < 8 ? left : 8)) {
      if (copies[c].whole) {
        COPY_ASYNC_16(slot + copies[c].to, copies[c].from);
      } else {
        for (int e = 0; e < 16; ++e) {
          if (copies[c].value + e < wide) slot[copies[c].to + e] = copies[c].from[e];
        }
      }
    }
    copies[c].from += eight_rows;
  }
}

// Horizontal products of eight rows; each pair holds the previous eight rows' result and the current one.
FUNCTION void make_across(LOCAL float* scratch, LOCAL const uchar* line, const int* bases, const uint4* across, uint* made) {
  const int zero[4] = {0, 0, 0, 0};
  UNROLLED
  for (int n = 0; n < 2 * TILES; ++n) {
    const uint lower = *(LOCAL const uint*)(line + bases[n]), upper = *(LOCAL const uint*)(line + bases[n] + 16);
    const uint4 w = across[n];
    int d[4];
    MATRIX_U8(scratch, d, w.x, w.y, w.z, w.w, lower, upper, zero);
    made[2 * n] = made[2 * n + 1];
    made[2 * n + 1] = BYTE_PERMUTE((uint)d[0], (uint)d[1], 0x5410u) + BYTE_PERMUTE((uint)d[2], (uint)d[3], 0x6521u) + ADDED;
  }
}

KERNEL WORK_GROUP_RESIDENT(ITEMS_HERE, 1, 1, RESIDENT)
void blend(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
           ulong out_offset, ulong out_pitch, int rows, int wide, int out_rows, int out_wide, int in_aligned, int out_aligned,
           GLOBAL const uint4* RESTRICT across_factors, GLOBAL const int* RESTRICT bases_of,
           GLOBAL const uint4* RESTRICT down_factors, GLOBAL const int* RESTRICT eights_of, int rows_each) {
  MATRIX_SCRATCH(scratch, ITEMS_HERE);
  LOCAL_ARRAY(uint4, ring, BATCHES * 8 * PITCH / 16);
  LOCAL_ARRAY(uint4, stages, SUB_GROUPS * 8 * STAGE_PITCH / 16);
  const int item = LOCAL_ID(0), lane = item & 31, sub = item / 32, g = lane >> 2, t = lane & 3;
  const int tile = ((int)GROUP_ID(0) * SUB_GROUPS + sub) * 2 * TILES, top = (int)GROUP_ID(1) * rows_each;
  const int first = bases_of[(int)GROUP_ID(0) * SUB_GROUPS * 2 * TILES] & ~15;
  const int out_end = top + rows_each < out_rows ? top + rows_each : out_rows;
  const int begin = eights_of[top / 8], last = eights_of[(out_end - 1) / 8] + 1;
  GLOBAL const uchar* in = image + in_offset;
  LOCAL uchar* const slots = (LOCAL uchar*)ring;
  LOCAL uchar* const stage = (LOCAL uchar*)stages + sub * 8 * STAGE_PITCH;
  struct copy16 copies[COPIES];
  UNROLL
  for (int c = 0; c < COPIES; ++c) copies[c] = first_rows(in, in_pitch, wide, first, 8 * begin, in_aligned, c);
  int left = rows - 8 * begin < 8 * (last + 1 - begin) ? rows - 8 * begin : 8 * (last + 1 - begin);  // rows still to fetch
  for (int b = 0; b < BATCHES - 1; ++b, left -= 8) {
    fetch_rows(copies, 8 * in_pitch, left, wide, slots + b * 8 * PITCH);
    COPY_ASYNC_COMMIT();
  }
  uint4 across[2 * TILES];
  int bases[2 * TILES];
  UNROLL
  for (int n = 0; n < 2 * TILES; ++n) {
    across[n] = LOAD_CACHED(across_factors + 32 * (tile + n) + lane);
    bases[n] = LOAD_CACHED(bases_of + tile + n) - first;
  }
  uint made[4 * TILES];
  UNROLL
  for (int k = 0; k < 4 * TILES; ++k) made[k] = 0u;
  int slot = 0, next = begin, behind = begin + 1;
  const int value = ((int)GROUP_ID(0) * SUB_GROUPS + sub) * OWN + 16 * (lane % TILES);
  const int whole = out_aligned && value + 16 <= out_wide;
  GLOBAL uchar* to = result + out_offset + (ulong)(top + lane / TILES) * out_pitch + (ulong)value;
  GLOBAL const uint4* factors = down_factors + 32 * (top / 8) + lane;
  GLOBAL const int* eights = eights_of + top / 8;
  uint4 coming = LOAD_CACHED(factors);
  for (int row = top; row < out_end; row += 8) {
    const uint4 down = coming;
    const int upto = behind;
    factors += 32;
    ++eights;
    coming = LOAD_CACHED(factors);  // the table has one entry more than rows need
    behind = LOAD_CACHED(eights) + 1;
    for (; next <= upto; ++next, left -= 8) {
      COPY_ASYNC_WAIT(BATCHES - 2);
      BARRIER();  // the rows have arrived, and no work-item reads the previous ones any more
      fetch_rows(copies, 8 * in_pitch, left, wide, slots + (slot > 0 ? slot - 1 : BATCHES - 1) * 8 * PITCH);
      COPY_ASYNC_COMMIT();
      make_across(scratch, slots + slot * 8 * PITCH + g * PITCH + 4 * t, bases, across, made);
      slot = slot + 1 < BATCHES ? slot + 1 : 0;
    }
#if SUB_GROUP_WIDTH == 32
    SUB_GROUP_BARRIER();  // the previous results have been read
#else
    BARRIER();
#endif
    UNROLLED
    for (int i = 0; i < TILES; ++i) {
      const int zero[4] = {0, 0, 0, 0};
      uint pairs[2];
      UNROLLED
      for (int side = 0; side < 2; ++side) {
        int d[4];
        MATRIX_U8(scratch, d, down.x, down.y, down.z, down.w, made[4 * i + 2 * side], made[4 * i + 2 * side + 1], zero);
        pairs[side] = BYTE_PERMUTE(((uint)d[0] << 8) + (uint)d[2], ((uint)d[1] << 8) + (uint)d[3], 0x0062u);
      }
      *(LOCAL uint*)(stage + g * STAGE_PITCH + 16 * i + 4 * t) = BYTE_PERMUTE(pairs[0], pairs[1], 0x5410u);
    }
#if SUB_GROUP_WIDTH == 32
    SUB_GROUP_BARRIER();
#else
    BARRIER();
#endif
    UNROLL
    for (int q = 0; q < TILES / 4; ++q) {
      const int r = lane / TILES + 32 / TILES * q;
      LOCAL const uchar* chunk = stage + r * STAGE_PITCH + 16 * (lane % TILES);
      GLOBAL uchar* there = to + (ulong)(32 / TILES * q) * out_pitch;
      if (row + r < out_end && whole) {
        *(GLOBAL uint4*)there = *(LOCAL const uint4*)chunk;
      } else if (row + r < out_end) {
        for (int e = 0; e < 16; ++e) {
          if (value + e < out_wide) there[e] = chunk[e];
        }
      }
    }
    to += 8 * out_pitch;
  }
}
