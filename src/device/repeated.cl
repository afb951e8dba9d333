// Arrays with a pattern that repeats along every axis (repeated.hpp): written from a small array with the same pattern,
// and compared with one. WHOLE_* are the sides of the large array, whose rows are PITCH elements apart, SMALL_* those of
// the small one; x is contiguous.
FUNCTION ulong repeated_source(ulong i, ulong whole, ulong small, ulong head, ulong period) {
  if (i < head) return i;
  return i >= whole - head ? i - (whole - small) : head + (i - head) % period;
}

// First element of the small array's row that corresponds to a row of the large one.
FUNCTION ulong source_row(uint row) {
  const ulong y = row % WHOLE_Y, z = row / WHOLE_Y % WHOLE_Z, field = row / WHOLE_Y / WHOLE_Z;
  const ulong small_y = repeated_source(y, WHOLE_Y, SMALL_Y, HEAD_Y, PERIOD_Y);
  const ulong small_z = repeated_source(z, WHOLE_Z, SMALL_Z, HEAD_Z, PERIOD_Z);
  return ((field * SMALL_Z + small_z) * SMALL_Y + small_y) * SMALL_X;
}

KERNEL WORK_GROUP(64, 4, 1) void expand(GLOBAL const ELEMENT* RESTRICT small, GLOBAL ELEMENT* RESTRICT whole,
                                        uint rows) {
  for (uint row = GROUP_ID(0) * 4 + (uint)LOCAL_ID(1); row < rows; row += GROUPS(0) * 4) {
    const ulong from = source_row(row);
    GLOBAL ELEMENT* to = whole + row * PITCH;
    for (ulong x = (ulong)GROUP_ID(1) * 64 + (ulong)LOCAL_ID(0); x < WHOLE_X; x += (ulong)GROUPS(1) * 64)
      to[x] = small[from + repeated_source(x, WHOLE_X, SMALL_X, HEAD_X, PERIOD_X)];
  }
}

// Largest absolute difference of each work-item, and its element. Values that are not finite equal each other; one of
// them alone gives NaN.
KERNEL WORK_GROUP(64, 4, 1) void compare(GLOBAL const ELEMENT* RESTRICT whole, GLOBAL const ELEMENT* RESTRICT small,
                                         GLOBAL WIDE* RESTRICT worst, GLOBAL ulong* RESTRICT places, uint rows) {
  WIDE most = 0;
  ulong place = 0;
  for (uint row = GROUP_ID(0) * 4 + (uint)LOCAL_ID(1); row < rows; row += GROUPS(0) * 4) {
    const ulong from = source_row(row), start = row * PITCH;
    for (ulong x = (ulong)GROUP_ID(1) * 64 + (ulong)LOCAL_ID(0); x < WHOLE_X; x += (ulong)GROUPS(1) * 64) {
      const WIDE got = (WIDE)whole[start + x];
      const WIDE wanted = (WIDE)small[from + repeated_source(x, WHOLE_X, SMALL_X, HEAD_X, PERIOD_X)];
      const WIDE distance = got < wanted ? wanted - got : got - wanted;
      const int finite = got - got == 0 || wanted - wanted == 0;
      if (finite && most == most && !(distance <= most)) {
        most = distance - distance == 0 ? distance : distance - distance;
        place = row * WHOLE_X + x;
      }
    }
  }
  const ulong item = ((ulong)GROUP_ID(1) * GROUPS(0) + GROUP_ID(0)) * 256 + (ulong)(LOCAL_ID(1) * 64 + LOCAL_ID(0));
  worst[item] = most;
  places[item] = place;
}
