// Sums, differences and products of complex numbers.

FUNCTION real2 add(real2 a, real2 b) { return make_real2(a.x + b.x, a.y + b.y); }
FUNCTION real2 subtract(real2 a, real2 b) { return make_real2(a.x - b.x, a.y - b.y); }
FUNCTION real2 multiply(real2 a, real2 b) {
  return make_real2(FMA(a.x, b.x, -(a.y * b.y)), FMA(a.x, b.y, a.y * b.x));
}
FUNCTION real2 conjugate(real2 a) { return make_real2(a.x, -a.y); }
FUNCTION real2 exchanged(real2 a) { return make_real2(a.y, a.x); }
FUNCTION real2 scaled(real2 a, real s) { return make_real2(a.x * s, a.y * s); }
FUNCTION real2 times_pair(real2 a, real x, real y) { return make_real2(a.x * x, a.y * y); }
