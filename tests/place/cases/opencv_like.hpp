// Minimal replacement for the OpenCV classes that the corpus uses: OpenCV's own headers take seconds to parse.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace cv {

template <class T, int N>
struct Vec {
  T val[N];
  T& operator[](int i) { return val[i]; }
  const T& operator[](int i) const { return val[i]; }
};

namespace traits {
template <class T>
struct Type {
  static constexpr int value = sizeof(T);
};
}  // namespace traits

class Mat {
 public:
  Mat() = default;
  Mat(int r, int c, int type) { create(r, c, type); }
  void create(int r, int c, int type) {
    rows = r;
    cols = c;
    step = static_cast<std::size_t>(c) * static_cast<std::size_t>(type) + 48;  // not continuous
    memory_ = std::make_shared<std::vector<unsigned char>>(step * static_cast<std::size_t>(r));
    data = memory_->data();
  }
  static Mat zeros(int r, int c, int type) { return Mat(r, c, type); }
  Mat clone() const {
    Mat m = *this;
    m.memory_ = std::make_shared<std::vector<unsigned char>>(*memory_);
    m.data = m.memory_->data();
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
  std::size_t total() const { return memory_ ? memory_->size() / 4 : 0; }
  int channels() const { return 1; }
  int rows = 0, cols = 0;
  std::size_t step = 0;
  unsigned char* data = nullptr;

 private:
  std::shared_ptr<std::vector<unsigned char>> memory_{};
};

}  // namespace cv
