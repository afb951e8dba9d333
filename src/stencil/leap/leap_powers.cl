
// s^steps by squaring; 0 if |s| is below `nothing`.
FUNCTION double mode_power(double s, ulong steps, int bits, double nothing) {
  double p = 1;
  if ((s < 0 ? -s : s) < nothing) return 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    p *= p;
    if ((steps >> bit & 1ul) != 0) p *= s;
  }
  return p;
}
FUNCTION double summed_power(double s, ulong steps, int bits, double nothing, double* sum) {
  double p = 1, q = 0;
  if ((s < 0 ? -s : s) < nothing) {
    *sum = 1 / (1 - s);
    return 0;
  }
  for (int bit = bits - 1; bit >= 0; --bit) {
    q += p * q;
    p *= p;
    if ((steps >> bit & 1ul) != 0) {
      q += p;
      p *= s;
    }
  }
  *sum = q;
  return p;
}
