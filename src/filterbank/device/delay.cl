// Rotates a channel's value by the phase of a delay.
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define SIN_COS_CYCLES(p, s, c) sincospif(2.0f * (p), &s, &c)
#define NEAREST_WHOLE(p) rintf(p)
#else
#define SIN_COS_CYCLES(p, s, c) { s = sinpi(2.0f * (p)); c = cospi(2.0f * (p)); }
#define NEAREST_WHOLE(p) rint(p)
#endif
FUNCTION float2 rotated(float2 value, float2 phase, int channel) {
  float cycles = FMA((float)channel, phase.y, phase.x), s, c;
  cycles -= NEAREST_WHOLE(cycles);
  SIN_COS_CYCLES(cycles, s, c);
  return make_float2(FMA(value.x, c, -(value.y * s)), FMA(value.x, s, value.y * c));
}
