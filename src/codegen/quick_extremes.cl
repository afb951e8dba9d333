// The lower and the higher of two numbers in one instruction; NaN if either is NaN. REAL is float or double.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
FUNCTION float lower_of(float a, float b) {
  float lower;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(lower) : "f"(a), "f"(b));
  return lower;
}
FUNCTION float higher_of(float a, float b) {
  float higher;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(higher) : "f"(a), "f"(b));
  return higher;
}
FUNCTION double lower_of(double a, double b) { return b < a ? b : a; }
FUNCTION double higher_of(double a, double b) { return a < b ? b : a; }
#else
FUNCTION REAL lower_of(REAL a, REAL b) { return b < a ? b : a; }
FUNCTION REAL higher_of(REAL a, REAL b) { return a < b ? b : a; }
#endif
