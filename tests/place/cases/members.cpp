// Member functions: their fields become parameters of a free function. In the notation of algebra.cpp.
#include <cstddef>
#include <vector>

class Grid {
 public:
  Grid(int rows, int cols) : rows_(rows), cols_(cols), now_(n()), next_(n()) {}
  void relax(float rate);
  void sweep();
  void shift(int by) {
    for (int i = 0; i < rows_ * cols_; ++i) next_[i] = now_[i] + static_cast<float>(by);
  }
  float total() const;
  int count(float above) const;
  void run(int steps, float rate);
  Grid& scaled(float by);
  float first = 0;

 private:
  std::size_t n() const { return static_cast<std::size_t>(rows_) * cols_; }
  int at(int r, int c) const { return r * cols_ + c; }
  float& cell(int r, int c) { return next_[at(r, c)]; }
  static constexpr int kBorder = 1;
  using Sum = double;
  int rows_, cols_;
  std::vector<float> now_, next_;
};

//: Grid::relax l1=parallel l2=parallel kernels=1 run
void Grid::relax(float rate) {
  for (int r = kBorder; r < rows_ - kBorder; ++r)
    for (int c = kBorder; c < this->cols_ - kBorder; ++c)
      cell(r, c) = now_[at(r, c)] + rate * (now_[at(r, c - 1)] + now_[at(r, c + 1)] - 2 * now_[at(r, c)]);
}

//: Grid::sweep l1=sequential:flow l2=parallel kernels=1 run
void Grid::sweep() {
  for (int r = 1; r < rows_; ++r)
    for (int c = 0; c < cols_; ++c) cell(r, c) += cell(r - 1, c);
}

//: Grid::shift l1=parallel kernels=1 run

//: Grid::total l1=reduction kernels=1 run
float Grid::total() const {
  Sum all = 0;
  for (int i = 0; i < rows_ * cols_; ++i) all += now_[i];
  return static_cast<float>(all);
}

//: Grid::count l1=reduction kernels=1 run
int Grid::count(float above) const {
  int rows_above = 0;
  for (int i = 0; i < rows_ * cols_; ++i)
    if (now_[i] > above) ++rows_above;
  return rows_above;
}

//: Grid::run l1=sequential Grid_relax.l1=parallel kernels=0 run
void Grid::run(int steps, float rate) {
  for (int t = 0; t < steps; ++t) {
    relax(rate);
    now_.swap(next_);
  }
}

//: scaled l1=sequential says=object kernels=0
Grid& Grid::scaled(float by) {
  for (int i = 0; i < rows_ * cols_; ++i) now_[i] *= by;
  return *this;
}

// A field that an array may overlap: the bound is tested before the loop is placed.
struct Line {
  int* data = nullptr;
  int n = 0;
  void fill(int* out, int value);
  void move(int by);
};

//: Line::fill l1=parallel kernels=1 run
void Line::fill(int* out, int value) {
  for (int i = 0; i < n; ++i) out[i] = data[i] + value;
}

//: Line::move l1=sequential:flow kernels=0
void Line::move(int by) {
  for (int i = 1; i < n; ++i) data[i] = data[i - 1] + by;
}

//: line_filled Line_fill.l1=parallel kernels=0 run
void line_filled(int* from, int* to, int n) {
  Line line;
  line.data = from;
  line.n = n;
  line.fill(to, 3);
}

// operator() of a class template, one free function per instantiation.
template <typename T, int kWidth>
class Blur {
 public:
  Blur(const std::vector<T>& in, std::vector<T>& out) : in_(in), out_(out) {}
  void operator()(int begin, int end) const {
    for (int i = begin; i < end; ++i) {
      T sum = 0;
      for (int k = -kWidth; k <= kWidth; ++k) sum += in_[i + k];
      out_[i] = sum / (2 * kWidth + 1);
    }
  }
  void onto_itself(int begin, int end) const {
    for (int i = begin; i < end; ++i) out_[i] = (out_[i - 1] + in_[i]) / 2;
  }

 private:
  const std::vector<T>& in_;
  std::vector<T>& out_;
};
template class Blur<float, 2>;

//: Blur::operator() l1=parallel l2=reduction kernels=1

//: Blur::onto_itself l1=sequential:flow kernels=0

template <typename T>
struct Axpy {
  T by;
  std::vector<T>& onto;
  void operator()(const std::vector<T>& x, int n) const {
    for (int i = 0; i < n; ++i) onto[i] += by * x[i];
  }
};

//: axpy_called Axpy_call.l1=parallel kernels=0 run
void axpy_called(const std::vector<float>& x, std::vector<float>& y, int n) {
  const Axpy<float> add{2.5f, y};
  add(x, n);
}
