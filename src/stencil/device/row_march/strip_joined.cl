// Interior and frame in one launch; the groups of the frame come first.

KERNEL WORK_GROUP_RESIDENT(LANES * SUB_GROUPS, 1, 1, RESIDENT) void strip_joined(
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, ulong origin, int width, int height, int pitch, int left,
    int right, int strips, int bands, int band_rows, int band_stride, int side_rows, int tasks, REAL keep, REAL scale@weights@,
    int frame_groups, int columns, int interior_strips, int chunk_rows) {
  LOCAL_ARRAY(REAL, part_block, @reals@);
  const int group = (int)GROUP_ID(0);
  if (group < frame_groups) {
    strip_frame(part_block, group, 0, in, out, origin, width, height, pitch, left, right, strips, bands, band_rows,
                band_stride, side_rows, tasks, keep, scale@frame_weights@);
  } else {
    const int place = group - frame_groups;
    strip_interior(part_block, place % columns, place / columns, in, out, origin, width, height, pitch, right,
                   interior_strips, chunk_rows, scale@interior_weights@);
  }
}
