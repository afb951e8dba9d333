// Complex product.
FUNCTION float2 multiply(float2 a, float2 b) {
  return make_float2(FMA(a.x, b.x, -(a.y * b.y)), FMA(a.x, b.y, a.y * b.x));
}
