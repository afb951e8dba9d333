// Strips of the grid's frame (the cells near its sides), as a kernel or, with @place@, as a function of strip_joined.cl.
// @marches@ computes the rows of the strip.

@kind@ void strip_frame(@place@
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, ulong origin, int width, int height, int pitch, int left,
    int right, int strips, int bands, int band_rows, int band_stride, int side_rows, int tasks, REAL keep, REAL scale@weights@) {
  const int lane = LOCAL_ID(0) % LANES;
  const int task = @group@ * SUB_GROUPS + LOCAL_ID(0) / LANES;
@locals@
  // First the bands of rows over the whole width, then the left and right sides between them in pieces.
  const int side = task - bands * strips;
  const int strip = side < 0 ? task % strips : side % 2 == 0 ? 0 : strips - 1;
  const int first_row = side < 0 ? task / strips * band_stride : band_rows + side / 2 * side_rows;
  const int rows_end = side < 0 ? first_row + band_rows : first_row + side_rows;
  const int rows_most = side < 0 ? height : height - band_rows;
  const int end_row = rows_end < rows_most ? rows_end : rows_most;
  // The last strip ends at the end of the row; the others are adjacent, from the left.
  const int last = strip == strips - 1;
  const int x = (last ? width - USEFUL - HALO : strip * USEFUL - HALO) + lane * CELLS;
  // A lane that crosses the end of the row reads data of another row, so it and the cells it reaches are invalid.
  const int stores = lane * CELLS >= HALO && (lane + 1) * CELLS <= LANES * CELLS - HALO &&
                     (last ? x >= width % CELLS + REACH_X : x + CELLS <= width / CELLS * CELLS - REACH_X) &&
                     (side < 0 || (last ? x + CELLS > right : x < left));
@marches@
}
