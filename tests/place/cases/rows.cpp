// Arrays of arrays: the object is the whole array, whichever pointer or subscript leads into it. A subscript that
// leaves its row addresses an element of another row. In the notation of algebra.cpp.
#include <array>
#include <span>
#include <vector>

//: flat_pointer_above l1=sequential:flow l2=parallel kernels=1 run
void flat_pointer_above(float a[64][64]) {
  float* f = &a[0][0];
  for (int i = 1; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = 0.5f * f[(i - 1) * 64 + j];
}

//: flat_pointer_same l1=parallel l2=parallel kernels=1 run
void flat_pointer_same(float a[64][64]) {
  float* f = a[0];
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = 0.5f * f[i * 64 + j];
}

//: flat_pointer_all l1=parallel kernels=1 run
void flat_pointer_all(float (*a)[64], int n) {  // one loop over elements of all rows
  float* f = a[0];
  for (int k = 0; k < n; ++k) f[k] = 2 * f[k] + 1;
}

//: flat_pointer_on l1=sequential:anti kernels=1 run
void flat_pointer_on(float (*a)[64], int n) {
  float* f = *a;
  for (int k = 0; k < n; ++k) f[k] = a[0][k + 1];
}

static float table[32][32];
//: flat_global l1=sequential:flow l2=parallel kernels=0
void flat_global() {
  float* f = table[0];
  for (int i = 1; i < 32; ++i)
    for (int j = 0; j < 32; ++j) table[i][j] = f[(i - 1) * 32 + j] + 1;
}

//: flat_local l2=sequential:flow l3=parallel l4=parallel kernels=2
void flat_local(float* out) {
  float a[16][16];
  float* f = a[0];
  for (int k = 0; k < 256; ++k) f[k] = 0.5f * static_cast<float>(k);
  for (int i = 1; i < 16; ++i)
    for (int j = 0; j < 16; ++j) a[i][j] = f[(i - 1) * 16 + j] + 1;
  for (int k = 0; k < 256; ++k) out[k] = f[k];
}

//: flat_volume_above l1=sequential:flow l2=parallel l3=parallel kernels=1
void flat_volume_above(float a[8][16][32]) {
  float* f = &a[0][0][0];
  for (int i = 1; i < 8; ++i)
    for (int j = 0; j < 16; ++j)
      for (int k = 0; k < 32; ++k) a[i][j][k] = f[(i * 16 + j) * 32 + k - 512];
}

//: plane_behind_itself l1=parallel l2=parallel l3=parallel kernels=1 run
void plane_behind_itself(float a[8][16][32]) {  // 16 rows after the previous plane is the same plane
  for (int i = 1; i < 8; ++i) {
    float(*p)[32] = a[i - 1];
    for (int j = 0; j < 16; ++j)
      for (int k = 0; k < 32; ++k) a[i][j][k] = 0.5f * p[j + 16][k];
  }
}

//: plane_into_next l1=sequential:flow l2=sequential:flow l3=parallel kernels=0
void plane_into_next(float a[8][16][32]) {
  for (int i = 1; i < 8; ++i) {
    float(*p)[32] = a[i - 1];
    for (int j = 0; j < 16; ++j)
      for (int k = 0; k < 32; ++k) a[i][j][k] = p[j + 1][k];
  }
}

//: row_below_by_column l1=sequential:anti l2=parallel kernels=1 run
void row_below_by_column(float a[64][64]) {  // a[i][j + 64] is a[i + 1][j]
  for (int i = 0; i < 63; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = a[i][j + 64];
}

//: row_above_by_column l1=sequential:flow l2=parallel kernels=1 run
void row_above_by_column(float a[64][64]) {
  for (int i = 1; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = 0.5f * a[i][j - 64];
}

//: column_over_the_end l1=sequential:anti l2=sequential:anti kernels=1 run
void column_over_the_end(float a[64][64]) {  // a[i][64] is a[i + 1][0]
  for (int i = 0; i < 63; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = a[i][j + 1];
}

//: column_inside l1=parallel l2=sequential:anti kernels=1 run
void column_inside(float a[64][64]) {
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 63; ++j) a[i][j] = a[i][j + 1];
}

//: columns_by_a_size l1=parallel l2=parallel kernels=1 run
void columns_by_a_size(float (*a)[64], const float (*b)[64], int n, int m) {  // tested at run time: m is at most 64
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) a[i][j] = 2 * b[i][j];
}

//: past_the_row l1=sequential:anti l2=parallel kernels=1 run
void past_the_row(float a[64][64]) {
  for (int i = 0; i < 63; ++i) {
    const float* e = a[i] + 64;
    for (int j = 0; j < 64; ++j) a[i][j] = e[j];
  }
}

//: row_by_reference l1=sequential:anti l2=parallel kernels=1 run
void row_by_reference(float (&a)[64][64]) {
  for (int i = 0; i < 63; ++i) {
    float(&r)[64] = a[i];
    for (int j = 0; j < 64; ++j) r[j] = r[j + 64];
  }
}

//: row_by_reference_inside l1=parallel l2=parallel kernels=1 run
void row_by_reference_inside(float (&a)[64][64]) {
  for (int i = 0; i < 64; ++i) {
    float(&r)[64] = a[i];
    for (int j = 0; j < 64; ++j) r[j] = 2 * r[j];
  }
}

//: array_of_arrays_above l1=sequential:flow l2=parallel kernels=1
void array_of_arrays_above(std::array<std::array<float, 64>, 64>& a) {
  float* f = &a[0][0];
  for (int i = 1; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = 0.5f * f[(i - 1) * 64 + j];
}

//: array_of_arrays l1=parallel l2=parallel kernels=1 run
void array_of_arrays(std::array<std::array<float, 64>, 64>& a) {
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = 0.5f * a[i][j];
}

//: vector_of_arrays_above l1=sequential:flow l2=parallel kernels=0
void vector_of_arrays_above(std::vector<std::array<float, 16>>& a, int n) {
  float* f = &a[0][0];
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < 16; ++j) a[i][j] = 0.5f * f[(i - 1) * 16 + j];
}

//: vector_by_data l1=sequential:flow kernels=0
void vector_by_data(std::vector<float>& v, int n) {
  float* f = v.data();
  for (int i = 1; i < n; ++i) v[i] = 0.5f * f[i - 1];
}

struct Pair {
  float x, y;
};

//: fields_by_pointer_before l1=sequential:flow kernels=0
void fields_by_pointer_before(Pair* p, int n) {
  float* f = &p[0].x;
  for (int i = 1; i < n; ++i) p[i].x = 0.5f * f[2 * i - 2];
}

//: fields_by_pointer_other l1=parallel kernels=1 run
void fields_by_pointer_other(Pair* p, int n) {
  float* f = &p[0].x;
  for (int i = 0; i < n; ++i) p[i].x = 0.5f * f[2 * i + 1];
}

//: field_of_the_next l1=sequential:flow kernels=0
void field_of_the_next(Pair* p, int n) {
  for (int i = 0; i < n; ++i) {
    float* f = &p[i].x;
    f[2] = 0.5f * f[0];
  }
}

struct Two {
  float a[32][32], b[32][32];
};

//: member_into_the_next l1=parallel l2=parallel kernels=1
void member_into_the_next(Two& s) {  // tested at run time, never true: s.a[62] is s.b[30]
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) s.a[i + 31][j] = s.b[i][j];
}

//: flat_by_a_pitch l1=sequential l2=sequential kernels=0
void flat_by_a_pitch(float a[64][64], int w) {
  float* f = a[0];
  for (int i = 1; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = f[(i - 1) * w + j];
}

//: sum_into_the_table l1=sequential l2=sequential kernels=0
void sum_into_the_table(float a[64][64]) {
  float* f = a[0];
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[0][0] += f[i * 64 + j];
}

//: through_a_span l1=parallel l2=parallel kernels=1
void through_a_span(float a[64][64]) {  // tested at run time: the span does not overlap the array
  std::span<float> f(&a[0][0], 4096);
  for (int i = 1; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = 0.5f * f[(i - 1) * 64 + j];
}

//: through_a_cast l1=sequential l2=sequential kernels=0
void through_a_cast(float a[64][64]) {
  float* f = reinterpret_cast<float*>(a);
  for (int i = 1; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = 0.5f * f[(i - 1) * 64 + j];
}

//: other_rows_by_a_cast l1=sequential l2=sequential kernels=0
void other_rows_by_a_cast(float a[64][64]) {
  float(*f)[32] = (float(*)[32])a;
  for (int i = 1; i < 64; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] = 0.5f * f[2 * i - 2][j];
}

union Either {
  float f[1024];
  float g[32][32];
};
//: either_of_a_union l1=sequential l2=sequential kernels=0
void either_of_a_union(Either& u) {
  for (int i = 1; i < 32; ++i)
    for (int j = 0; j < 32; ++j) u.g[i][j] = 0.5f * u.f[i * 32 + j - 32];
}

//: small_table_of_its_own l1=parallel kernels=1 run
void small_table_of_its_own(float* out, int n) {
  for (int i = 0; i < n; ++i) {
    float t[4][4];
    float* f = t[0];
    for (int k = 0; k < 16; ++k) f[k] = static_cast<float>(i + k);
    float s = 0;
    for (int k = 0; k < 4; ++k) s += t[k][k];
    out[i] = s;
  }
}
