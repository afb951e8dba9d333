// Transposes a panel of columns and multiplies element (k, j) by root of unity m = (first + j) k, which is
// coarse[m >> SHIFT] * fine[m & MASK].
#define TILE 32
KERNEL WORK_GROUP(TILE, ROWS_AT_ONCE, 1)
void multiply_and_transpose(GLOBAL const PAIR* RESTRICT in, GLOBAL PAIR* RESTRICT out,
                            GLOBAL const PAIR* RESTRICT coarse, GLOBAL const PAIR* RESTRICT fine, ulong first,
                            uint rows, uint columns, uint pitch) {
  LOCAL_ARRAY(PAIR, tile, TILE * (TILE + 1));
  const uint across = (columns + TILE - 1) / TILE, lane = (uint)LOCAL_ID(0);
  const uint x = (uint)GROUP_ID(0) % across * TILE, y = (uint)GROUP_ID(0) / across * TILE;
  for (uint i = (uint)LOCAL_ID(1); i < TILE; i += ROWS_AT_ONCE) {
    const uint k = y + i, j = x + lane;
    if (k < rows && j < columns) {
      const ulong m = (first + j) * k;
      const PAIR a = coarse[m >> SHIFT], b = fine[m & MASK], value = in[(ulong)k * pitch + j];
      const REAL c = a.x * b.x - a.y * b.y, s = a.x * b.y + a.y * b.x;
      PAIR result;
      result.x = value.x * c - value.y * s;
      result.y = value.x * s + value.y * c;
      tile[i * (TILE + 1) + lane] = result;
    }
  }
  BARRIER();
  for (uint i = (uint)LOCAL_ID(1); i < TILE; i += ROWS_AT_ONCE) {
    const uint j = x + i, k = y + lane;
    if (k < rows && j < columns) out[(ulong)j * rows + k] = tile[lane * (TILE + 1) + i];
  }
}
