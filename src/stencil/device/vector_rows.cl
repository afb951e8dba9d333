// VECTOR neighbouring cells in local memory, 16 bytes per access.
#if VECTOR == 4
#define STORE_ROW(p, row) *(LOCAL float4*)(p) = make_float4((row)[0], (row)[1], (row)[2], (row)[3])
FUNCTION void LOAD_ROW(float* row, LOCAL const float* p) {
  const float4 four = *(LOCAL const float4*)p;
  row[0] = four.x, row[1] = four.y, row[2] = four.z, row[3] = four.w;
}
#else
#define STORE_ROW(p, row) *(LOCAL double2*)(p) = make_double2((row)[0], (row)[1])
FUNCTION void LOAD_ROW(double* row, LOCAL const double* p) {
  const double2 two = *(LOCAL const double2*)p;
  row[0] = two.x, row[1] = two.y;
}
#endif
