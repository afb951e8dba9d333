// What a launch alone costs.
KERNEL void empty(GLOBAL uint* RESTRICT out) {
  if (GLOBAL_ID(0) == 0xffffffffu) out[0] = 1u;
}
