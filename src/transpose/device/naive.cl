// Corner turn (transpose), one element per work-item. A work-group transposes ITEMS_DOWN x ITEMS_ACROSS elements of one
// matrix; groups are numbered along rows, then down, then by matrix.
#if IN_PLACE
KERNEL WORK_GROUP(ITEMS_ACROSS, ITEMS_DOWN, 1) void corner_turn(
    GLOBAL ELEMENT* data,
#else
KERNEL WORK_GROUP(ITEMS_ACROSS, ITEMS_DOWN, 1) void corner_turn(
    GLOBAL const ELEMENT* RESTRICT in, GLOBAL ELEMENT* RESTRICT out,
#endif
    uint rows, uint columns, ulong in_row, ulong in_column, ulong in_batch, ulong out_row, ulong out_column,
    ulong out_batch, uint groups_down, uint groups_across) {
  const uint group = GROUP_ID(0);
  const uint matrix = group / (groups_down * groups_across);
  const uint place = group % (groups_down * groups_across);
  const uint row = place / groups_across * ITEMS_DOWN + LOCAL_ID(1);
  const uint column = place % groups_across * ITEMS_ACROSS + LOCAL_ID(0);
  if (row >= rows || column >= columns) return;
#if IN_PLACE
  if (column <= row) return;  // the work-item above the diagonal exchanges both elements
  GLOBAL ELEMENT* one = data + matrix * in_batch + row * in_row + column * in_column;
  GLOBAL ELEMENT* two = data + matrix * in_batch + column * in_row + row * in_column;
  const ELEMENT held = *one;
  *one = *two;
  *two = held;
#else
  out[matrix * out_batch + column * out_row + row * out_column] =
      in[matrix * in_batch + row * in_row + column * in_column];
#endif
}
