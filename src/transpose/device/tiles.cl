// Loads and stores one tile. A work-item first loads all its BLOCKS blocks of WIDTH x WIDTH elements, so that many
// loads are in flight. It transposes each in registers and stores it in local memory as WIDTH units of the output, each
// in its own plane. Consecutive work-items then write PITCH units apart; PITCH is odd, which avoids bank conflicts.
FUNCTION void load_tile(GLOBAL const UNIT* in, LOCAL UNIT* tile, ulong in_row, uint units_down, uint units_across,
                        uint down, uint across) {
  UNIT held[BLOCKS * WIDTH];
  UNROLL
  for (int k = 0; k < BLOCKS; ++k) {
    const uint block = (uint)LOCAL_ID(0) + (uint)(k * WORK_ITEMS);
    const uint r = down + block / UNITS_ACROSS, c = across + block % UNITS_ACROSS;
    if (r < units_down && c < units_across) {
      GLOBAL const UNIT* from = in + (ulong)r * WIDTH * in_row + c;
      UNROLL
      for (int j = 0; j < WIDTH; ++j) held[k * WIDTH + j] = LOAD_UNIT(from + (ulong)j * in_row);
    }
  }
  UNROLL
  for (int k = 0; k < BLOCKS; ++k) {
    const uint block = (uint)LOCAL_ID(0) + (uint)(k * WORK_ITEMS);
    const uint r = block / UNITS_ACROSS, c = block % UNITS_ACROSS;
    if (down + r < units_down && across + c < units_across) {
      LOCAL UNIT* to = tile + c * PITCH + r;
      TRANSPOSE_BLOCK(to, held, k)
    }
  }
}

FUNCTION void store_tile(GLOBAL UNIT* out, LOCAL const UNIT* tile, ulong out_row, uint units_down, uint units_across,
                         uint down, uint across) {
  UNROLL
  for (int k = 0; k < BLOCKS * WIDTH; ++k) {
    const uint unit = (uint)LOCAL_ID(0) + (uint)(k * WORK_ITEMS);
    const uint r = unit % UNITS_DOWN, c = unit / UNITS_DOWN;  // c: output row within the tile
    if (down + r < units_down && across + c / WIDTH < units_across) {
      STORE_UNIT(out + (ulong)(across * WIDTH + c) * out_row + (down + r),
                 tile[(c % WIDTH) * PLANE + (c / WIDTH) * PITCH + r]);
    }
  }
}
