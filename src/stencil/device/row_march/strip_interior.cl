// Strips of the grid's interior, as a kernel or, with @place@, as a function of strip_joined.cl. @marches@ computes the
// rows of the strip.

@kind@ void strip_interior(@place@
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, ulong origin, int width, int height, int pitch, int right,
    int strips, int chunk_rows, REAL scale@weights@) {
  const int lane = LOCAL_ID(0) % LANES;
  const int strip = @group@ * SUB_GROUPS + LOCAL_ID(0) / LANES;
@locals@
  const int first_row = REACH_Y + @piece@ * chunk_rows;
  const int end_row = height - REACH_Y - first_row < chunk_rows ? height - REACH_Y : first_row + chunk_rows;
  const int strip_x = strip * USEFUL;  // a strip reads from here; it writes from HALO cells after it up to stored_end
  const int stored_end = right - strip_x < LANES * CELLS - HALO ? right - strip_x : LANES * CELLS - HALO;
@marches@
}
