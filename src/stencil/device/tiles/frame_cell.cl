  // Maps work-item i to a cell of the frame: bands along z, then y, then x.
  uint i = GLOBAL_ID(0);
  if (i >= cells) return;
  int z = 0, y = 0, x = 0, nz = planes, ny = height, nx = width;
  uint part = (uint)band_z * ny * nx;
  if (i < 2 * part) {
    z = i < part ? 0 : planes - band_z;
    i = i < part ? i : i - part;
    nz = band_z;
  } else {
    i -= 2 * part;
    z = band_z;
    nz -= 2 * band_z;
    part = (uint)nz * band_y * nx;
    if (i < 2 * part) {
      y = i < part ? 0 : height - band_y;
      i = i < part ? i : i - part;
      ny = band_y;
    } else {
      i -= 2 * part;
      y = band_y;
      ny -= 2 * band_y;
      part = (uint)nz * ny * band_x;
      x = i < part ? 0 : width - band_x;
      i = i < part ? i : i - part;
      nx = band_x;
    }
  }
  x += (int)(i % (uint)nx);
  y += (int)(i / (uint)nx % (uint)ny);
  z += (int)(i / (uint)nx / (uint)ny);
  const int changes = x >= FIRST_X && x < end_x && y >= FIRST_Y && y < end_y && z >= FIRST_Z && z < end_z;
