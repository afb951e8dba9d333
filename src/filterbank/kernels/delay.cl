// Rotates a channel's value by the phase of a delay.
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define SIN_COS_TURNS(p, s, c) sincospif(2.0f * (p), &s, &c)
#define NEAREST_WHOLE(p) rintf(p)
#else
#define SIN_COS_TURNS(p, s, c) { s = sinpi(2.0f * (p)); c = cospi(2.0f * (p)); }
#define NEAREST_WHOLE(p) rint(p)
#endif
FUNCTION float2 turned(float2 value, float2 phase, int channel) {
  float turns = FMA((float)channel, phase.y, phase.x), s, c;
  turns -= NEAREST_WHOLE(turns);
  SIN_COS_TURNS(turns, s, c);
  return make_float2(FMA(value.x, c, -(value.y * s)), FMA(value.x, s, value.y * c));
}
