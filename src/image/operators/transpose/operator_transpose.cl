// Transposition and rotation by multiples of 90 degrees, one tile of 32x32 pixels per group. ROTATION: 0 to 3 quarter turns
// counterclockwise, 4 for the transpose. Work-items follow the input's rows when reading and the output's rows when
// writing.
KERNEL WORK_GROUP(32, 8, 1)
void transpose(GLOBAL const ELEMENT* RESTRICT image, ulong in_offset, ulong in_pitch, GLOBAL ELEMENT* RESTRICT result,
          ulong out_offset, ulong out_pitch, int rows, int columns, int out_rows, int out_columns) {
  const int x = LOCAL_ID(0), y = LOCAL_ID(1);
  const int top = (int)GROUP_ID(1) * 32, left = (int)GROUP_ID(0) * 32;
#if ROTATION == 0 || ROTATION == 2
  for (int j = y; j < 32; j += 8) {
    const int r = top + j, c = left + x;
    if (r >= out_rows || c >= out_columns) continue;
    const int from_row = ROTATION == 0 ? r : rows - 1 - r, from_column = ROTATION == 0 ? c : columns - 1 - c;
    GLOBAL const ELEMENT* in = image + in_offset + (ulong)from_row * in_pitch + (ulong)(from_column * IN_CHANNELS);
    GLOBAL ELEMENT* out = result + out_offset + (ulong)r * out_pitch + (ulong)(c * CHANNELS);
    UNROLL
    for (int k = 0; k < CHANNELS; ++k) out[k] = (ELEMENT)fetch(in, k);
  }
#else
  LOCAL_ARRAY(ELEMENT, tile, CHANNELS * 32 * 33);
  for (int j = y; j < 32; j += 8) {
    const int r = top + x, c = left + j;  // output position
    if (r >= out_rows || c >= out_columns) continue;
    const int from_row = ROTATION == 3 ? rows - 1 - c : c, from_column = ROTATION == 1 ? columns - 1 - r : r;
    GLOBAL const ELEMENT* in = image + in_offset + (ulong)from_row * in_pitch + (ulong)(from_column * IN_CHANNELS);
    UNROLL
    for (int k = 0; k < CHANNELS; ++k) tile[(k * 32 + j) * 33 + x] = (ELEMENT)fetch(in, k);
  }
  BARRIER();
  for (int j = y; j < 32; j += 8) {
    const int r = top + j, c = left + x;
    if (r >= out_rows || c >= out_columns) continue;
    GLOBAL ELEMENT* out = result + out_offset + (ulong)r * out_pitch + (ulong)(c * CHANNELS);
    UNROLL
    for (int k = 0; k < CHANNELS; ++k) out[k] = tile[(k * 32 + x) * 33 + j];
  }
#endif
}
