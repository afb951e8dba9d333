// Functions shared by the flow kernels. A picture is a plane of words, red | green << 8 | blue << 16, with PAD
// reflected cells around it. Both directions are computed at once: direction 0 is from the first frame to the second,
// direction 1 is backward. Internal flow is (rows down, columns right).

FUNCTION int least_of(int a, int b) { return a < b ? a : b; }
FUNCTION int most_of(int a, int b) { return a > b ? a : b; }

// Reflect-101 at any distance.
FUNCTION int reflected(int i, int n) {
  if (n == 1) return 0;
  const int period = 2 * (n - 1);
  i = (i < 0 ? -i : i) % period;
  return i < n ? i : period - i;
}

FUNCTION ulong padded_cell(int r, int c, int pitch) { return (ulong)(r + PAD) * (ulong)pitch + (ulong)(c + PAD); }

// `start` plus |a - b|^2 of two words' colours.
FUNCTION uint squares_of(uint a, uint b, uint start) {
  const uint apart = BYTES_ABSDIFF(a, b);
  return BYTES_DOT(apart, apart, start);
}

// Start of a search: the flow rounded half to even and clamped to the picture, relative to `at`.
FUNCTION int start_of(float flow, int at, int size) {
  return least_of(most_of(at + ROUND_EVEN(flow), 0), size - 1) - at;
}
