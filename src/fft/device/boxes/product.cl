// The product of two spectra.
#define GROUP 256

// grid[i] *= spectrum[i].
KERNEL WORK_GROUP(GROUP, 1, 1)
void multiply_spectra(GLOBAL NUMBER2* RESTRICT grid, GLOBAL const NUMBER2* RESTRICT spectrum, ulong count) {
  const ulong i = GLOBAL_ID(0);
  if (i >= count) return;
  const NUMBER2 a = grid[i], b = spectrum[i];
  grid[i] = MAKE2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
