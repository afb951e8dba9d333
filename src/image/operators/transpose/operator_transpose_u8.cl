// Transposition (ROTATION 4) and rotation by 90 degrees counterclockwise (ROTATION 1) of single-byte pixels: a work-item
// transposes 4x4 bytes in registers, a group 64x64. Rows of both images are aligned to four bytes.
KERNEL WORK_GROUP(16, 16, 1)
void transpose(GLOBAL const uchar* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL uchar* RESTRICT result,
          ulong out_offset, ulong out_pitch, int rows, int columns, int out_rows, int out_columns) {
  LOCAL_ARRAY(uint, tile, 64 * 17);
  const int x = LOCAL_ID(0), y = LOCAL_ID(1);
  const int top = (int)GROUP_ID(1) * 64, left = (int)GROUP_ID(0) * 64;  // of the input
  uint w[4];
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const int r = top + 4 * y + i, c = left + 4 * x;
    GLOBAL const uchar* in = image + in_offset + (ulong)r * in_pitch + (ulong)c;
    w[i] = 0u;
    if (r < rows && c + 3 < columns) {
      w[i] = LOAD_CACHED((GLOBAL const uint*)in);
    } else if (r < rows) {
      for (int k = 0; k < 4; ++k) w[i] |= c + k < columns ? (uint)in[k] << 8 * k : 0u;
    }
  }
  const uint a = (w[0] & 0xff00ffu) | (w[1] & 0xff00ffu) << 8, b = (w[0] >> 8 & 0xff00ffu) | (w[1] & 0xff00ff00u);
  const uint c = (w[2] & 0xff00ffu) | (w[3] & 0xff00ffu) << 8, d = (w[2] >> 8 & 0xff00ffu) | (w[3] & 0xff00ff00u);
  tile[(4 * x + 0) * 17 + y] = (a & 0xffffu) | c << 16;
  tile[(4 * x + 1) * 17 + y] = (b & 0xffffu) | d << 16;
  tile[(4 * x + 2) * 17 + y] = a >> 16 | (c & 0xffff0000u);
  tile[(4 * x + 3) * 17 + y] = b >> 16 | (d & 0xffff0000u);
  BARRIER();
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const int column = left + y + 16 * i, row = ROTATION == 1 ? columns - 1 - column : column;
    const int at = top + 4 * x;
    if (column >= columns || at >= rows) continue;
    const uint word = tile[(y + 16 * i) * 17 + x];
    GLOBAL uchar* out = result + out_offset + (ulong)row * out_pitch + (ulong)at;
    if (at + 3 < rows) {
      *(GLOBAL uint*)out = word;
    } else {
      for (int k = 0; k < 4; ++k) {
        if (at + k < rows) out[k] = (uchar)(word >> 8 * k & 255u);
      }
    }
  }
}
