// Fills the pixels between the searched corners of their block, and marks pixels that the other direction does not
// confirm as hidden. Also writes the filter's input.
FUNCTION float2 filled(GLOBAL const float2* flow, GLOBAL const uchar* level, int rows, int columns, int r, int c) {
  const int own = level[(ulong)(r >> 1) * (ulong)((columns + 1) / 2) + (ulong)(c >> 1)];
  const ulong here = (ulong)r * (ulong)columns + (ulong)c;  // the search writes it only if it is a corner
  if (SCAN_ORDER || own < 2) return flow[here];
  const int side = 1 << own, top = r & ~(side - 1), left = c & ~(side - 1);
  const int bottom = least_of(top + side, rows) - 1, right = least_of(left + side, columns) - 1;
  const int y = r - top, x = c - left, height = bottom - top, width = right - left;
  if ((y == 0 || y == height) && (x == 0 || x == width)) return flow[here];
  const float q = height == 0 ? 0.0f : (float)y / (float)height, p = 1.0f - q;
  const float s = width == 0 ? 0.0f : (float)x / (float)width, t = 1.0f - s;
  const float2 a = flow[(ulong)top * (ulong)columns + (ulong)left], b = flow[(ulong)top * (ulong)columns + (ulong)right];
  const float2 d = flow[(ulong)bottom * (ulong)columns + (ulong)left];
  const float2 e = flow[(ulong)bottom * (ulong)columns + (ulong)right];
  return make_float2(a.x * p * t + b.x * p * s + d.x * q * t + e.x * s * q,
                     a.y * p * t + b.y * p * s + d.y * q * t + e.y * s * q);
}

#if MATRIX
// Input of flow_smooth_matrix.cl: the colours as signed bytes, and the flow and 1 multiplied by 2^(slope |colours|^2),
// the factor of every weight that depends on this cell alone; 0 if the cell is hidden.
typedef float4 Cell;
FUNCTION Cell cell_of(uint word, float2 flow, int hidden, float slope) {
  const uint colors = word ^ 0x808080u;
  const float own = EXP2_FAST((float)BYTES_DOT_SIGNED(colors, colors, 0) * slope);
  const float share = hidden ? 0.0f : FLOAT_OF(BITS_OF(own) & 0xffffe000u);  // the bits that a matrix product uses
  return make_float4(FLOAT_OF(colors), share, share * flow.x, share * flow.y);
}
#else
// A hidden cell has 255 in its top byte.
typedef uint Cell;
FUNCTION Cell cell_of(uint word, float2 flow, int hidden, float slope) { return word | (hidden ? 0xff000000u : 0u); }
#endif

KERNEL WORK_GROUP(32, 8, 1)
void fill_and_mark(GLOBAL const float2* RESTRICT searched, GLOBAL const uchar* RESTRICT level,
                   GLOBAL const uint* RESTRICT first, GLOBAL const uint* RESTRICT second, ulong picture, int rows,
                   int columns, int pitch, GLOBAL float2* RESTRICT flow, GLOBAL Cell* RESTRICT cells, float threshold,
                   float slope) {
  const int c = (int)GLOBAL_ID(0), r = (int)GLOBAL_ID(1);
  if (c >= columns || r >= rows) return;
  const ulong plane = (ulong)rows * (ulong)columns, own = (ulong)r * (ulong)columns + (ulong)c;
  const ulong half_plane = (ulong)((rows + 1) / 2) * (ulong)((columns + 1) / 2);
  const float2 there = filled(searched, level, rows, columns, r, c);
  const float2 back = filled(searched + plane, level + half_plane, rows, columns, r, c);
  const float u = there.x + back.x, v = there.y + back.y;
  const int hidden = u * u + v * v > threshold;
  flow[own] = there;
  flow[plane + own] = back;
  cells[own] = cell_of(first[picture + padded_cell(r, c, pitch)], there, hidden, slope);
  cells[plane + own] = cell_of(second[picture + padded_cell(r, c, pitch)], back, hidden, slope);
}
