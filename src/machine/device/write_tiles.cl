// Writes whole tiles of @vectors@ vectors per work-item.

KERNEL void write_@vectors@@once@(GLOBAL float4* RESTRICT to, uint tiles, float value) {
  const uint items = (uint)ITEMS(0);
  const float4 v = make_float4(value, value, value, value);
  for (uint tile = GROUP_ID(0); tile < tiles; tile += GROUPS(0)) {
    const ulong start = (ulong)tile * (ulong)(items * @vectors@u) + (ulong)LOCAL_ID(0);
@stores@
  }
}
