// Border rules. BORDER: 0 reflect-101, 1 reflect, 2 replicate, 3 constant, 4 wrap. BEYOND: the constant.
FUNCTION int bordered(int i, int n) {  // -1: the constant
  if (i >= 0 && i < n) return i;
#if BORDER == 0
  if (n == 1) return 0;
  i = (i < 0 ? -i : i) % (2 * n - 2);
  return i < n ? i : 2 * n - 2 - i;
#elif BORDER == 1
  i = (i < 0 ? -i - 1 : i) % (2 * n);
  return i < n ? i : 2 * n - 1 - i;
#elif BORDER == 2
  return i < 0 ? 0 : n - 1;
#elif BORDER == 3
  return -1;
#else
  return i < 0 ? n - 1 - (-i - 1) % n : i % n;
#endif
}
