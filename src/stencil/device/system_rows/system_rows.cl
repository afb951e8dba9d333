// Kernel of system_rows: the strip of the work-group and the cells of the lane. @march@ computes the rows.

KERNEL WORK_GROUP_RESIDENT(LANES * SUB_GROUPS, 1, 1, RESIDENT) void system_rows(
    GLOBAL const REAL* in, GLOBAL REAL* out, @coefficients@ulong origin, ulong field, int height, int pitch, int start_x, int left,
    int right, int top, int bottom, int strips, int chunk_rows) {
@locals@
  const int lane = LOCAL_ID(0) % LANES;
  const int strip = (int)GROUP_ID(0) * SUB_GROUPS + LOCAL_ID(0) / LANES;
@leave@
  const int x = start_x + strip * USEFUL - HALO + lane * CELLS;
  const int first_row = top + (int)GROUP_ID(1) * chunk_rows;
  const int end_row = bottom - first_row < chunk_rows ? bottom : first_row + chunk_rows;
  const int stores = lane * CELLS >= HALO && (lane + 1) * CELLS <= LANES * CELLS - HALO;
  const int whole = x >= left && x + CELLS <= right;
@march@
}
