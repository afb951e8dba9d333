// Local memory bandwidth. Indices depend on the work-item and the round, so no compiler can keep the values in registers.
KERNEL void local_read(GLOBAL uint* RESTRICT out, uint rounds) {
  LOCAL_ARRAY(uint4, block, LOCAL_VECTORS);
  const uint items = (uint)ITEMS(0);
  for (uint i = (uint)LOCAL_ID(0); i < LOCAL_VECTORS; i += items) block[i] = make_uint4(i, 1u, 2u, 3u);
  BARRIER();
  uint at = (uint)LOCAL_ID(0);
  uint sum = 0u;
  for (uint round = 0u; round < rounds; ++round) {
    UNROLL
    for (uint visit = 0u; visit < LOCAL_VISITS; ++visit) {
      const uint4 v = block[at];
      sum += v.x + v.y + v.z + v.w;
      at = (at + items) & (LOCAL_VECTORS - 1u);
    }
  }
  BARRIER();
  out[GLOBAL_ID(0)] = sum + block[LOCAL_ID(0)].x;
}

KERNEL void local_write(GLOBAL uint* RESTRICT out, uint rounds) {
  LOCAL_ARRAY(uint4, block, LOCAL_VECTORS);
  const uint items = (uint)ITEMS(0);
  for (uint i = (uint)LOCAL_ID(0); i < LOCAL_VECTORS; i += items) block[i] = make_uint4(i, 1u, 2u, 3u);
  BARRIER();
  uint at = (uint)LOCAL_ID(0);
  uint sum = 0u;
  for (uint round = 0u; round < rounds; ++round) {
    UNROLL
    for (uint visit = 0u; visit < LOCAL_VISITS; ++visit) {
      block[at] = make_uint4(at, round, visit, 3u);
      at = (at + items) & (LOCAL_VECTORS - 1u);
    }
  }
  BARRIER();
  out[GLOBAL_ID(0)] = sum + block[LOCAL_ID(0)].x;
}

// Each work-item copies between its own elements only, so there are no races within a group.
KERNEL void local_copy(GLOBAL uint* RESTRICT out, uint rounds) {
  LOCAL_ARRAY(uint4, block, LOCAL_VECTORS);
  const uint items = (uint)ITEMS(0);
  for (uint i = (uint)LOCAL_ID(0); i < LOCAL_VECTORS; i += items) block[i] = make_uint4(i, 1u, 2u, 3u);
  BARRIER();
  uint at = (uint)LOCAL_ID(0);
  uint sum = 0u;
  for (uint round = 0u; round < rounds; ++round) {
    UNROLL
    for (uint visit = 0u; visit < LOCAL_VISITS; ++visit) {
      block[at] = block[(at + 2u * items) & (LOCAL_VECTORS - 1u)];
      at = (at + items) & (LOCAL_VECTORS - 1u);
    }
  }
  BARRIER();
  out[GLOBAL_ID(0)] = sum + block[LOCAL_ID(0)].x;
}
