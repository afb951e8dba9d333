// One read and one write per work-item, from each memory space. Needs the table constant_table[ACCESS_BYTES].
KERNEL WORK_GROUP(ACCESS_ITEMS, 1, 1) void access_registers(GLOBAL uchar* RESTRICT out) {
  out[GLOBAL_ID(0)] = (uchar)LOCAL_ID(0);
}

KERNEL WORK_GROUP(ACCESS_ITEMS, 1, 1) void access_global(
    GLOBAL const uchar* RESTRICT from, GLOBAL uchar* RESTRICT out, uint mask, uint shift, uint stride) {
  const uint tid = (uint)LOCAL_ID(0);
  const uint index = ((tid & mask) >> shift) * stride;
  out[GLOBAL_ID(0)] = from[index];
}

KERNEL WORK_GROUP(ACCESS_ITEMS, 1, 1) void access_cached(
    GLOBAL const uchar* RESTRICT from, GLOBAL uchar* RESTRICT out, uint mask, uint shift, uint stride) {
  const uint tid = (uint)LOCAL_ID(0);
  const uint index = ((tid & mask) >> shift) * stride;
  out[GLOBAL_ID(0)] = LOAD_CACHED(from + index);
}

KERNEL WORK_GROUP(ACCESS_ITEMS, 1, 1) void access_constant(
    GLOBAL uchar* RESTRICT out, uint mask, uint shift, uint stride) {
  const uint tid = (uint)LOCAL_ID(0);
  const uint index = ((tid & mask) >> shift) * stride;
  out[GLOBAL_ID(0)] = constant_table[index];
}

// As in the thesis, local memory is filled from global memory first, each distinct byte by one work-item of the group.
KERNEL WORK_GROUP(ACCESS_ITEMS, 1, 1) void access_local(
    GLOBAL const uchar* RESTRICT from, GLOBAL uchar* RESTRICT out, uint mask, uint shift, uint stride) {
  LOCAL_ARRAY(uchar, block, ACCESS_BYTES);
  const uint tid = (uint)LOCAL_ID(0);
  const uint index = ((tid & mask) >> shift) * stride;
  if ((((tid & mask) >> shift) << shift) == tid) block[index] = from[index];
  BARRIER();
  out[GLOBAL_ID(0)] = block[index];
}

KERNEL void poison(GLOBAL uint4* RESTRICT buffer, uint vectors, uint value) {
  const uint4 v = make_uint4(value, value, value, value);
  for (uint i = GLOBAL_ID(0); i < vectors; i += GROUPS(0) * (uint)ITEMS(0)) buffer[i] = v;
}
