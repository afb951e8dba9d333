// Assertions inside loops: only threads of the host can end the program.
#undef NDEBUG
#include <cassert>
#include <cstdlib>

namespace cv {
[[noreturn]] inline void error(int, const char*) { std::abort(); }
}  // namespace cv
#define CV_Assert(c)       \
  do {                     \
    if (!!(c))             \
      ;                    \
    else                   \
      cv::error(-215, #c); \
  } while (0)

//: asserted_image l1=parallel kernels=0
void asserted_image(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    b[i] = 2 * a[i];
    CV_Assert(b[i] >= 0);
  }
}

//: asserted l1=parallel kernels=0
void asserted(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    assert(a[i] > -1);
    b[i] = 2 * a[i];
  }
}

// The condition reads what another iteration writes.
//: asserted_neighbour l1=sequential kernels=0
void asserted_neighbour(const float* a, float* b, int n) {
  for (int i = 1; i < n; ++i) {
    b[i] = 2 * a[i];
    CV_Assert(b[i - 1] >= 0);
  }
}
