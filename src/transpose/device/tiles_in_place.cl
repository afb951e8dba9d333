// In-place transpose by pairs of tiles. The triangle of pairs is folded into a rectangle: row i of the upper triangle
// has side - i pairs and row side - 1 - i has i + 1, together side + 1. An odd side is rounded up, and the pairs
// outside are skipped.
KERNEL WORK_GROUP(WORK_ITEMS, 1, 1) void corner_turn(GLOBAL UNIT* data, uint units, ulong row, ulong batch,
                                                     uint tiles_side, uint even_side) {
  LOCAL_ARRAY(UNIT, upper, PLANE * WIDTH);
  LOCAL_ARRAY(UNIT, lower, PLANE * WIDTH);
  const uint pairs = even_side / 2 * (even_side + 1);
  const uint matrix = GROUP_ID(0) / pairs;
  const uint i = GROUP_ID(0) % pairs / (even_side + 1), k = GROUP_ID(0) % pairs % (even_side + 1);
  const int first_half = k < even_side - i;
  const uint tile_down = first_half ? i : even_side - 1 - i;
  const uint tile_across = first_half ? i + k : tile_down + k - (even_side - i);
  const int inside = tile_down < tiles_side && tile_across < tiles_side;
  const uint limit = inside ? units : 0;  // no early return: all work-items must reach the barrier
  const uint down = tile_down * UNITS_DOWN, across = tile_across * UNITS_ACROSS;
  GLOBAL UNIT* here = data + matrix * batch;
  load_tile(here, upper, row, limit, limit, down, across);
  load_tile(here, lower, row, limit, limit, across, down);
  BARRIER();
  store_tile(here, upper, row, limit, limit, down, across);
  if (down != across) store_tile(here, lower, row, limit, limit, across, down);
}
