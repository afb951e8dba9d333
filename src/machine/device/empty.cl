// An empty kernel: measures the launch latency.
KERNEL void empty(GLOBAL uint* RESTRICT out) {
  if (GLOBAL_ID(0) == 0xffffffffu) out[0] = 1u;
}
