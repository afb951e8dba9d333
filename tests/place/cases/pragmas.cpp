// Pragmas of OpenMP and OpenACC as claims that iterations are independent.
#include <cmath>
#include <vector>

//: omp_parallel_for l1=parallel kernels=1
void omp_parallel_for(const std::vector<int>& at, std::vector<float>& out, int n) {
#pragma omp parallel for schedule(static) num_threads(4)
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: omp_for_in_region l1=parallel kernels=1
void omp_for_in_region(const int* at, float* out, int n) {
#pragma omp parallel
  {
#pragma omp for nowait  // each element once
    for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
  }
}

//: omp_collapse l1=parallel l2=parallel kernels=1
void omp_collapse(const int* at, float* out, int n, int m) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) out[at[i * m + j]] = static_cast<float>(i);
}

// The claim covers the outer loop only.
//: omp_outer_only l1=parallel l2=sequential kernels=1
void omp_outer_only(const int* at, float* out, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) out[at[i * m + j]] = static_cast<float>(i);
}

//: omp_behind_endif l1=parallel kernels=1
void omp_behind_endif(const int* at, float* out, int n) {
#if defined(_OPENMP)
#pragma omp parallel for  // each element once
#endif
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

// Another condition than OpenMP's own: the pragma may be meant for other data.
//: omp_behind_another_condition l1=sequential kernels=0
void omp_behind_another_condition(const int* at, float* out, int n) {
#ifdef DISTINCT
#pragma omp parallel for
#endif
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: omp_without_openmp l1=sequential kernels=0
void omp_without_openmp(const int* at, float* out, int n) {
#ifndef _OPENMP
#pragma omp parallel for
#endif
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: omp_in_operator l1=parallel kernels=1
void omp_in_operator(const int* at, float* out, int n) {
  _Pragma("omp simd") for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: acc_parallel_loop l1=parallel kernels=1
void acc_parallel_loop(const int* at, float* out, int n) {
#pragma acc parallel loop copyin(at [0:n])
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: acc_kernels_independent l1=parallel kernels=1
void acc_kernels_independent(const int* at, float* out, int n) {
#pragma acc kernels loop independent
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

// A kernels construct leaves the decision to the compiler.
//: acc_kernels l1=sequential kernels=0
void acc_kernels(const int* at, float* out, int n) {
#pragma acc kernels loop
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: acc_seq l1=sequential kernels=0
void acc_seq(const int* at, float* out, int n) {
#pragma acc parallel loop seq
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

// Every thread runs the whole loop: no claim.
//: omp_region_only l1=sequential kernels=0
void omp_region_only(const int* at, float* out, int n) {
#pragma omp parallel
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: omp_safelen l1=sequential kernels=0
void omp_safelen(float* a, int m, int n) {
#pragma omp simd safelen(8)
  for (int i = m; i < n; ++i) a[i] = 2 * a[i - m];
}

// Whatever the sizes, the iterations depend on each other.
//: omp_false_claim l1=sequential:flow kernels=0 says=believed
void omp_false_claim(float* a, int n) {
#pragma omp parallel for
  for (int i = 1; i < n; ++i) a[i] += 0.5f * a[i - 1];
}

// Threads wait for each other: the iterations are not independent.
//: omp_with_critical l1=sequential kernels=0
void omp_with_critical(const int* at, float* out, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp critical
    out[at[i]] = 2 * out[at[i]] + static_cast<float>(i);
  }
}

inline void locked(float* out, int where, float x) {
#pragma omp critical
  out[where] = 2 * out[where] + x;
}

//: omp_with_critical_inside l1=sequential kernels=0
void omp_with_critical_inside(const int* at, float* out, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) locked(out, at[i], static_cast<float>(i));
}

// The clause claims that every iteration fills the array before it reads it.
//: omp_private_array l1=parallel l2=sequential kernels=1
void omp_private_array(const float* a, const int* at, float* out, int n) {
  float t[8];
#pragma omp parallel for private(t)
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 8; ++k) t[at[k]] = a[i * 8 + k];
    out[i] = t[0] + t[7];
  }
}

// Proved without the claims: reductions and private variables are found by the analysis.
//: omp_reduction l1=reduction kernels=1 run
float omp_reduction(const float* a, int n) {
  float s = 0, t;
#pragma omp parallel for reduction(+ : s) private(t)
  for (int i = 0; i < n; ++i) {
    t = std::sqrt(a[i]);
    s += t * a[i];
  }
  return s;
}

// Proved without the claim, which says nothing about the outer loop.
//: omp_inner_only l1=sequential:flow l2=parallel kernels=1 run
void omp_inner_only(float* a, int h, int w) {
  for (int i = 1; i < h; ++i) {
#pragma omp parallel for simd
    for (int j = 0; j < w; ++j) a[i * w + j] += a[(i - 1) * w + j];
  }
}

//: claimed_without_extent l1=parallel kernels=1
void claimed_without_extent(const float* in, const int* at, float* out, int n) {  // which elements of `in` is unknown
#pragma omp parallel for
  for (int i = 0; i < n; ++i) out[i] = 2 * in[at[i]];
}

//: unclaimed_without_extent l1=parallel kernels=1
void unclaimed_without_extent(const float* in, const int* at, float* out, int n) {  // not on threads
  for (int i = 0; i < n; ++i) out[i] = 2 * in[at[i]];
}
