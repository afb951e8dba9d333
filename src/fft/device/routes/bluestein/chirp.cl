// Tables of Bluestein's method, computed in double: the chirp exp(-i pi k^2 / n), and the filter before its transform.
// Roots of order 2 n are products of entries of two tables of four numbers each, as in AnyRoots (fft/roots.cpp): real
// and imaginary parts, then what rounding removed from them.
FUNCTION double exact_product(double x, double x_low, double y, double y_low, double* error) {
  const double p = x * y;
  *error = FMA(x, y_low, FMA(x_low, y, FMA(x, y, -p)));
  return p;
}

FUNCTION double exact_sum(double p, double e, double q, double f) {
  const double s = p + q, t = s - p;
  return s + (((p - (s - t)) + (q - t)) + (e + f));
}

FUNCTION double2 chirp_at(GLOBAL const double* coarse, GLOBAL const double* fine, int shift, ulong n, ulong k) {
  const ulong root = k * k % (2 * n);
  GLOBAL const double* a = coarse + 4 * (root >> shift);
  GLOBAL const double* b = fine + 4 * (root & ((1ul << shift) - 1));
  double e, f;
  double p = exact_product(a[0], a[2], b[0], b[2], &e), q = exact_product(-a[1], -a[3], b[1], b[3], &f);
  const double real = exact_sum(p, e, q, f);
  p = exact_product(a[0], a[2], b[1], b[3], &e);
  q = exact_product(a[1], a[3], b[0], b[2], &f);
  return make_double2(real, exact_sum(p, e, q, f));
}

KERNEL WORK_GROUP(256, 1, 1)
void chirp_table(GLOBAL PAIR* RESTRICT to, GLOBAL const double* RESTRICT coarse, GLOBAL const double* RESTRICT fine,
                 int shift, ulong n, double scale, double imaginary_scale) {
  const ulong k = (ulong)GROUP_ID(0) * 256 + (ulong)LOCAL_ID(0);
  if (k >= n) return;
  const double2 value = chirp_at(coarse, fine, shift, n, k);
  PAIR rounded;
  rounded.x = (NUMBER)(value.x * scale);
  rounded.y = (NUMBER)(value.y * imaginary_scale);
  to[k] = rounded;
}

// conj(chirp) / padded at 0 .. n - 1 and mirrored at the end, zeros between.
KERNEL WORK_GROUP(256, 1, 1)
void chirp_filter(GLOBAL double2* RESTRICT to, GLOBAL const double* RESTRICT coarse, GLOBAL const double* RESTRICT fine,
                  int shift, ulong n, ulong padded, double scale) {
  const ulong k = (ulong)GROUP_ID(0) * 256 + (ulong)LOCAL_ID(0);
  if (k >= padded) return;
  double2 value = make_double2(0.0, 0.0);
  if (k < n || padded - k < n) {
    value = chirp_at(coarse, fine, shift, n, k < n ? k : padded - k);
    value.x *= scale;
    value.y *= -scale;
  }
  to[k] = value;
}

// Rounds the filter's spectrum and stores its values by rows: value k in row k % columns.
KERNEL WORK_GROUP(256, 1, 1)
void chirp_rows(GLOBAL const double2* RESTRICT from, GLOBAL PAIR* RESTRICT to, ulong padded, ulong columns, ulong rows,
                double sign) {
  const ulong k = (ulong)GROUP_ID(0) * 256 + (ulong)LOCAL_ID(0);
  if (k >= padded) return;
  const double2 value = from[k];
  PAIR rounded;
  rounded.x = (NUMBER)value.x;
  rounded.y = (NUMBER)(value.y * sign);
  to[k % columns * rows + k / columns] = rounded;
}
