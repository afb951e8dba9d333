// Cross-bilateral filter whose sums are matrix products: weights (16 pixels x 8 neighbours) times values (8 neighbours
// x 1, row flow, column flow).
// The weight of two colours is 2^(slope |p - q|^2) = 2^(slope |p|^2) 2^(-2 slope p q) 2^(slope |q|^2). The first factor
// is common to all weights of a pixel and cancels; the last one is stored with the cell (flow_fill.cl). So a weight is
// one dot product, one multiply-add and one exponential. Colours are signed, so that no exponential leaves the range of
// floats. POLYNOMIAL of every 8 exponentials are computed by arithmetic, so that the special function unit and the
// others work concurrently.
// Matrix products use 11 bits of a factor, so flows are split in two parts. PARTS is 6 if both are stored in local
// memory, and 4 if they are split when used.
// A sub-group has 4 x 8 pixels: two matrices of 4 x 4, one below the other. In the fragments of a product, lane 4 g + t
// holds the weights of pixels g and g + 8 for neighbours 2 t and 2 t + 1 of eight.
#define WIDE (28 + 8 * STEPS)
#define HIGH (8 * DOWN + 2 * FILTER)
#define ITEMS_HERE (256 * DOWN)

// 2.076 times 2^(bits / 2^23 - 127). The bits read as a float give 2^x with a linear mantissa; adding the same half a
// step later, multiplied by 2^-1/2, cancels most of the error: 0.75 % remain.
FUNCTION float straightened(uint bits) { return FMA(0.70710678f, FLOAT_OF(bits + 0x400000u), FLOAT_OF(bits)); }
FUNCTION float weight_by_unit(uint own, uint other, float column) {
  return EXP2_FAST(FMA(FLOAT_OF((uint)BYTES_DOT_SIGNED(own, other, 0x4b400000)), KAPPA, column));
}
FUNCTION float weight_by_arithmetic(uint own, uint other, int column) {
  return straightened((uint)(BYTES_DOT_SIGNED(own, other, 0) * KAPPA_BITS + column));
}

// Adds one row of the tile to the matrices whose windows contain it.
FUNCTION void add_row(LOCAL float* scratch, LOCAL const float* line, LOCAL const float* values, const uint* own,
                      const float* column, const int* bits, uint rest, LOCAL const float* shares, float* total,
                      const int upper, const int lower) {
  float sums[8];
  UNROLL
  for (int i = 0; i < 8; ++i) sums[i] = 0.0f;
  UNROLL
  for (int s = 0; s < STEPS; ++s) {
    const float2 others = *(LOCAL const float2*)(line + 8 * s);
    float2 value = *(LOCAL const float2*)(values + 8 * s);
#if PARTS == 4
    value.x -= FLOAT_OF(BITS_OF(value.x) & rest);
    value.y -= FLOAT_OF(BITS_OF(value.y) & rest);
#endif
    const int whole = s >= 1 && 8 * s + 7 <= 2 * FILTER;  // inside the window of every pixel
    UNROLL
    for (int block = 0; block < 2; ++block) {
      if (block ? lower : upper) {
        float w[4];
        UNROLL
        for (int i = 0; i < 4; ++i) {  // pixels i & 1, neighbours i >> 1
          const uint other = BITS_OF(i < 2 ? others.x : others.y);
          w[i] = whole && i < (POLYNOMIAL + 1 - block) / 2  // the same number in either matrix
                     ? weight_by_arithmetic(own[2 * block + (i & 1)], other, bits[2 * s + (i >> 1)])
                     : weight_by_unit(own[2 * block + (i & 1)], other, column[2 * s + (i >> 1)]);
        }
        MATRIX_TF32(scratch, sums + 4 * block, w[0], w[1], w[2], w[3], value.x, value.y);
      }
    }
  }
  UNROLL
  for (int i = 0; i < 8; ++i) {
    if (i < 4 ? upper : lower) total[i] = FMA(shares[(i < 4 ? 4 : 0) + (i & 2 ? -2 : 0)], sums[i], total[i]);
  }
}

KERNEL WORK_GROUP_RESIDENT(ITEMS_HERE, 1, 1, 3 / DOWN)
void smooth(GLOBAL const float4* RESTRICT cells, GLOBAL const float2* RESTRICT flow, GLOBAL float2* RESTRICT out, int rows,
            int columns) {
  LOCAL_BLOCK(float, tile, TILE_FLOATS);
  LOCAL_ARRAY(float, row_shares, 2 * FILTER + 16);  // weights of distances from -7 on, 0 outside the window
  MATRIX_SCRATCH(scratch, ITEMS_HERE);
  const ulong plane = (ulong)GROUP_ID(2) * (ulong)rows * (ulong)columns;
  const int left = (int)GROUP_ID(0) * 32, top = (int)GROUP_ID(1) * 8 * DOWN, item = LOCAL_ID(0);
  for (int k = item; k < 2 * FILTER + 16; k += ITEMS_HERE) {
    row_shares[k] = k >= 7 && k - 7 <= 2 * FILTER ? row_weights[k - 7] : 0.0f;
  }
  for (int y = item / 32; y < HIGH; y += ITEMS_HERE / 32) {  // one row per sub-group
    const int row = top - FILTER + y;
    UNROLL
    for (int first = 0; first < WIDE; first += 32) {
      const int x = first + item % 32, at = left - FILTER + x, k = y * WIDE + x;
      if (x < WIDE) {
        float4 cell = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (row >= 0 && at >= 0 && row < rows && at < columns) cell = cells[plane + (ulong)row * (ulong)columns + (ulong)at];
        tile[k] = cell.x;
        tile[PLANE + k] = cell.y;
        tile[2 * PLANE + k] = cell.z;  // a product uses its upper bits
        tile[3 * PLANE + k] = cell.w;
#if PARTS == 6
        tile[4 * PLANE + k] = cell.z - FLOAT_OF(BITS_OF(cell.z) & 0xffffe000u);
        tile[5 * PLANE + k] = cell.w - FLOAT_OF(BITS_OF(cell.w) & 0xffffe000u);
#endif
      }
    }
  }
  BARRIER();
  const int lane = item & 31, g = lane >> 2, t = lane & 3, across = 4 * (item / 32 % 8), down = 8 * (item / 256);
  uint own[4];  // rows g / 4 and g / 4 + 2 of the upper matrix, then of the lower one
  UNROLL
  for (int i = 0; i < 4; ++i) {
    own[i] = BITS_OF(tile[(FILTER + down + 2 * i + (g >> 2)) * WIDE + FILTER + across + (g & 3)]);
  }
  float column[2 * STEPS];
  int bits[2 * STEPS];
  UNROLL
  for (int i = 0; i < 2 * STEPS; ++i) {
    const int distance = 8 * (i >> 1) + 2 * t + (i & 1) - (g & 3);
    const int inside = distance >= 0 && distance <= 2 * FILTER;
    column[i] = inside ? column_exponents[inside ? distance : 0] : OUTSIDE;
    bits[i] = column_bits[inside ? distance : 0];
  }
  float total[8];
  UNROLL
  for (int i = 0; i < 8; ++i) total[i] = 0.0f;
  LOCAL const float* line = tile + down * WIDE + across + 2 * t;
  // Columns of the second factor: 1, row flow, its remainder, column flow, its remainder; three more are unused.
  const int part = g == 0 ? 1 : g == 1 ? 2 : g == 2 ? (PARTS == 6 ? 4 : 2) : g == 4 && PARTS == 6 ? 5 : 3;
  const uint rest = g == 2 || g == 4 ? 0xffffe000u : 0u;
  LOCAL const float* values = line + PLANE * part;
  LOCAL const float* shares = row_shares + 3 - (g >> 2);  // [4]: of this row from the upper pixels
  int j = 0;
  for (; j < 4; ++j, line += WIDE, values += WIDE, ++shares) {
    add_row(scratch, line, values, own, column, bits, rest, shares, total, 1, 0);
  }
  for (; j < 2 * FILTER + 4; ++j, line += WIDE, values += WIDE, ++shares) {
    add_row(scratch, line, values, own, column, bits, rest, shares, total, 1, 1);
  }
  for (; j < 2 * FILTER + 8; ++j, line += WIDE, values += WIDE, ++shares) {
    add_row(scratch, line, values, own, column, bits, rest, shares, total, 0, 1);
  }
  // The sums of a pixel are in three lanes: 1 and the parts of the flow, two per lane.
  BARRIER();
  UNROLL
  for (int i = 0; i < 8; ++i) tile[i * ITEMS_HERE + item] = total[i];
  BARRIER();
  LOCAL const float* sums = tile + 2 * t * ITEMS_HERE + (item & ~3);  // lane t finishes pixel t of the four
  const float sum = sums[0], u = sums[ITEMS_HERE] + sums[1], v = sums[ITEMS_HERE + 1] + sums[2];
  const int y = top + down + 2 * t + (g >> 2), x = left + across + (g & 3);
  if (y < rows && x < columns) {
    const ulong cell = plane + (ulong)y * (ulong)columns + (ulong)x;
    const uint mine = t == 0 ? own[0] : t == 1 ? own[1] : t == 2 ? own[2] : own[3];
    const float whole = sum * EXP2_FAST((float)BYTES_DOT_SIGNED(mine, mine, 0) * (-0.5f * KAPPA));
    out[cell] = whole < 1e-9f ? flow[cell] : make_float2(u / sum, v / sum);
  }
}
