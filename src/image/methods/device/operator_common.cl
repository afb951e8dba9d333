// Border rules and rounding shared by the operators' kernels. bordered_*(i, n) maps index i to the range [0, n);
// bordered_constant returns -1 outside.
FUNCTION int bordered_101(int i, int n) {
  if (i >= 0 && i < n) return i;
  if (n == 1) return 0;
  i = (i < 0 ? -i : i) % (2 * n - 2);
  return i < n ? i : 2 * n - 2 - i;
}
FUNCTION int bordered_reflect(int i, int n) {
  if (i >= 0 && i < n) return i;
  i = (i < 0 ? -i - 1 : i) % (2 * n);
  return i < n ? i : 2 * n - 1 - i;
}
FUNCTION int bordered_replicate(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
FUNCTION int bordered_constant(int i, int n) { return i >= 0 && i < n ? i : -1; }
FUNCTION int bordered_wrap(int i, int n) {
  if (i >= 0 && i < n) return i;
  return i < 0 ? n - 1 - (-i - 1) % n : i % n;
}

FUNCTION float whole_number(float v, float most) {  // rounds half to even and clamps; NaN gives 0
  return fmin(fmax(v, 0.0f), most) + 8388608.0f - 8388608.0f;
}
