// Accesses a window of memory again and again: @vectors@ vectors per work-item and round. @sums@ keep a reading compiler
// from removing the loads.

KERNEL void window_@kind@(@arrays@uint base_step, uint start_step, uint range, uint step,
                  uint rounds) {
  const uint items = (uint)ITEMS(0);
  const uint base = GROUP_ID(0) * base_step;
  uint at = (GROUP_ID(0) * start_step) % range;
@sums@
  for (uint round = 0u; round < rounds; ++round) {
    const ulong start = (ulong)(base + at) * (ulong)(items * @vectors@u) + (ulong)LOCAL_ID(0);
@accesses@
    at += step;
    if (at >= range) at -= range;
  }
@result@
}
