// DOT_PAIR_UNSIGNED(weights, bytes, start, upper), DOT_PAIR_SIGNED(..): start plus the dot product of two 16-bit weights with
// the lower or upper two bytes (dp2a); `upper` is a constant.
#ifdef __CUDACC_RTC__
FUNCTION int DOT_PAIR_UNSIGNED(uint weights, uint bytes, int start, const int upper) {
  int sum;
  if (upper) {
    asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(weights), "r"(bytes), "r"(start));
  } else {
    asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(weights), "r"(bytes), "r"(start));
  }
  return sum;
}
FUNCTION int DOT_PAIR_SIGNED(uint weights, uint bytes, int start, const int upper) {
  int sum;
  if (upper) {
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(weights), "r"(bytes), "r"(start));
  } else {
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(weights), "r"(bytes), "r"(start));
  }
  return sum;
}
#else
FUNCTION int DOT_PAIR_UNSIGNED(uint weights, uint bytes, int start, const int upper) {
  const uint two = upper ? bytes >> 16 : bytes;
  return start + (int)(weights & 65535u) * (int)(two & 255u) + (int)(weights >> 16) * (int)(two >> 8 & 255u);
}
FUNCTION int DOT_PAIR_SIGNED(uint weights, uint bytes, int start, const int upper) {
  const uint two = upper ? bytes >> 16 : bytes;
  return start + (int)(short)(weights & 65535u) * (int)(two & 255u) + (int)(short)(weights >> 16) * (int)(two >> 8 & 255u);
}
#endif
