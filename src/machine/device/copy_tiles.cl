// Copies whole tiles of @vectors@ vectors per work-item; all loads of a tile are in flight at once.

KERNEL void copy_@vectors@@once@(GLOBAL const float4* RESTRICT from, GLOBAL float4* RESTRICT to, uint tiles) {
  const uint items = (uint)ITEMS(0);
  for (uint tile = GROUP_ID(0); tile < tiles; tile += GROUPS(0)) {
    const ulong start = (ulong)tile * (ulong)(items * @vectors@u) + (ulong)LOCAL_ID(0);
@loads@
@stores@
  }
}
