// Enlarging float images: each output pixel is a weighted sum of DOWN rows and ACROSS columns with its own weights. A group
// moves down a strip of the output. STEP input rows at a time are copied to local memory, including pixels beyond their
// ends, while the next ones are loaded. A work-item computes VALUES output channels that are ITEMS_HERE apart, so that
// neighbouring work-items access neighbouring addresses. It interpolates each row horizontally, keeps DOWN such rows and
// combines them.
#define ITEMS_HERE 128
#define WIDE (VALUES * ITEMS_HERE)
#define VEC4S (LINE / 4)
#define COPIES ((STEP * VEC4S + ITEMS_HERE - 1) / ITEMS_HERE)

KERNEL WORK_GROUP(ITEMS_HERE, 1, 1)
void enlarge(GLOBAL const float* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL float* RESTRICT result,
             ulong out_offset, ulong out_pitch, int rows, int columns, int out_rows, int out_wide, int in_vec4,
             GLOBAL const int* RESTRICT rows_from, GLOBAL const float* RESTRICT rows_weights,
             GLOBAL const int* RESTRICT columns_from, GLOBAL const float* RESTRICT columns_weights) {
  LOCAL_ARRAY(float4, slots, 2 * STEP * VEC4S);
  LOCAL_ARRAY(float, mixes, ROWS_EACH * DOWN);
  LOCAL_ARRAY(int, ends, ROWS_EACH + 1);  // last input row that an output row needs
  const int item = LOCAL_ID(0), left = (int)GROUP_ID(0) * WIDE, top = (int)GROUP_ID(1) * ROWS_EACH;
  const int high = out_rows - top < ROWS_EACH ? out_rows - top : ROWS_EACH;
  const int origin = columns_from[left / CHANNELS] * CHANNELS & ~3;
  const int first = rows_from[top], count = rows_from[top + high - 1] + DOWN - first;  // count: input rows
  GLOBAL const float* in = image + in_offset;
  for (int i = item; i < high * DOWN; i += ITEMS_HERE) mixes[i] = rows_weights[top * DOWN + i];
  for (int i = item; i <= high; i += ITEMS_HERE) ends[i] = i < high ? rows_from[top + i] + DOWN - 1 - first : count;
  float4 coming[COPIES];
  float weights[VALUES * ACROSS], lines[DOWN * VALUES];
  int at[VALUES];
#define FETCH(batch)                                                                       \
  UNROLL                                                                                   \
  for (int c = 0; c < COPIES; ++c) {                                                       \
    const int index = item + c * ITEMS_HERE, r = index / VEC4S, four = index - r * VEC4S;  \
    const int there = STEP * (batch) + r, value = origin + 4 * four;                       \
    if (r < STEP && there < count) {                                                       \
      const int row = bordered_replicate(first + there, rows);                             \
      GLOBAL const float* line = in + (ulong)row * in_pitch;                               \
      if (in_vec4 && value >= 0 && value + 4 <= columns * CHANNELS) {                     \
        coming[c] = LOAD_CACHED((GLOBAL const float4*)(line + value));                     \
      } else {                                                                             \
        int places[4];                                                                     \
        find_places(value, columns, places);                                               \
        coming[c] = make_float4(line[places[0]], line[places[1]], line[places[2]], line[places[3]]); \
      }                                                                                    \
    }                                                                                      \
  }
#define KEEP(batch)                                                                        \
  UNROLL                                                                                   \
  for (int c = 0; c < COPIES; ++c) {                                                       \
    const int index = item + c * ITEMS_HERE;                                               \
    if (index < STEP * VEC4S) slots[((batch) & 1) * STEP * VEC4S + index] = coming[c];     \
  }
  FETCH(0)
  UNROLL
  for (int k = 0; k < VALUES; ++k) {
    const int value = left + item + k * ITEMS_HERE, here = value < out_wide ? value : out_wide - 1, column = here / CHANNELS;
    at[k] = columns_from[column] * CHANNELS + here - column * CHANNELS - origin;
    UNROLL
    for (int j = 0; j < ACROSS; ++j) weights[k * ACROSS + j] = columns_weights[column * ACROSS + j];
  }
  UNROLL
  for (int k = 0; k < DOWN * VALUES; ++k) lines[k] = 0.0f;
  KEEP(0)
  FETCH(1)
  BARRIER();
  GLOBAL float* to = result + out_offset + (ulong)top * out_pitch + (ulong)(left + item);
  int made = 0, end = ends[0];
  for (int batch = 0; STEP * batch < count; ++batch) {
    LOCAL const float* slot = (LOCAL const float*)(slots + (batch & 1) * STEP * VEC4S);
    UNROLL
    for (int r = 0; r < STEP; ++r) {
      const int row = STEP * batch + r;
      if (row < count) {
        UNROLL
        for (int k = 0; k < VALUES; ++k) {
          UNROLL
          for (int j = 0; j + 1 < DOWN; ++j) lines[j * VALUES + k] = lines[(j + 1) * VALUES + k];
          LOCAL const float* near = slot + r * LINE + at[k];
          float sum = weights[k * ACROSS] * near[0];
          UNROLL
          for (int j = 1; j < ACROSS; ++j) sum = FMA(weights[k * ACROSS + j], near[j * CHANNELS], sum);
          lines[(DOWN - 1) * VALUES + k] = sum;
        }
        while (end == row) {
          float mix[DOWN];
          UNROLL
          for (int j = 0; j < DOWN; ++j) mix[j] = mixes[made * DOWN + j];
          ++made;
          end = ends[made];
          UNROLL
          for (int k = 0; k < VALUES; ++k) {
            float sum = mix[0] * lines[k];
            UNROLL
            for (int j = 1; j < DOWN; ++j) sum = FMA(mix[j], lines[j * VALUES + k], sum);
            if (left + item + k * ITEMS_HERE < out_wide) to[k * ITEMS_HERE] = sum;
          }
          to += out_pitch;
        }
      }
    }
    KEEP(batch + 1)
    FETCH(batch + 2)
    BARRIER();  // the next rows have arrived, and no work-item reads the current ones any more
  }
}
