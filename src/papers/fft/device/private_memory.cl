// Accesses an array of @words@ words of one work-item. The index depends on the data, so that no compiler can replace the
// array by scalars or remove an access.

KERNEL WORK_GROUP(1, 1, 1) void private_memory(GLOBAL uint* RESTRICT out, uint accesses, uint step) {
  uint a[@words@];
  for (uint i = 0; i < @words@u; ++i) a[i] = (i + step) & @mask@u;
  uint at = GROUP_ID(0) & @mask@u;
  for (uint i = 0; i < accesses; ++i) {
    const uint next = a[at];
    a[at] = (next + step) & @mask@u;
    at = next;
  }
  out[GROUP_ID(0)] = at;
}
