// Transposition (ROTATION 4) and rotation by 90 or 270 degrees counterclockwise of three-byte pixels: 64x64 pixels per
// group, one word of local memory per pixel; memory is accessed in whole words. Rows of both images are aligned to four
// bytes.
#define ITEMS_HERE 192  // 4 output rows of 48 words (64 pixels) at a time
#define PITCH 65
#define ROUNDS ((64 + ITEMS_HERE / 16 - 1) / (ITEMS_HERE / 16))

KERNEL WORK_GROUP(ITEMS_HERE, 1, 1)
void transpose(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
          ulong out_offset, ulong out_pitch, int rows, int columns, int out_rows, int out_columns) {
  LOCAL_ARRAY(uint, tile, 64 * PITCH);
  const int item = LOCAL_ID(0), across = (int)GROUP_ID(0) * 64, left = (int)GROUP_ID(1) * 64;  // of the output
  GLOBAL const uchar* in = image + in_offset;
  GLOBAL uchar* out = result + out_offset;
  const int four = 4 * (item % 16), column = left + four;
  uint words[3 * ROUNDS];
  UNROLL
  for (int i = 0; i < ROUNDS; ++i) {
    const int j = item / 16 + ITEMS_HERE / 16 * i, there = across + j, row = ROTATION == 3 ? rows - 1 - there : there;
    if (j < 64 && there < rows && column < columns) {
      GLOBAL const uchar* from = in + (ulong)row * in_pitch + (ulong)(3 * column);
      if (column + 4 <= columns) {
        UNROLL
        for (int k = 0; k < 3; ++k) words[3 * i + k] = LOAD_CACHED((GLOBAL const uint*)from + k);
      } else {
        UNROLL
        for (int k = 0; k < 3; ++k) {
          words[3 * i + k] = 0u;
          for (int e = 0; e < 4; ++e) {
            if (4 * k + e < 3 * (columns - column)) words[3 * i + k] |= (uint)from[4 * k + e] << 8 * e;
          }
        }
      }
    }
  }
  UNROLL
  for (int i = 0; i < ROUNDS; ++i) {
    const int j = item / 16 + ITEMS_HERE / 16 * i;
    if (j < 64) {
      const uint a = words[3 * i], b = words[3 * i + 1], c = words[3 * i + 2];
      LOCAL uint* to = tile + j * PITCH + four;
      to[0] = a;
      to[1] = BYTE_PERMUTE(a, b, 0x0543u);
      to[2] = BYTE_PERMUTE(b, c, 0x0432u);
      to[3] = c >> 8;
    }
  }
  BARRIER();
  // Word w of a row begins in pixel 4 w / 3.
  const int word = item % 48, pixel = 4 * word / 3, byte = 4 * word - 3 * pixel, first = 3 * across + 4 * word;
  const uint which = byte == 0 ? 0x4210u : byte == 1 ? 0x5421u : 0x6542u;
  UNROLL
  for (int i = 0; i < 16; ++i) {
    const int j = item / 48 + 4 * i, row = ROTATION == 1 ? columns - 1 - left - j : left + j;
    if (left + j < columns && first < 3 * rows) {
      const uint made = BYTE_PERMUTE(tile[pixel * PITCH + j], tile[(pixel + 1) * PITCH + j], which);
      GLOBAL uchar* to = out + (ulong)row * out_pitch + (ulong)first;
      if (first + 4 <= 3 * rows) {
        *(GLOBAL uint*)to = made;
      } else {
        for (int e = 0; e < 3 * rows - first; ++e) to[e] = (uchar)(made >> 8 * e & 255u);
      }
    }
  }
}
