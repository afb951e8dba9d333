// Minimal replacement for the part of OpenCV that the corpus uses, with OpenCV's names and type codes: OpenCV's own
// headers take seconds to parse, and may not be installed.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "opencv2/core/fast_math.hpp"

using uchar = unsigned char;
enum { CV_8U = 0, CV_32S = 4, CV_32F = 5, CV_64F = 6, CV_8UC3 = 16, CV_32FC2 = 13 };

// A user's function that has the name of one of OpenCV's: it counts its calls.
static int floors = 0;
inline int cvFloor(double x) {
  ++floors;
  return static_cast<int>(x);
}

namespace cv {

template <class T, int N>
struct Vec {
  T val[N];
  Vec() : val{} {}
  Vec(T a, T b) : val{a, b} {}
  Vec(T a, T b, T c) : val{a, b, c} {}
  T& operator[](int i) { return val[i]; }
  const T& operator[](int i) const { return val[i]; }
};
template <class T, int N>
Vec<T, N> operator+(const Vec<T, N>& a, const Vec<T, N>& b) {
  Vec<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = a[i] + b[i];
  return r;
}
template <class T, int N>
Vec<T, N> operator-(const Vec<T, N>& a) {
  Vec<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = -a[i];
  return r;
}
template <class T, int N>
Vec<T, N> operator*(const Vec<T, N>& a, float k) {
  Vec<T, N> r;
  for (int i = 0; i < N; ++i) r[i] = static_cast<T>(a[i] * k);
  return r;
}
using Vec2f = Vec<float, 2>;
using Vec3b = Vec<uchar, 3>;

template <class T>
struct Scalar_ : Vec<T, 4> {
  explicit Scalar_(T a = 0) { this->val[0] = a; }
};
using Scalar = Scalar_<double>;

struct Range {
  Range(int from, int to) : start(from), end(to) {}
  int start, end;
};

class ParallelLoopBody {
 public:
  virtual ~ParallelLoopBody() = default;
  virtual void operator()(const Range& range) const = 0;
};
inline void parallel_for_(const Range& range, const ParallelLoopBody& body, double = -1) { body(range); }
inline void parallel_for_(const Range& range, std::function<void(const Range&)> body, double = -1) { body(range); }

namespace traits {
template <class T>
struct Type {
  static constexpr int value = sizeof(T) == 1 ? CV_8U : sizeof(T) == 8 ? CV_64F : T(0.5) == T(0) ? CV_32S : CV_32F;
};
template <class T, int N>
struct Type<Vec<T, N>> {
  static constexpr int value = Type<T>::value + ((N - 1) << 3);
};
}  // namespace traits

class Mat {
 public:
  Mat() = default;
  Mat(int r, int c, int type) { create(r, c, type); }
  void create(int r, int c, int type) {
    rows = r;
    cols = c;
    type_ = type;
    step = static_cast<std::size_t>(c) * elemSize() + 48;  // not continuous
    memory_ = std::make_shared<std::vector<uchar>>(step * static_cast<std::size_t>(r));
    data = memory_->data();
  }
  static Mat zeros(int r, int c, int type) { return Mat(r, c, type); }
  Mat clone() const {
    Mat m = *this;
    m.memory_ = std::make_shared<std::vector<uchar>>(*memory_);
    m.data = m.memory_->data() + (data - memory_->data());
    return m;
  }
  Mat operator()(Range down, Range across) const {
    Mat m = *this;
    m.rows = down.end - down.start;
    m.cols = across.end - across.start;
    m.data += static_cast<std::size_t>(down.start) * step + static_cast<std::size_t>(across.start) * elemSize();
    return m;
  }
  template <class T>
  T& at(int r, int c) {
    return ptr<T>(r)[c];
  }
  template <class T>
  const T& at(int r, int c) const {
    return ptr<T>(r)[c];
  }
  template <class T>
  T* ptr(int r = 0) {
    return reinterpret_cast<T*>(data + step * static_cast<std::size_t>(r));
  }
  template <class T>
  const T* ptr(int r = 0) const {
    return reinterpret_cast<const T*>(data + step * static_cast<std::size_t>(r));
  }
  int type() const { return type_; }
  int channels() const { return 1 + (type_ >> 3); }
  std::size_t elemSize() const {
    const std::size_t one = (type_ & 7) == CV_8U ? 1 : (type_ & 7) == CV_64F ? 8 : 4;
    return one * static_cast<std::size_t>(channels());
  }
  std::size_t total() const { return memory_ ? memory_->size() / elemSize() : 0; }
  int rows = 0, cols = 0;
  std::size_t step = 0;
  uchar* data = nullptr;

 private:
  int type_ = CV_32F;
  std::shared_ptr<std::vector<uchar>> memory_{};
};

inline Mat& operator*=(Mat& m, const double& k) {
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.cols; ++c) m.at<float>(r, c) *= static_cast<float>(k);
  return m;
}
inline void multiply(const Mat& a, const Mat& b, Mat& to) {
  for (int r = 0; r < to.rows; ++r)
    for (int c = 0; c < to.cols; ++c) to.at<float>(r, c) = a.at<float>(r, c) * b.at<float>(r, c);
}
inline void exp(const Mat& a, Mat& to) {
  for (int r = 0; r < to.rows; ++r)
    for (int c = 0; c < to.cols; ++c) to.at<float>(r, c) = std::exp(a.at<float>(r, c));
}
inline Scalar sum(const Mat& a) {
  double total = 0;
  for (int r = 0; r < a.rows; ++r)
    for (int c = 0; c < a.cols; ++c) total += a.at<float>(r, c);
  return Scalar(total);
}
inline void split(const Mat& a, std::vector<Mat>& to) {
  to.clear();
  for (int k = 0; k < a.channels(); ++k) {
    to.emplace_back(a.rows, a.cols, CV_32F);
    for (int r = 0; r < a.rows; ++r)
      for (int c = 0; c < a.cols; ++c) to.back().at<float>(r, c) = a.ptr<float>(r)[c * a.channels() + k];
  }
}

}  // namespace cv
