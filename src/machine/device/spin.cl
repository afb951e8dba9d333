// Spins for `rounds` steps of a recurrence without a closed form; each step depends on the previous one.
KERNEL void spin(GLOBAL uint* RESTRICT out, uint rounds) {
  uint x = GLOBAL_ID(0);
  for (uint round = 0u; round < rounds; ++round) x = (x ^ (x >> 7)) * 1664525u + 1013904223u;
  out[GLOBAL_ID(0)] = x;
}
