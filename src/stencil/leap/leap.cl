// Advances every mode by `steps` steps: multiplies by the power of its symbol, by squaring in double, and adds the
// contribution of fixed borders. The text before this defines FIELDS, PARTS (2: complex values), NX, NY and ROWS of the
// modes, symbol(), force() and mode_power(). PITCH is the distance between rows; modes from KEPT on along x are zero.
#define ROWS_PER_ITEM 4

KERNEL WORK_GROUP(256, 1, 1) void leap_power(GLOBAL CELL* RESTRICT spectrum, GLOBAL const double* RESTRICT tables,
                                             GLOBAL const double* RESTRICT faces, int forced) {
  const ulong steps = (ulong)tables[0];
  const int bits = (int)tables[1];
  const double nothing = tables[2];
  const ulong columns = (NX + 255ul) / 256ul;
  const ulong x = (ulong)GROUP_ID(0) % columns * 256ul + (ulong)LOCAL_ID(0);
  if (x >= NX) return;
  for (int r = 0; r < ROWS_PER_ITEM; ++r) {
    const ulong row = (ulong)GROUP_ID(0) / columns * ROWS_PER_ITEM + (ulong)r;
    if (row >= ROWS) return;
    if (x >= KEPT) {
      for (int part = 0; part < PARTS; ++part) spectrum[(row * PITCH + x) * PARTS + part] = 0;
      continue;
    }
    const ulong z = row / NY, y = row % NY;
    double s[FIELDS * FIELDS], f[FIELDS * PARTS];
    symbol(tables + 4, z, y, x, s);
    if (forced) force(faces, z, y, x, f);
    GLOBAL CELL* const value = spectrum + (row * PITCH + x) * PARTS;
#if FIELDS == 1
    double q = 0;
    const double p = forced ? summed_power(s[0], steps, bits, nothing, &q) : mode_power(s[0], steps, bits, nothing);
    for (int part = 0; part < PARTS; ++part) {
      const double after = p * (double)value[part] + (forced ? q * f[part] : 0.0);
      value[part] = (CELL)after;
    }
#else
    double p[4] = {1, 0, 0, 1}, q[4] = {0, 0, 0, 0}, t[4];
    for (int bit = bits - 1; bit >= 0; --bit) {
      if (forced) {
        t[0] = p[0] * q[0] + p[1] * q[2];
        t[1] = p[0] * q[1] + p[1] * q[3];
        t[2] = p[2] * q[0] + p[3] * q[2];
        t[3] = p[2] * q[1] + p[3] * q[3];
        for (int i = 0; i < 4; ++i) q[i] += t[i];
      }
      t[0] = p[0] * p[0] + p[1] * p[2];
      t[1] = p[1] * (p[0] + p[3]);
      t[2] = p[2] * (p[0] + p[3]);
      t[3] = p[2] * p[1] + p[3] * p[3];
      for (int i = 0; i < 4; ++i) p[i] = t[i];
      if ((steps >> bit & 1ul) != 0) {
        for (int i = 0; i < 4; ++i) q[i] += p[i];
        t[0] = s[0] * p[0] + s[1] * p[2];
        t[1] = s[0] * p[1] + s[1] * p[3];
        t[2] = s[2] * p[0] + s[3] * p[2];
        t[3] = s[2] * p[1] + s[3] * p[3];
        for (int i = 0; i < 4; ++i) p[i] = t[i];
      }
    }
    GLOBAL CELL* const other = value + (ulong)ROWS * PITCH * PARTS;
    for (int part = 0; part < PARTS; ++part) {
      const double a = (double)value[part], b = (double)other[part];
      double now = p[0] * a + p[1] * b, before = p[2] * a + p[3] * b;
      if (forced) {
        now += q[0] * f[part] + q[1] * f[PARTS + part];
        before += q[2] * f[part] + q[3] * f[PARTS + part];
      }
      value[part] = (CELL)now;
      other[part] = (CELL)before;
    }
#endif
  }
}
