// Reverses the lowest `bits` bits of an index.

FUNCTION uint reversed(uint k, uint bits) {
  k = ((k >> 1) & 0x55555555u) | ((k & 0x55555555u) << 1);
  k = ((k >> 2) & 0x33333333u) | ((k & 0x33333333u) << 2);
  k = ((k >> 4) & 0x0f0f0f0fu) | ((k & 0x0f0f0f0fu) << 4);
  k = ((k >> 8) & 0x00ff00ffu) | ((k & 0x00ff00ffu) << 8);
  k = (k >> 16) | (k << 16);
  return (k >> 1) >> (31u - bits);
}
