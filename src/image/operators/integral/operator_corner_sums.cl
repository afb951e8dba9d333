// Integral image in three kernels: column sums of blocks of BLOCK_ROWS rows; their prefix sums down the image; then the
// sums within each block, down the columns and along the rows in segments of 1024 pixels.
KERNEL WORK_GROUP(128, 1, 1)
void block_sums(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL SUM* RESTRICT blocks,
                int rows, int columns) {
  const int value = (int)GLOBAL_ID(0), top = (int)GROUP_ID(1) * BLOCK_ROWS;
  if (value >= columns * CHANNELS) return;
  GLOBAL const ELEMENT* in = image + in_offset + (ulong)(value / CHANNELS * IN_CHANNELS);
  SUM sum = 0;
  for (int r = top; r < top + BLOCK_ROWS && r < rows; ++r)
    sum += (SUM)fetch(in + (ulong)r * in_pitch, value % CHANNELS);
  blocks[(ulong)GROUP_ID(1) * (ulong)(columns * CHANNELS) + (ulong)value] = sum;
}

KERNEL WORK_GROUP(128, 1, 1)
void sum_blocks(GLOBAL SUM* RESTRICT blocks, int count, int wide) {
  const int value = (int)GLOBAL_ID(0);
  if (value >= wide) return;
  SUM sum = 0;
  for (int b = 0; b < count; ++b) {
    const SUM here = blocks[(ulong)b * (ulong)wide + (ulong)value];
    blocks[(ulong)b * (ulong)wide + (ulong)value] = sum;
    sum += here;
  }
}

KERNEL WORK_GROUP(256, 1, 1)
void corner_sums(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL const SUM* RESTRICT blocks,
                 GLOBAL SUM* RESTRICT result, ulong out_offset, ulong out_pitch, int rows, int columns) {
  LOCAL_ARRAY(SUM, parts, BLOCK_ROWS * 256);
  LOCAL_ARRAY(SUM, segments, BLOCK_ROWS * 32);
  LOCAL_ARRAY(SUM, carried, BLOCK_ROWS);
  const int item = LOCAL_ID(0), channel = (int)GROUP_ID(1), top = (int)GROUP_ID(0) * BLOCK_ROWS;
  GLOBAL const ELEMENT* in = image + in_offset;
  GLOBAL SUM* out = result + out_offset + channel;
  if (item < BLOCK_ROWS) {
    carried[item] = 0;
    if (top + item < rows) out[(ulong)(top + item + 1) * out_pitch] = 0;
  }
  if (top == 0) {
    for (int c = item; c <= columns; c += 256) out[c * CHANNELS] = 0;
  }
  BARRIER();
  for (int left = 0; left < columns; left += 1024) {
    const int first = left + 4 * item;
    SUM above[4], down[4];
    UNROLL
    for (int k = 0; k < 4; ++k) {
      above[k] = first + k < columns
                     ? blocks[(ulong)GROUP_ID(0) * (ulong)(columns * CHANNELS) + (ulong)((first + k) * CHANNELS + channel)]
                     : (SUM)0;
      down[k] = above[k];
    }
    for (int r = 0; r < BLOCK_ROWS; ++r) {
      SUM sum = 0;
      UNROLL
      for (int k = 0; k < 4; ++k) {
        if (top + r < rows && first + k < columns)
          down[k] += (SUM)fetch(in + (ulong)(top + r) * in_pitch + (ulong)((first + k) * IN_CHANNELS), channel);
        sum += down[k];
      }
      parts[r * 256 + item] = sum;
    }
    BARRIER();
    const int row = item / 32, segment = item % 32;  // BLOCK_ROWS is 8
    SUM own = 0;
    for (int k = 0; k < 8; ++k) own += parts[row * 256 + segment * 8 + k];
    segments[row * 32 + segment] = own;
    BARRIER();
    SUM before = carried[row];
    for (int k = 0; k < segment; ++k) before += segments[row * 32 + k];
    SUM running = before;
    for (int k = 0; k < 8; ++k) {
      const SUM here = parts[row * 256 + segment * 8 + k];
      parts[row * 256 + segment * 8 + k] = running;
      running += here;
    }
    BARRIER();
    if (segment == 31) carried[row] = running;
    UNROLL
    for (int k = 0; k < 4; ++k) down[k] = above[k];
    for (int r = 0; r < BLOCK_ROWS && top + r < rows; ++r) {
      SUM sum = parts[r * 256 + item];
      UNROLL
      for (int k = 0; k < 4; ++k) {
        if (first + k < columns) {
          down[k] += (SUM)fetch(in + (ulong)(top + r) * in_pitch + (ulong)((first + k) * IN_CHANNELS), channel);
          sum += down[k];
          out[(ulong)(top + r + 1) * out_pitch + (ulong)((first + k + 1) * CHANNELS)] = sum;
        }
      }
    }
    BARRIER();
  }
}
