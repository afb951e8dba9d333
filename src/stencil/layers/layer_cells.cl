// All layers of a cell. The table has, for both sides of each axis: first cell and cells of the band, first memory
// variable, shared value and profile. Then for each box: its first work-group, its first cell and its extent. Cells are
// counted from the first changing one. @blocks@ is layer_axis.cl for each axis with a layer.

KERNEL @work_group@ void @name@(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const CELL* RESTRICT profiles, GLOBAL const CELL* RESTRICT memories, GLOBAL CELL* RESTRICT to,
    GLOBAL const CELL* RESTRICT shared_values, GLOBAL const long* RESTRICT table, ulong newer, ulong older, ulong scale,
    ulong pitch, ulong plane, int boxes, int depth, int height, int width) {
  const int group = (int)GROUP_ID(0);
  GLOBAL const long* box = table + 30;
  while (boxes > 1 && group >= (int)box[7]) {
    box += 7;
    --boxes;
  }
  const uint wide = (uint)box[6], tall = (uint)box[5];
  const uint item = (uint)(group - (int)box[0]) * 128u + (uint)LOCAL_ID(0);
  if (item >= wide * tall * (uint)box[4]) return;
  const int x = (int)(item % wide) + (int)box[3], y = (int)(item / wide % tall) + (int)box[2];
  const int z = (int)(item / wide / tall) + (int)box[1];
  const ulong cell = (ulong)z * plane + (ulong)y * pitch + x;
@blocks@
}
