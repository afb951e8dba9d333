// Kernel of system_planes: the tile of the work-group and the patch of the work-item. @march@ computes the planes.

KERNEL WORK_GROUP_RESIDENT(LANES * LINES, 1, 1, RESIDENT) void system_planes(
    GLOBAL const REAL* in, GLOBAL REAL* out, @coefficients@ulong origin, ulong field, int planes, int height, int pitch, int left,
    int right, int top, int bottom, int first, int last, int first_x, int tiles_x, int chunk@places@@tile_map@) {
  AFTER_PREVIOUS_KERNEL();
  LOCAL_BLOCK(REAL, ring, ALL_SLOTS * NEIGHBOUR_FIELDS * PLANE);
  const int item = LOCAL_ID(0), lane = item % LANES, line = item / LANES;
  const int tile_x = first_x + (int)GROUP_ID(0) % tiles_x * USEFUL_X;
  const int tile_y = (int)GROUP_ID(0) / tiles_x * USEFUL_Y + top - MARGIN_Y;
  const int x = tile_x + lane * CELLS, y = tile_y + line * ROWS;
  const int first_plane = first + (int)GROUP_ID(1) * chunk;
  const int end_plane = last - first_plane < chunk ? last : first_plane + chunk;
  const int whole = x >= left && x + CELLS <= right;
  const int stores_x = lane * CELLS >= MARGIN_X && (lane + 1) * CELLS <= TILE_X - MARGIN_X;
  LOCAL REAL* const mine = ring + (line * ROWS + RADIUS_Y) * WIDTH + HALO_X + lane * CELLS;
@march@
}
