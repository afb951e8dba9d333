// Complex numbers of Burtsev's stage plans.

FUNCTION float2 sum(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
FUNCTION float2 difference(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
FUNCTION float2 times(float2 a, float2 b) {
  return make_float2(FMA(a.x, b.x, -(a.y * b.y)), FMA(a.x, b.y, a.y * b.x));
}
