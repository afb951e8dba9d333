// Values that a nest treats as fixed although memory it writes may overlap them: bounds of loops, legal and illegal
// pairs in the notation of algebra.cpp. `met`: NAME_met() calls the function with overlapping arguments, and the
// original and the placed program must return the same.
#include <numeric>
#include <span>
#include <vector>

#include "opencv_like.hpp"

using Numbers = std::vector<double>;
struct Sizes {
  int n, by;
};
struct Packed {
  int n : 20, by : 12;
};
struct Tail {
  int before[40000], after[24];
};
struct Board {
  int grid[8][8], after[50000];
};
struct Pair {
  int x, y;
};
class Grid {
 public:
  Grid(int* data, int n) : data_(data), n_(n) {}
  int n() const { return n_; }
  int& at(int i) const { return data_[i]; }
  int* home() { return &n_; }

 private:
  int* data_;
  int n_;
};
struct Line {
  int* data;
  int n;
  int& at(int i) const { return data[i]; }
};
inline Numbers numbers(const std::vector<int>& b) { return Numbers(b.begin(), b.end()); }
int global_n = 200;
const int constant_n = 200;
inline void grow_global() { global_n += 50; }
inline Numbers of_image(const cv::Mat& m) {
  Numbers all;
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.cols; ++c) all.push_back(m.at<float>(r, c));
  return all;
}
inline cv::Mat some_image() {
  cv::Mat m(40, 50, CV_32F);
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.cols; ++c) m.at<float>(r, c) = float((r * 7 + c * 3) % 11);
  return m;
}

//: number_by_value l1=parallel kernels=1 met
void number_by_value(int n, int* a, int* b) {
  for (int i = 0; i < n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}
Numbers number_by_value_met() {
  std::vector<int> b(200);
  int n = 200;
  number_by_value(n, &n, b.data());
  return numbers(b);
}

//: reference_as_bound l1=parallel kernels=1 met
void reference_as_bound(const int& n, int* a, int* b) {
  for (int i = 0; i < n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}
Numbers reference_as_bound_met() {
  std::vector<int> b(200);
  int n = 200;
  reference_as_bound(n, &n, b.data());
  return numbers(b);
}

//: reference_as_factor l1=parallel kernels=1 met
void reference_as_factor(int& by, int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += by;
  }
}
Numbers reference_as_factor_met() {
  std::vector<int> b(200);
  int by = 2;
  reference_as_factor(by, &by, b.data(), 200);
  return numbers(b);
}

//: reference_beside_floats l1=parallel kernels=1 met
void reference_beside_floats(const int& n, float* a, float* b) {  // writing a float cannot change an int
  for (int i = 0; i < n; ++i) b[i] = a[i] + 1;
}
Numbers reference_beside_floats_met() {
  std::vector<float> a(201, 3);
  reference_beside_floats(200, a.data(), a.data() + 1);
  return Numbers(a.begin(), a.end());
}

//: reference_beside_bytes l1=parallel kernels=1 met
void reference_beside_bytes(const int& n, unsigned char* a, int* b) {  // a byte may alias anything
  for (int i = 0; i < n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}
Numbers reference_beside_bytes_met() {
  std::vector<int> b(300);
  int n = 200;
  reference_beside_bytes(n, reinterpret_cast<unsigned char*>(&n), b.data());
  return numbers(b);
}

//: field_as_bound l1=parallel kernels=1 met
void field_as_bound(const Sizes& s, int* a, int* b) {
  for (int i = 0; i < s.n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += s.by;
  }
}
Numbers field_as_bound_met() {
  std::vector<int> b(200);
  Sizes s{200, 3};
  field_as_bound(s, &s.n, b.data());
  field_as_bound(s, &s.by, b.data());
  return numbers(b);
}

//: field_before_its_first l1=parallel kernels=1 met
void field_before_its_first(Tail& t, const int* in, int n, int k) {  // the elements before are those of `before`
  for (int i = 0; i < n; ++i) t.after[i + k] = in[i] + 1;
}
Numbers field_before_its_first_met() {
  static Tail t{};
  field_before_its_first(t, t.before + 109, 39900, -39890);
  return numbers(std::vector<int>(t.before, t.before + 40000));
}

//: field_by_value l1=parallel kernels=1 met
void field_by_value(Sizes s, int* a, int* b) {
  for (int i = 0; i < s.n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += s.by;
  }
}
Numbers field_by_value_met() {
  std::vector<int> b(200);
  Sizes s{200, 3};
  field_by_value(s, &s.n, b.data());
  return numbers(b);
}

//: field_behind_pointer l1=parallel kernels=1 met
void field_behind_pointer(const Sizes* s, int* a, int* b) {
  for (int i = 0; i < s->n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += s->by;
  }
}
Numbers field_behind_pointer_met() {
  std::vector<int> b(300);
  Sizes s{200, 30};
  field_behind_pointer(&s, &s.by, b.data());
  field_behind_pointer(&s, &s.n, b.data());
  return numbers(b);
}

//: field_of_bits l1=parallel kernels=1 met
void field_of_bits(const Packed& s, unsigned char* a, int* b) {  // a bit-field has no address, but its object has
  for (int i = 0; i < s.n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}
Numbers field_of_bits_met() {
  std::vector<int> b(300);
  Packed s{200, 3};
  field_of_bits(s, reinterpret_cast<unsigned char*>(&s), b.data());
  return numbers(b);
}

//: reference_of_other_sign l1=parallel kernels=1 met
void reference_of_other_sign(const unsigned long& n, long* a, int* b) {
  for (unsigned long i = 0; i < n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}
Numbers reference_of_other_sign_met() {
  std::vector<int> b(200);
  unsigned long n = 200;
  reference_of_other_sign(n, reinterpret_cast<long*>(&n), b.data());
  return numbers(b);
}

//: private_number_of_view l1=parallel kernels=1 met
void private_number_of_view(const Grid& g, int* a, int* b) {
  for (int i = 0; i < g.n(); ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}
Numbers private_number_of_view_met() {
  std::vector<int> b(200);
  Grid g(b.data(), 200);
  private_number_of_view(g, g.home(), b.data());
  return numbers(b);
}

//: view_writes_its_own_number l1=parallel kernels=1 met
void view_writes_its_own_number(Line& v, int* b) {
  for (int i = 0; i < v.n; ++i) {
    if (i == 50) v.at(0) = 60;
    b[i] += 1;
  }
}
Numbers view_writes_its_own_number_met() {
  std::vector<int> b(200);
  Line v{nullptr, 200};
  v.data = &v.n;
  view_writes_its_own_number(v, b.data());
  return numbers(b);
}

//: global_as_bound l1=parallel kernels=1 met
void global_as_bound(int* a, int* b) {
  for (int i = 0; i < global_n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}
Numbers global_as_bound_met() {
  std::vector<int> b(200);
  global_n = 200;
  global_as_bound(&global_n, b.data());
  return numbers(b);
}

//: constant_global_as_bound l1=parallel kernels=1
void constant_global_as_bound(int* a, int* b) {
  for (int i = 0; i < constant_n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}

//: static_as_bound l1=parallel kernels=1 met
int* static_as_bound(int* a, int* b) {
  static int n = 200;
  for (int i = 0; i < n; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
  return &n;
}
Numbers static_as_bound_met() {
  std::vector<int> b(200);
  int away = 0;
  int* n = static_as_bound(&away, b.data());
  static_as_bound(n, b.data());
  return numbers(b);
}

//: local_as_bound l1=parallel kernels=1 met
void local_as_bound(int* b, int k) {  // its address is in a span
  int n = k;
  std::span<int> s(&n, 1);
  for (int i = 0; i < n; ++i) {
    if (i == 50) s[0] = 60;
    b[i] += 1;
  }
}
Numbers local_as_bound_met() {
  std::vector<int> b(200);
  local_as_bound(b.data(), 200);
  return numbers(b);
}

//: local_of_lambda l1=sequential kernels=0 met
void local_of_lambda(int* b, int k) {
  int n = k;
  const auto set = [&](int x) { n = x; };
  for (int i = 0; i < n; ++i) {
    if (i == 50) set(60);
    b[i] += 1;
  }
}
Numbers local_of_lambda_met() {
  std::vector<int> b(200);
  local_of_lambda(b.data(), 200);
  return numbers(b);
}

//: iterator_with_two_names l1=sequential kernels=0 met
void iterator_with_two_names(int* b, int n) {
  int i;
  std::span<int> s(&i, 1);
  for (i = 0; i < n; ++i) {
    if (i == 50) s[0] = 60;
    b[i] += 1;
  }
}
Numbers iterator_with_two_names_met() {
  std::vector<int> b(200);
  iterator_with_two_names(b.data(), 200);
  return numbers(b);
}

//: length_of_span l1=parallel kernels=1 met
void length_of_span(const std::span<long>& s, unsigned char* a, long* b) {
  for (int i = 0; i < static_cast<int>(s.size()); ++i) {
    if (i == 50) a[sizeof(long*)] = 60;
    b[i] += s[i];
  }
}
Numbers length_of_span_met() {
  std::vector<long> b(300), c(300, 7);
  std::span<long> s(c.data(), 200);
  length_of_span(s, reinterpret_cast<unsigned char*>(&s), b.data());
  return Numbers(b.begin(), b.end());
}

//: element_as_bound l1=sequential:output l2=sequential kernels=0 met
void element_as_bound(const int* n, int* b, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < n[0]; ++j) b[i * w + j] = 5;
}
Numbers element_as_bound_met() {
  std::vector<int> b(100 * 80, 70);
  element_as_bound(&b[10 * 80 + 3], b.data(), 100, 80);
  return numbers(b);
}

//: rows_of_picture l1=parallel kernels=1 met
void rows_of_picture(const cv::Mat& m, int* a, int* b) {
  for (int i = 0; i < m.rows; ++i) {
    if (i == 50) a[0] = 60;
    b[i] += 1;
  }
}
Numbers rows_of_picture_met() {
  std::vector<int> b(200);
  cv::Mat m;
  m.create(200, 2, 4);
  rows_of_picture(m, &m.rows, b.data());
  return numbers(b);
}

//: first_of_pairs l1=parallel kernels=1 met
void first_of_pairs(std::vector<Pair>& p, int* b) {
  const Pair& first = p[0];
  for (int i = 0; i < first.x; ++i) {
    if (i == 50) p[static_cast<std::size_t>(i - 50)].x = 60;
    b[i] += 1;
  }
}
Numbers first_of_pairs_met() {
  std::vector<int> b(200);
  std::vector<Pair> p(100, {200, 1});
  first_of_pairs(p, b.data());
  return numbers(b);
}

//: image_filtered_in_place l1=parallel l2=parallel kernels=1 met
void image_filtered_in_place(const cv::Mat& from, cv::Mat& to) {
  for (int r = 0; r < from.rows; ++r)
    for (int c = 0; c < from.cols; ++c) to.at<float>(r, c) = 2 * from.at<float>(r, c) + 1;
}
Numbers image_filtered_in_place_met() {
  cv::Mat m = some_image();
  image_filtered_in_place(m, m);
  return of_image(m);
}

//: image_shifted_in_place l1=parallel l2=parallel kernels=1 met
void image_shifted_in_place(const cv::Mat& from, cv::Mat& to) {
  for (int r = 0; r < from.rows; ++r)
    for (int c = 1; c < from.cols; ++c) to.at<float>(r, c) = 0.5f * from.at<float>(r, c - 1) + 1;
}
Numbers image_shifted_in_place_met() {
  cv::Mat m = some_image();
  image_shifted_in_place(m, m);
  return of_image(m);
}

//: image_filtered_into_a_part l1=parallel l2=parallel kernels=1 met
void image_filtered_into_a_part(const cv::Mat& from, cv::Mat& to) {
  for (int r = 0; r < to.rows; ++r)
    for (int c = 0; c < to.cols; ++c) to.at<float>(r, c) = 0.5f * from.at<float>(r, c) + 1;
}
Numbers image_filtered_into_a_part_met() {
  cv::Mat m = some_image(), part = m(cv::Range(1, 30), cv::Range(2, 30));
  image_filtered_into_a_part(m, part);
  return of_image(m);
}

//: ring_of_any_sign l1=parallel kernels=1 met says=divisor
// The divisor of a remainder may be negative: nothing lies from 0 to below it, but 1 % -3 is 1.
void ring_of_any_sign(int* a, int n, int m) {
  for (int i = 0; i < n; ++i) a[i + m] = a[(i + 1) % m] + 1;
}
Numbers ring_of_any_sign_met() {
  std::vector<int> a(60000);
  std::iota(a.begin(), a.end(), 0);
  ring_of_any_sign(a.data() + 20000, 40000, -20000);
  return numbers(a);
}

//: ring_past_its_row l1=parallel kernels=1 met says=s->grid
// A remainder that leaves the row of an array inside a struct reads the next field.
void ring_past_its_row(Board* s, const int* row, int n, int m) {
  for (int j = 0; j < n; ++j) s->after[j] = s->grid[row[j]][(j + 1) % m] + 1;
}
Numbers ring_past_its_row_met() {
  std::vector<Board> board(1);
  const std::vector<int> row(50000, 7);
  int* const whole = reinterpret_cast<int*>(board.data());
  std::iota(whole, whole + sizeof(Board) / sizeof(int), 0);
  ring_past_its_row(board.data(), row.data(), 40000, 30000);
  return numbers(std::vector<int>(board[0].after, board[0].after + 50000));
}
