// Two numbers rounded to bytes. Adding 1.5 * 2^23 leaves the rounded number in the lowest bits.

FUNCTION ushort byte_pair(float2 v) {
  const uint x = BITS_OF(fmin(fmax(v.x, -127.0f), 127.0f) + 12582912.0f);
  const uint y = BITS_OF(fmin(fmax(v.y, -127.0f), 127.0f) + 12582912.0f);
  return (ushort)((x & 255u) | (y & 255u) << 8);
}
