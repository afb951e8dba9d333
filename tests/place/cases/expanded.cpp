// Scalar expansion, in the notation of transformed.cpp; it needs std::vector.
#include <cmath>
#include <vector>

//: filtered_behind_work l1=sequential:flow kernels=0 run by=expansion
void filtered_behind_work(const float* a, float* c, int n) {
  for (int i = 1; i < n; ++i) {
    const float t = std::sqrt(a[i] * a[i] + 1.0f) + a[i - 1];
    c[i] = 0.5f * c[i - 1] + t;
  }
}

//: sum_so_far_used l1=sequential:flow kernels=0 run by=expansion
void sum_so_far_used(const float* a, float* b, float* c, int n) {
  for (int i = 1; i < n; ++i) {
    float s = c[i - 1] + a[i];
    c[i] = s;
    s = s * s;
    b[i] = std::sqrt(s + 1.0f);
  }
}

//: expanded_in_vain l1=sequential:flow kernels=0 not=expansion
void expanded_in_vain(float* b, float* c, int n) {
  for (int i = 1; i < n; ++i) {
    const float t = b[i - 1] * c[i - 1];
    c[i] = t + 1;
    b[i] = t * c[i - 1];
  }
}
