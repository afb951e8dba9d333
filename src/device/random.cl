// The numbers of fill_random() (random.cpp): SplitMix64 of a counter, as bits, two floats or a double in [-1, 1).
KERNEL WORK_GROUP(256, 1, 1) void fill_random(GLOBAL ulong* RESTRICT to, ulong words, ulong start) {
  const ulong i = (ulong)GROUP_ID(0) * 256 + LOCAL_ID(0);
  if (i >= words) return;
  ulong z = (start + i) * 0x9e3779b97f4a7c15UL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
  z ^= z >> 31;
#if NUMBERS == 0
  to[i] = z;
#elif NUMBERS == 1
  ((GLOBAL float2*)to)[i] =
      make_float2((float)((int)(uint)z >> 8) * 0x1p-23f, (float)((int)(uint)(z >> 32) >> 8) * 0x1p-23f);
#else
  ((GLOBAL double*)to)[i] = (double)(long)z * 0x1p-63;
#endif
}
