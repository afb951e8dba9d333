// Beginning of plane_march: the tile of the work-group and the cells of the work-item. plane_march_codegen.cpp writes
// the march over the planes after it. @weights@ are parameters.

KERNEL WORK_GROUP(LANES * LINES, 1, 1) void plane_march(
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, ulong origin, int width, int height, int planes, int pitch,
    int columns, int tile_rows, int chunk_planes, int side_groups, int side_planes, REAL keep, REAL scale@weights@) {
  // Edge rows of patches: [parity][step][upper, lower][line][lane], then the prefetched planes, then sides of lanes.
  LOCAL_BLOCK(REAL, local_block, LOCAL_REALS);
  LOCAL REAL* const ahead = local_block + EDGE_REALS;
  const int lane = LOCAL_ID(0) % LANES, line = LOCAL_ID(0) / LANES;
  // Tiles at the sides come first, in their own chunks, because they take longer: whole rows of them, then columns.
  const int inner_columns = columns - 2 * SIDE_COLUMNS, inner_rows = tile_rows - 2 * SIDE_ROWS;
  const int group = (int)GROUP_ID(0), at_side = group < side_groups;
  const int tiles = at_side ? 2 * (SIDE_ROWS * columns + SIDE_COLUMNS * inner_rows) : inner_columns * inner_rows;
  const int place = at_side ? group : group - side_groups, chunk = place / tiles, tile = place % tiles;
  const int in_rows = tile < 2 * SIDE_ROWS * columns, rest = tile - 2 * SIDE_ROWS * columns;
  const int column = !at_side ? tile % inner_columns + SIDE_COLUMNS : in_rows ? tile % columns : rest % 2 * (columns - 1);
  const int tile_row = !at_side  ? tile / inner_columns + SIDE_ROWS
                       : in_rows ? tile / columns * (tile_rows - 1)
                                 : rest / 2 + SIDE_ROWS;
  // The last tile of a row ends at the end of the grid; the others are adjacent from the start. The same along columns.
  const int last_column = column == columns - 1, last_row = tile_row == tile_rows - 1;
  const int x = (last_column ? width - USEFUL_X - HALO_X : column * USEFUL_X - HALO_X) + lane * CELLS;
  const int y = (last_row ? height - USEFUL_Y - HALO_Y : tile_row * USEFUL_Y - HALO_Y) + line * ROWS;
  const int march = at_side ? side_planes : chunk_planes, first_plane = chunk * march;
  const int end_plane = planes - first_plane < march ? planes : first_plane + march;
  const ulong plane_size = (ulong)pitch * height;
  // A lane that crosses the end of the row reads data of another row, so it and the cells it reaches are invalid.
  const int stores = lane * CELLS >= HALO_X && (lane + 1) * CELLS <= LANES * CELLS - HALO_X && line * ROWS >= HALO_Y &&
                     (line + 1) * ROWS <= LINES * ROWS - HALO_Y && (last_column ? x >= width % CELLS + DEPTH : x + CELLS <= width / CELLS * CELLS - DEPTH) &&
                     (last_row ? y >= DEPTH : y + ROWS <= height - DEPTH);
