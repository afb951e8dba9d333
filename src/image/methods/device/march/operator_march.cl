// Separable filter of float images, for windows that are bound by memory: a group moves down a strip and prefetches rows
// into local memory (BATCHES batches of STEP rows). A work-item owns four neighbouring channels. It sums each row
// horizontally, with LEFT and RIGHT vec4s beside its own, and adds the sum to the DOWN output rows that use it.
// ANY_WEIGHTS: the window is not separable, and each of those rows has its own weights.
#define ITEMS_HERE 128
#define STEP 4
#define LINE (ITEMS_HERE + LEFT + RIGHT)
#define VEC4S (LEFT + 1 + RIGHT)

// Copies four channels asynchronously, one by one if they are not contiguous; the border constant is stored directly.
FUNCTION void fetch_vec4(LOCAL float4* to, GLOBAL const float* in, ulong pitch, int row, int value, const int* places,
                         int together) {
  if (row >= 0 && together) {
    COPY_ASYNC_16(to, in + (ulong)row * pitch + (ulong)value);
  } else {
    LOCAL float* each = (LOCAL float*)to;
    UNROLL
    for (int k = 0; k < 4; ++k) {
      if (row < 0 || places[k] < 0) {
        each[k] = BEYOND;
      } else {
        COPY_ASYNC_4(each + k, in + (ulong)row * pitch + (ulong)places[k]);
      }
    }
  }
}

KERNEL WORK_GROUP(ITEMS_HERE, 1, 1)
void march(GLOBAL const float* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL float* RESTRICT result,
           ulong out_offset, ulong out_pitch, int rows, int columns, int in_aligned, int out_aligned) {
  LOCAL_ARRAY(float4, ring, BATCHES * STEP * LINE);
  const int item = LOCAL_ID(0), value = 4 * (ITEMS_HERE * (int)GROUP_ID(0) + item), top = (int)GROUP_ID(1) * ROWS_EACH;
  const int first = value - 4 * item - 4 * LEFT, left = columns * CHANNELS - value;
  const int count = (rows - top < ROWS_EACH ? rows - top : ROWS_EACH) + DOWN - 1;
  GLOBAL const float* in = image + in_offset;
  GLOBAL float* to = result + out_offset + (ulong)top * out_pitch + (ulong)value;
  // vec4s that the item fetches: each item one, and the first LEFT + RIGHT items a second one.
  int values[2], places[8], together[2];
  UNROLL
  for (int f = 0; f < 2; ++f) {
    values[f] = first + 4 * (item + f * ITEMS_HERE);
    together[f] = in_aligned && values[f] >= 0 && values[f] + 4 <= columns * CHANNELS;
    find_places(values[f], columns, places + 4 * f);
  }
  float sums[DOWN * 4];
  UNROLL
  for (int k = 0; k < 4 * DOWN; ++k) sums[k] = 0.0f;
  for (int s = 1 - BATCHES; STEP * s < count; ++s) {  // the first iterations only fetch
    COPY_ASYNC_WAIT(BATCHES - 2);
    BARRIER();  // the batch has arrived, and no work-item reads the previous one any more
    const int coming = s + BATCHES - 1;
    UNROLL
    for (int a = 0; a < STEP; ++a) {
      if (STEP * coming + a < count) {
        const int row = BORDERED(top - DOWN / 2 + STEP * coming + a, rows);
        LOCAL float4* line = ring + (coming % BATCHES * STEP + a) * LINE;
        fetch_vec4(line + item, in, in_pitch, row, values[0], places, together[0]);
        if (item < LEFT + RIGHT)
          fetch_vec4(line + ITEMS_HERE + item, in, in_pitch, row, values[1], places + 4, together[1]);
      }
    }
    COPY_ASYNC_COMMIT();
    UNROLL
    for (int a = 0; a < STEP; ++a) {
      if (s >= 0 && STEP * s + a < count) {
        LOCAL const float4* line = ring + (s % BATCHES * STEP + a) * LINE + item;
        float near[4 * VEC4S];
        UNROLL
        for (int b = 0; b < VEC4S; ++b) {
          const float4 v = line[b];
          near[4 * b] = v.x;
          near[4 * b + 1] = v.y;
          near[4 * b + 2] = v.z;
          near[4 * b + 3] = v.w;
        }
#ifdef ANY_WEIGHTS
        UNROLL
        for (int j = 0; j < DOWN; ++j) {  // output rows in progress, oldest first
          UNROLL
          for (int k = 0; k < 4; ++k) {
            float sum = j + 1 < DOWN ? sums[4 * j + 4 + k] : 0.0f;
            UNROLL
            for (int i = 0; i < ACROSS; ++i)
              sum = FMA(weights[(DOWN - 1 - j) * ACROSS + i], near[4 * LEFT + k + (i - ACROSS / 2) * CHANNELS], sum);
            sums[4 * j + k] = sum;
          }
        }
#else
        float across[4];
        UNROLL
        for (int k = 0; k < 4; ++k) {
          across[k] = 0.0f;
          UNROLL
          for (int j = 0; j < ACROSS; ++j)
            across[k] = FMA(across_weights[j], near[4 * LEFT + k + (j - ACROSS / 2) * CHANNELS], across[k]);
        }
        UNROLL
        for (int j = 0; j < DOWN; ++j) {  // output rows in progress, oldest first
          UNROLL
          for (int k = 0; k < 4; ++k)
            sums[4 * j + k] = FMA(down_weights[DOWN - 1 - j], across[k], j + 1 < DOWN ? sums[4 * j + 4 + k] : 0.0f);
        }
#endif
        if (STEP * s + a >= DOWN - 1) {
          if (left > 0) store_up_to_four(to, sums, left, out_aligned);
          to += out_pitch;
        }
      }
    }
  }
}
