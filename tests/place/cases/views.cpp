// Views: user-defined classes over a pointer. In the notation of algebra.cpp.
#include <array>
#include <cstddef>
#include <vector>

struct View {
  float* data;
  int rows, cols;
  float& operator()(int r, int c) const { return data[r * cols + c]; }
};

//: view_of_parameters l1=parallel l2=parallel kernels=1 run
void view_of_parameters(View in, View out) {
  for (int r = 1; r < in.rows - 1; ++r)
    for (int c = 1; c < in.cols - 1; ++c)
      out(r, c) = 0.25f * (in(r - 1, c) + in(r + 1, c) + in(r, c - 1) + in(r, c + 1));
}

//: view_swept l1=sequential:flow l2=sequential:flow kernels=0
void view_swept(View a) {
  for (int r = 1; r < a.rows; ++r)
    for (int c = 1; c < a.cols; ++c) a(r, c) = 0.5f * (a(r - 1, c) + a(r, c - 1));
}

//: view_in_place l1=parallel l2=parallel kernels=1 run
void view_in_place(View a, float by) {
  for (int r = 0; r < a.rows; ++r)
    for (int c = 0; c < a.cols; ++c) a(r, c) *= by;
}

//: view_copied l1=parallel l2=parallel kernels=1
void view_copied(View a) {  // two names for the same memory: detected by the test before the kernel
  View b = a;
  for (int r = 1; r < a.rows; ++r)
    for (int c = 0; c < a.cols; ++c) b(r, c) = a(r - 1, c);
}

template <class T>
class Plane {
 public:
  Plane(T* data, int rows, int cols, int stride) : data_(data), rows_(rows), cols_(cols), stride_(stride) {}
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int stride() const { return stride_; }
  T* data() const { return data_; }
  T& at(int r, int c) { return data_[index(r, c)]; }
  const T& at(int r, int c) const { return data_[index(r, c)]; }
  T* operator[](int r) { return data_ + r * stride_; }
  const T* operator[](int r) const { return data_ + r * stride_; }
  T beyond(int r, int c) const { return r < 0 || c < 0 || r >= rows_ || c >= cols_ ? T(0) : at(r, c); }

 private:
  int index(int r, int c) const { return r * stride_ + c; }
  T* data_;
  int rows_, cols_, stride_;
};

//: plane_at l1=parallel l2=parallel kernels=1 run
void plane_at(const Plane<float>& in, Plane<float>& out) {
  for (int r = 0; r < out.rows(); ++r)
    for (int c = 0; c < out.cols(); ++c) out.at(r, c) = 2 * in.at(r, c) + 1;
}

//: plane_rows l1=parallel l2=parallel l3=reduction kernels=1 run
void plane_rows(const double* a, double* b, int h, int w, int pitch) {
  const Plane<const double> in(a, h, w, pitch);
  Plane<double> out(b, h, w, pitch);
  for (int r = 0; r < h; ++r)
    for (int c = 1; c < w - 1; ++c) {
      double sum = 0;
      for (int k = -1; k <= 1; ++k) sum += in[r][c + k];
      out[r][c] = sum / 3;
    }
}

// Row 0 reads the row above the first one: only the other rows run on a device.
//: plane_with_border l1=parallel l2=parallel kernels=1
void plane_with_border(const std::vector<float>& a, std::vector<float>& b, int h, int w) {
  const Plane<const float> in(a.data(), h, w, w);
  const Plane<float> out(b.data(), h, w, w);
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c) b[r * w + c] = in.beyond(r - 1, c) + in.beyond(r, c + 1) + out.rows();
}

//: plane_summed l1=reduction l2=reduction kernels=1 run
double plane_summed(const Plane<double>& a) {
  double sum = 0;
  for (int r = 0; r < a.rows(); ++r)
    for (int c = 0; c < a.cols(); ++c) sum += a.at(r, c);
  return sum;
}

//: plane_of_indices l1=reduction kernels=0
void plane_of_indices(const Plane<int>& of, Plane<float>& out) {  // the subscript is read from memory
  for (int r = 0; r < out.rows(); ++r) out.at(of.at(r, 0), 0) += 1;
}

template <class T, std::size_t N>
struct Mapping {
  std::array<long, N> extents;
  constexpr long extent(std::size_t k) const { return extents[k]; }
  constexpr long operator()(long i, long j) const { return i * extents[1] + j; }
  constexpr long operator()(long i, long j, long k) const { return (i * extents[1] + j) * extents[2] + k; }
};
template <class T, std::size_t N>
struct Span {  // like std::mdspan
  T* data;
  Mapping<T, N> mapping;
  long extent(std::size_t k) const { return mapping.extent(k); }
  template <class... I>
  constexpr T& operator()(I... i) const {
    return data[mapping(i...)];
  }
};

//: span_of_two l1=parallel l2=parallel kernels=1 run
void span_of_two(const float* a, float* b, long n, long m) {
  const Span<const float, 2> in{a, {{n, m}}};
  const Span<float, 2> out{b, {{m, n}}};
  for (long i = 0; i < out.extent(0); ++i)
    for (long j = 0; j < out.extent(1); ++j) out(i, j) = in(j, i);
}

//: span_of_three l1=parallel l2=parallel l3=parallel kernels=1 run
void span_of_three(const float* a, float* b, int n, int m, int k) {
  const Span<const float, 3> in{a, {{n, m, k}}};
  const Span<float, 3> out{b, {{n, m, k}}};
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < m; ++y)
      for (int z = 1; z < k; ++z) out(x, y, z) = in(x, y, z) - in(x, y, z - 1);
}

//: span_carried l1=sequential:flow l2=parallel kernels=1 run
void span_carried(float* a, int n, int m) {
  const Span<float, 2> s{a, {{n, m}}};
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < m; ++j) s(i, j) += s(i - 1, j);
}

struct Counting {
  float* data;
  int cols;
  mutable long asked;
  float& operator()(int r, int c) const {
    ++asked;
    return data[r * cols + c];
  }
};
//: view_that_counts l1=sequential l2=sequential kernels=0 says=Counting::operator()
void view_that_counts(Counting v, int n, int m) {
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < m; ++c) v(r, c) = 1;
}

struct Stepping {
  float* data;
  int at;
  float& next() { return data[at++]; }
  int& place() { return at; }
  float& element(int i) const { return data[at + i]; }
};
//: view_that_steps l1=sequential kernels=0 says=Stepping::next
void view_that_steps(Stepping& v, int n) {
  for (int i = 0; i < n; ++i) v.next() = 1;
}

//: view_moved_by_name l1=sequential kernels=0 says=changes
void view_moved_by_name(Stepping& v, int n) {
  for (int i = 0; i < n; ++i) {
    v.element(i) = 1;
    v.place() += 2;
  }
}

//: view_moved_by_hand l1=sequential kernels=0 says=changes
void view_moved_by_hand(Stepping v, int n) {
  for (int i = 0; i < n; ++i) {
    v.element(0) = 1;
    ++v.at;
  }
}

class Closed {
 public:
  explicit Closed(float* data) : data_(data) {}
  float& operator[](int i) const { return data_[i]; }

 private:
  float* data_;
};
//: view_that_is_closed l1=parallel kernels=1 run
void view_that_is_closed(float* a, int n) {  // a member function is added that returns the field
  const Closed v(a);
  for (int i = 0; i < n; ++i) v[i] = 1;
}

struct Virtual {
  float* data;
  virtual float& operator()(int i) { return data[i]; }
};
//: view_of_any_kind l1=sequential kernels=0 says=virtual
void view_of_any_kind(Virtual& v, int n) {
  for (int i = 0; i < n; ++i) v(i) = 1;
}

struct Matrix {
  float m[12];
  float& operator()(int r, int c) { return m[r * 4 + c]; }
  float operator()(int r, int c) const { return m[r * 4 + c]; }
};
//: matrix_in_struct l1=parallel l2=parallel l3=parallel kernels=1 run
void matrix_in_struct(const float* a, float* b, int n) {
  Matrix t;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 4; ++c) t(r, c) = 0.1f * float(r - c);
  for (int i = 0; i < n; ++i) b[i] = t(0, 0) * a[i] + t(1, 2) * a[i + 1] + t(2, 3);
}

struct Table {
  int slot[8];
  int& operator[](int k) { return slot[k]; }
  int get(int k) const { return slot[k]; }
};
//: table_written l1=sequential kernels=0
void table_written(Table& t, int* b, int n) {  // an element of the table changes while the loop runs
  for (int i = 0; i < n; ++i) {
    b[i] = t.get(0);
    t[i % 2] = i;
  }
}

//: number_before_it_changed l1=parallel kernels=1 run
void number_before_it_changed(float* a, int n) {
  const int whole = n;
  n = n / 2;
  for (int i = 0; i < whole; ++i) a[i] += static_cast<float>(n);
}
