// Out-of-place transpose: each work-group moves TILES_PER_GROUP tiles through local memory.
KERNEL WORK_GROUP(WORK_ITEMS, 1, 1) void corner_turn(
    GLOBAL const UNIT* RESTRICT in, GLOBAL UNIT* RESTRICT out, uint units_down, uint units_across, ulong in_row,
    ulong out_row, ulong in_batch, ulong out_batch, uint tiles_down, uint tiles_across, uint tiles) {
  LOCAL_ARRAY(UNIT, tile, PLANE * WIDTH);
#if TILES_PER_GROUP > 1
  for (uint tile_of_group = 0; tile_of_group < TILES_PER_GROUP; ++tile_of_group) {
    if (tile_of_group != 0) BARRIER();  // the previous tile has been stored
    const uint index = GROUP_ID(0) * TILES_PER_GROUP + tile_of_group;
#else
  {
    const uint index = GROUP_ID(0);
#endif
    const uint matrix = index / (tiles_down * tiles_across);
    const uint place = index % (tiles_down * tiles_across);
    uint tile_down, tile_across;
    PLACE_TILE(place, tile_down, tile_across);
    const uint down = tile_down * UNITS_DOWN, across = tile_across * UNITS_ACROSS;
    const uint limit = index < tiles ? units_down : 0;  // the last group may have fewer tiles
    load_tile(in + matrix * in_batch, tile, in_row, limit, units_across, down, across);
    BARRIER();
    store_tile(out + matrix * out_batch, tile, out_row, limit, units_across, down, across);
  }
}
