// Sources and receivers of a run of single steps, in one launch: one set of points adds to a level, another takes from
// a level that the launch does not change. Levels start `add_level` and `take_level` elements into the grid.
//
// Work-groups below `add_groups` have one work-item per cell that has sources, so the sum has one order. The others
// have 64 / lanes receivers each: the entries of a receiver are divided among `lanes` work-items, a power of two, whose
// sums are added as a tree.
KERNEL WORK_GROUP(64, 1, 1) void move_points(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const uint* RESTRICT add_places, GLOBAL const uint* RESTRICT add_first,
    GLOBAL const uint* RESTRICT add_points, GLOBAL const CELL* RESTRICT add_weights,
    GLOBAL const CELL* RESTRICT add_values, GLOBAL const uint* RESTRICT take_places,
    GLOBAL const uint* RESTRICT take_first, GLOBAL const CELL* RESTRICT take_weights, GLOBAL CELL* RESTRICT take_values,
    ulong add_level, ulong take_level, ulong origin, ulong add_row, ulong take_row, int add_groups, int cells,
    int lanes, int receivers) {
  AFTER_PREVIOUS_KERNEL();
  LOCAL_ARRAY(CELL, sums, 64);
  const int lane = LOCAL_ID(0), group = (int)GROUP_ID(0);
  // Barriers are outside of branches, and no work-item returns before them: PoCL 3.1 computes wrong sums otherwise.
  if (group < add_groups) {
    const int k = group * 64 + lane;
    if (k < cells) {
      CELL sum = 0;
      for (uint i = add_first[k]; i < add_first[k + 1]; ++i) sum += add_weights[i] * add_values[add_row + add_points[i]];
      const ulong place = origin + add_places[k];
      grid[add_level + place] += media[place] * sum;
    }
  }
  const int receiver = (group - add_groups) * (64 / lanes) + lane / lanes, part = lane % lanes;
  const int takes = group >= add_groups && receiver < receivers;
  const ulong level = take_level + origin;
  CELL sum = 0;
  if (takes) {
    for (uint i = take_first[receiver] + part; i < take_first[receiver + 1]; i += lanes)
      sum += take_weights[i] * grid[level + take_places[i]];
  }
  sums[lane] = sum;
  BARRIER();
  for (int apart = lanes / 2; apart > 0; apart /= 2) {
    if (part < apart) sums[lane] += sums[lane + apart];
    BARRIER();
  }
  if (takes && part == 0) take_values[take_row + receiver] = sums[lane];
}
