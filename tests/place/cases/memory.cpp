// Memory allocated in the function, and pointers that change between loops, in the notation of algebra.cpp.
#include <cstdlib>
#include <memory>
#include <utility>

//: two_buffers l1=parallel l2=sequential l3=parallel l4=parallel kernels=3 run
void two_buffers(float* out, int n, int steps) {
  float* a = static_cast<float*>(malloc(n * sizeof(float)));
  float* b = new float[n];
  for (int i = 0; i < n; ++i) a[i] = b[i] = out[i];
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
    float* temp = a;
    a = b;
    b = temp;
  }
  for (int i = 0; i < n; ++i) out[i] = a[i];
  if (steps % 2 == 0) std::swap(a, b);
  free(b);
  delete[] a;
}

//: parameters_swapped l1=sequential l2=parallel kernels=1 run
void parameters_swapped(double* a, double* b, int n, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i) b[i] = 0.25 * (a[i - 1] + 2 * a[i] + a[i + 1]);
    std::swap(a, b);
  }
}

//: owned_arrays l1=parallel l2=parallel l3=parallel kernels=3 run
void owned_arrays(float* out, int n) {
  auto p = std::make_unique<float[]>(n);
  std::unique_ptr<float[]> q(new float[n]);
  for (int i = 0; i < n; ++i) p[i] = 2 * out[i];
  for (int i = 0; i < n; ++i) q[i] = p[i] + 1;
  std::swap(p, q);
  for (int i = 0; i < n; ++i) out[i] = p.get()[i];
}

//: owned_and_dependent l1=sequential:flow kernels=0
void owned_and_dependent(std::unique_ptr<float[]>& p, int n) {
  for (int i = 1; i < n; ++i) p[i] = p[i - 1] + 1;
}

//: counted_zeros l1=reduction l2=parallel kernels=2 run
void counted_zeros(const int* in, int* out, int n) {
  int* bins = static_cast<int*>(std::calloc(4, sizeof(int)));
  for (int i = 0; i < n; ++i) bins[in[i]]++;
  for (int i = 0; i < n; ++i) out[i] = bins[i % 4];
  std::free(bins);
}

// The pointer may be any of two: whether the arrays overlap is tested.
//: one_of_two l1=parallel kernels=1 run
void one_of_two(float* out, float* a, float* b, int n) {
  const float* from = a;
  if (n > 20) from = b;
  for (int i = 0; i < n; ++i) out[i] = from[i] + 1;
}

//: steps_through l1=parallel kernels=1 run
void steps_through(float* out, int n) {
  float* p = out;
  for (int i = 0; i < n; ++i) {
    *p = static_cast<float>(i);
    p++;
  }
}

//: changes_inside l1=sequential kernels=0 says=changes
void changes_inside(float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    a[i] = b[i];
    std::swap(a, b);
  }
}

#define ADD_FIRST(x) out[0] += x[0];
#define ADD_SECOND(x) \
  do {                \
    out[1] += (x)[1]; \
  } while (0)

// Host code in macros reads what the kernel wrote.
//: macros_between l1=sequential l2=parallel kernels=1 run
void macros_between(float* a, float* out, int n, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i) a[i] = a[i] * 0.5f + 1;
    ADD_FIRST(a)
    if (t > 0) ADD_SECOND(a);
  }
}

//: block_by_macro l1=parallel kernels=1 run
void block_by_macro(const float* a, float* out, int n) {
  for (int i = 0; i < n; ++i) do {
      const float x = a[i];
      out[i] = x * x;
    } while (false);
}
