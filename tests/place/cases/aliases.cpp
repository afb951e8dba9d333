// Values that a nest treats as fixed although memory it writes may overlap them: legal and illegal pairs in the
// notation of algebra.cpp. `met`: NAME_met() calls the function with overlapping arguments, and the original and the
// placed program must return the same.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>
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
struct Row {
  float* data;
  int n;
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
int global_sum = 0;
inline void redirect(Row* r, float* to) { r->data = to; }
inline void grow_global() { global_n += 50; }
inline void scale_pair(int* a, int k, const int& by) {
  a[k] *= by;
  a[k + 1] *= by;
}
inline void shifted(std::vector<float>& b, float by, int n) {
  for (int i = 0; i < n; ++i) b[i] += by;
}
inline void marked(int* a, int n) {
  for (int i = 0; i < n; ++i)
    if (i == 50) a[0] = 90;
}
namespace own {  // not what their names suggest
inline int clamp(int i, int low, int high) { return i < low ? low : i >= high ? high - 1 : i; }
inline int max(int a, int b) { return a > b ? a - 1 : b; }
inline int larger(int a, int b) { return a > b ? a : b; }
}  // namespace own
inline float last_three(const float* a, int n) {
  float sum = 0;
  for (int k = 1; k < 4; ++k) sum += a[n - k];
  return sum;
}
inline std::vector<int> mixed(int n) {
  std::vector<int> a(n);
  for (int i = 0; i < n; ++i) a[i] = (i * 7919 + 13) % 1009 - 500;
  return a;
}
inline void raised(const Sizes& s, int* b) {
  for (int i = 0; i < s.n; ++i) b[i] += 1;
}
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

//: sum_into_global l1=reduction kernels=1 met
void sum_into_global(const int* b, int n) {
  for (int i = 0; i < n; ++i) global_sum += b[i];
}
Numbers sum_into_global_met() {
  global_sum = 5;
  std::vector<int> b(300, 2);
  sum_into_global(b.data(), 300);
  sum_into_global(&global_sum, 1);
  return {double(global_sum)};
}

//: sum_into_reference l1=reduction kernels=1 met
void sum_into_reference(const int* b, int n, int& sum) {
  for (int i = 0; i < n; ++i) sum += b[i];
}
Numbers sum_into_reference_met() {
  std::vector<int> b(300, 2);
  sum_into_reference(b.data(), 300, b[100]);
  return numbers(b);
}

//: zeros_added l1=reduction kernels=1 met
void zeros_added(const float* b, int n, float& sum) {
  for (int i = 0; i < n; ++i) sum += b[i];
}
Numbers zeros_added_met() {  // -0.0 + -0.0 is -0.0
  std::vector<float> b(200000, -0.0f);
  float sum = -0.0f;
  zeros_added(b.data(), 200000, sum);
  return {double(sum), 1.0 / double(sum)};
}

//: sum_beside_its_bound l1=reduction kernels=1 met
void sum_beside_its_bound(const int& n, int& sum) {
  for (int i = 0; i < n; ++i) sum += 2;
}
Numbers sum_beside_its_bound_met() {
  int n = 100, sum = 0;
  sum_beside_its_bound(n, sum);
  int both = -5;  // no iteration
  sum_beside_its_bound(both, both);
  return {double(sum), double(both)};
}

//: place_of_least l1=reduction kernels=1 met
void place_of_least(const int* b, int n, int& best, int& where) {
  for (int i = 0; i < n; ++i)
    if (b[i] < best) {
      best = b[i];
      where = i;
    }
}
Numbers place_of_least_met() {
  std::vector<int> b(300);
  for (int i = 0; i < 300; ++i) b[i] = 1000 - i;
  int best = 5000;
  place_of_least(b.data(), 300, best, b[120]);
  std::vector<int> c(b);
  place_of_least(c.data(), 300, c[3], c[4]);
  b.insert(b.end(), c.begin(), c.end());
  b.push_back(best);
  return numbers(b);
}

//: pointer_taken_before l1=parallel kernels=1 met
void pointer_taken_before(Row& s, Row& t, float* other) {
  float* p = s.data;
  t.data = other;
  for (int i = 0; i < 100; ++i) p[i] += 1;
}
Numbers pointer_taken_before_met() {
  std::vector<float> a(100), b(100);
  Row s{a.data(), 100};
  pointer_taken_before(s, s, b.data());
  a.insert(a.end(), b.begin(), b.end());
  return Numbers(a.begin(), a.end());
}

//: pointer_redirected l1=parallel kernels=1 met
void pointer_redirected(Row* r, float* other, int n) {
  float* p = r->data;
  redirect(r, other);
  for (int i = 0; i < n; ++i) p[i] += 1;
}
Numbers pointer_redirected_met() {
  std::vector<float> a(100), b(100);
  Row s{a.data(), 100};
  pointer_redirected(&s, b.data(), 100);
  a.insert(a.end(), b.begin(), b.end());
  return Numbers(a.begin(), a.end());
}

//: pointer_of_exchanged l1=parallel kernels=1 met
void pointer_of_exchanged(std::vector<float>& v, std::vector<float>& w, std::vector<float>& x) {
  float* p = v.data();
  w.swap(x);
  for (int i = 0; i < 100; ++i) p[i] += 1;
}
Numbers pointer_of_exchanged_met() {
  std::vector<float> a(100), b(100);
  pointer_of_exchanged(a, a, b);
  a.insert(a.end(), b.begin(), b.end());
  return Numbers(a.begin(), a.end());
}

//: number_taken_before l1=parallel kernels=1 met
void number_taken_before(int* b) {
  const int n = global_n;
  grow_global();
  for (int i = 0; i < n; ++i) b[i] += 1;
}
Numbers number_taken_before_met() {
  std::vector<int> b(300);
  global_n = 100;
  number_taken_before(b.data());
  return numbers(b);
}

//: number_taken_from_reference l1=parallel kernels=1 met
void number_taken_from_reference(const int& m, int* a, int* b) {
  const int n = m;
  a[0] = 10;
  for (int i = 0; i < n; ++i) b[i] += 1;
}
Numbers number_taken_from_reference_met() {
  std::vector<int> b(300);
  int m = 200;
  number_taken_from_reference(m, &m, b.data());
  return numbers(b);
}

//: length_taken_before l1=parallel kernels=1 met
void length_taken_before(std::vector<int>& v, std::vector<int>& w, std::vector<int>& b) {
  const int n = static_cast<int>(v.size());
  w.resize(90);
  for (int i = 0; i < n; ++i) b[i] += 1;
}
Numbers length_taken_before_met() {
  std::vector<int> v(200), b(300);
  length_taken_before(v, v, b);
  return numbers(b);
}

//: start_taken_before l1=sequential kernels=0 met
void start_taken_before(int* b, int n) {
  int i = global_n;
  grow_global();
  while (i < n) {
    b[i] += 1;
    ++i;
  }
}
Numbers start_taken_before_met() {
  std::vector<int> b(300);
  global_n = 100;
  start_taken_before(b.data(), 300);
  return numbers(b);
}

//: offset_taken_before l1=parallel kernels=1 met
void offset_taken_before(float* a, int* offset, int n) {
  float* p = a + offset[0];
  offset[0] = 100;
  for (int i = 0; i < n; ++i) p[i] += 1;
}
Numbers offset_taken_before_met() {
  std::vector<float> a(300);
  int offset = 10;
  offset_taken_before(a.data(), &offset, 100);
  return Numbers(a.begin(), a.end());
}

//: test_of_loop_around l2=parallel kernels=0 met
void test_of_loop_around(const Sizes& s, int* a, int* b, int m) {
  for (int t = 0; t < s.n; ++t) {
    a[0] = 0;
    for (int j = 1; j < m; ++j) {
      b[j] += 1;
      if (t >= s.n) b[j] += b[j - 1];
    }
  }
}
Numbers test_of_loop_around_met() {
  std::vector<int> b(200, 1);
  Sizes s{1, 0};
  test_of_loop_around(s, &s.n, b.data(), 200);
  return numbers(b);
}

//: element_by_reference l1=sequential kernels=0 met
void element_by_reference(int* a, int n) {
  for (int i = 0; i < n; ++i) scale_pair(a, 2 * i, a[2 * i]);
}
Numbers element_by_reference_met() {
  std::vector<int> a(400);
  std::iota(a.begin(), a.end(), 1);
  element_by_reference(a.data(), 200);
  return numbers(a);
}

//: element_by_reference_of_lambda l1=parallel kernels=1 met
void element_by_reference_of_lambda(int* a, int n) {
  const auto scale = [&](int k, const int& by) {
    a[k] *= by;
    a[k + 1] *= by;
  };
  for (int i = 0; i < n; ++i) scale(2 * i, a[2 * i]);
}
Numbers element_by_reference_of_lambda_met() {
  std::vector<int> a(400);
  std::iota(a.begin(), a.end(), 1);
  element_by_reference_of_lambda(a.data(), 200);
  return numbers(a);
}

//: reference_keeps_its_place l1=sequential kernels=0 met
void reference_keeps_its_place(float* a, const int* from, int n) {
  for (int i = 0; i < n; ++i) {
    int k = from[i];
    float& x = a[k];
    k += 1;
    x += 1;
    a[k] += 0;
  }
}
Numbers reference_keeps_its_place_met() {
  std::vector<float> a(300);
  std::vector<int> from(200);
  std::iota(from.begin(), from.end(), 5);
  reference_keeps_its_place(a.data(), from.data(), 200);
  return Numbers(a.begin(), a.end());
}

//: pointer_keeps_its_place l1=sequential kernels=0 met
void pointer_keeps_its_place(float* a, int* at, int n) {
  for (int i = 0; i < n; ++i) {
    float* p = a + 2 * at[i];
    at[i] = 0;
    p[0] = 1;
  }
}
Numbers pointer_keeps_its_place_met() {
  std::vector<float> a(600);
  std::vector<int> at(200);
  std::iota(at.begin(), at.end(), 5);
  pointer_keeps_its_place(a.data(), at.data(), 200);
  return Numbers(a.begin(), a.end());
}

//: outer_name_in_lambda l1=sequential kernels=0 says=two met
void outer_name_in_lambda(int* b, int n) {
  int k = 1;
  const auto f = [&](int i) { return i * k; };
  {
    int k = 5;
    for (int i = 0; i < n; ++i) b[i] = f(i);
    b[0] = k;
  }
}
Numbers outer_name_in_lambda_met() {
  std::vector<int> b(200);
  outer_name_in_lambda(b.data(), 200);
  return numbers(b);
}

//: outer_name_behind_pointer l1=sequential kernels=0 says=two met
void outer_name_behind_pointer(float* a, float* other, int n) {
  float* p = a + 1;
  {
    float* a = other;
    for (int i = 0; i < n; ++i) p[i] += 1;
    a[0] = 3;
  }
}
Numbers outer_name_behind_pointer_met() {
  std::vector<float> a(300), b(300);
  outer_name_behind_pointer(a.data(), b.data(), 200);
  a.insert(a.end(), b.begin(), b.end());
  return Numbers(a.begin(), a.end());
}

//: own_vector_and_span l1=parallel l2=parallel kernels=2 met
void own_vector_and_span(const float* a, float* b, int n) {
  std::vector<float> v(a, a + n);
  std::span<float> s(v.data() + 1, static_cast<std::size_t>(n - 1));
  for (int i = 0; i < n - 1; ++i) s[i] = v[i] + 1;
  for (int i = 0; i < n; ++i) b[i] = v[i];
}
Numbers own_vector_and_span_met() {
  std::vector<float> a(400, 1), b(400);
  own_vector_and_span(a.data(), b.data(), 400);
  return Numbers(b.begin(), b.end());
}

//: own_vector_and_view l1=parallel l2=parallel kernels=2 met
void own_vector_and_view(const float* a, float* b, int n) {
  std::vector<float> v(a, a + n);
  Row s{v.data() + 1, n - 1};
  for (int i = 0; i < s.n; ++i) s.data[i] = v[i] + 1;
  for (int i = 0; i < n; ++i) b[i] = v[i];
}
Numbers own_vector_and_view_met() {
  std::vector<float> a(400, 1), b(400);
  own_vector_and_view(a.data(), b.data(), 400);
  return Numbers(b.begin(), b.end());
}

//: own_scratch_and_view l1=sequential kernels=2 met
void own_scratch_and_view(const float* a, float* b, int n, int m) {
  std::vector<float> tmp(m);
  Row s{tmp.data(), m};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) tmp[j] = a[i * m + j];
    for (int j = 0; j < m; ++j) b[i * m + j] = s.data[m - 1 - j];
  }
}
Numbers own_scratch_and_view_met() {
  std::vector<float> a(100 * 70), b(100 * 70);
  std::iota(a.begin(), a.end(), 0.0f);
  own_scratch_and_view(a.data(), b.data(), 100, 70);
  return Numbers(b.begin(), b.end());
}

//: header_reads_array l2=parallel kernels=1 met
void header_reads_array(std::vector<float>& a, int n) {
  while (a[0] < 10)
    for (int i = 0; i < n; ++i) a[i] += 1;
}
Numbers header_reads_array_met() {
  std::vector<float> a(200);
  header_reads_array(a, 200);
  return Numbers(a.begin(), a.end());
}

//: header_reads_field l2=parallel kernels=1 met
void header_reads_field(const Sizes& s, int* a, int* b, int n) {
  for (int t = 0; t < s.n; ++t)
    for (int i = 0; i < n; ++i) {
      if (i == 50) a[0] = 2;
      b[i] += 1;
    }
}
Numbers header_reads_field_met() {
  std::vector<int> b(200);
  Sizes s{7, 0};
  header_reads_field(s, &s.n, b.data(), 200);
  return numbers(b);
}

//: branch_reads_array l1=parallel l2=parallel l3=parallel kernels=3 met
void branch_reads_array(std::vector<float>& a, std::vector<float>& b, int n) {
  for (int i = 0; i < n; ++i) a[i] += 1;
  if (a[0] > 0.5f) {
    for (int i = 0; i < n; ++i) b[i] += 1;
  } else {
    for (int i = 0; i < n; ++i) b[i] -= 1;
  }
}
Numbers branch_reads_array_met() {
  std::vector<float> a(200), b(200);
  branch_reads_array(a, b, 200);
  return Numbers(b.begin(), b.end());
}

//: range_reads_array l2=parallel kernels=1 met
void range_reads_array(std::vector<int>& a, std::vector<int>& b, int n) {
  for (const int x : a)
    for (int i = 0; i < n; ++i) a[i] = b[i] + x;
}
Numbers range_reads_array_met() {
  std::vector<int> a(100, 1), b(100);
  std::iota(b.begin(), b.end(), 0);
  range_reads_array(a, b, 100);
  return numbers(a);
}

//: argument_reads_array l1=parallel kernels=1 met
void argument_reads_array(std::vector<float>& a, std::vector<float>& b, int n) {
  for (int i = 0; i < n; ++i) a[i] += 1;
  shifted(b, a[3], n);
}
Numbers argument_reads_array_met() {
  std::vector<float> a(200), b(200);
  argument_reads_array(a, b, 200);
  return Numbers(b.begin(), b.end());
}

//: host_reads_number l1=parallel kernels=1 met
void host_reads_number(const Sizes& s, int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (i == 50) a[0] = 2;
    b[i] += 1;
  }
  const int m = s.n;
  global_sum = m;
}
Numbers host_reads_number_met() {
  std::vector<int> b(200);
  Sizes s{7, 0};
  host_reads_number(s, &s.n, b.data(), 200);
  return {double(global_sum)};
}

//: host_writes_number l1=parallel l2=parallel kernels=2 met
void host_writes_number(int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) a[i] += 1;
  global_n = 150;
  for (int i = 0; i < n; ++i) b[i] += a[0];
}
Numbers host_writes_number_met() {
  std::vector<int> b(1);
  global_n = 7;
  host_writes_number(&global_n, b.data(), 1);
  return numbers(b);
}

//: next_nest_reads_number l1=parallel l2=parallel kernels=2 met
void next_nest_reads_number(const Sizes& s, int* a, float* x, float* y, int n) {
  for (int i = 0; i < n; ++i)
    if (i == 50) a[0] = 90;
  for (int i = 0; i < s.n; ++i) y[i] = x[i] + 1;
}
Numbers next_nest_reads_number_met() {
  std::vector<float> x(200, 3), y(200);
  Sizes s{150, 0};
  next_nest_reads_number(s, &s.n, x.data(), y.data(), 200);
  return Numbers(y.begin(), y.end());
}

//: callee_reads_number kernels=0 met
void callee_reads_number(const Sizes& s, int* a, int* b, int n) {
  marked(a, n);
  raised(s, b);
}
Numbers callee_reads_number_met() {
  std::vector<int> b(200);
  Sizes s{150, 0};
  callee_reads_number(s, &s.n, b.data(), 200);
  return numbers(b);
}

//: own_pages l1=parallel l2=parallel kernels=2 met
void own_pages(const float* a, float* b, int n) {  // large enough for mmap
  std::vector<float> half(n), whole(a, a + n);
  for (int i = 0; i < n / 2; ++i) half[2 * i] = whole[i] + 1;
  for (int i = 0; i < n; ++i) b[i] = half[i] + whole[i];
}
Numbers own_pages_met() {
  const int n = (1 << 20) + 3;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i % 1009);
  Numbers all;
  for (int round = 0; round < 2; ++round) {  // the second round reuses memory
    own_pages(a.data(), b.data(), n);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += b[i] * (i % 31 + 1);
    all.insert(all.end(), {sum, double(b[0]), double(b[1]), double(b[n - 1])});
  }
  return all;
}

//: numbers_exchanged l1=parallel kernels=1 run met
void numbers_exchanged(const std::vector<float>& in, std::vector<float>& out) {
  for (std::size_t i = 1; i + 1 < in.size(); ++i) {
    float a = in[i - 1], b = in[i], c = in[i + 1];
    if (a > b) std::swap(a, b);
    if (b > c) std::swap(b, c);
    if (a > b) std::swap(a, b);
    out[i] = b;
  }
}
Numbers numbers_exchanged_met() {
  std::vector<float> a(300);
  for (int i = 0; i < 300; ++i) a[i] = static_cast<float>(i * 7919 % 101);
  numbers_exchanged(a, a);
  return Numbers(a.begin(), a.end());
}

//: elements_exchanged l1=sequential:flow kernels=0 met
void elements_exchanged(std::vector<float>& a, int n) {
  for (int i = 1; i < n; ++i)
    if (a[i - 1] > a[i]) std::swap(a[i - 1], a[i]);
}
Numbers elements_exchanged_met() {
  std::vector<float> a(300);
  for (int i = 0; i < 300; ++i) a[i] = static_cast<float>(i * 7919 % 101);
  elements_exchanged(a, 300);
  return Numbers(a.begin(), a.end());
}

//: pointer_keeps_its_place_beside_another l1=sequential kernels=0 met
void pointer_keeps_its_place_beside_another(float* a, int* at, int n) {
  for (int i = 0; i < n; ++i) {
    int* q = at + i;
    float* p = a + 2 * at[i];
    q[0] = 0;
    p[0] = 1;
  }
}
Numbers pointer_keeps_its_place_beside_another_met() {
  std::vector<float> a(600);
  std::vector<int> at(200);
  std::iota(at.begin(), at.end(), 5);
  pointer_keeps_its_place_beside_another(a.data(), at.data(), 200);
  return Numbers(a.begin(), a.end());
}

//: own_clamp_as_subscript l1=sequential kernels=0 met
void own_clamp_as_subscript(const int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) b[own::clamp(i, 0, n - 1)] = a[i];
}
Numbers own_clamp_as_subscript_met() {
  const auto a = mixed(3000);
  std::vector<int> b(3000);
  own_clamp_as_subscript(a.data(), b.data(), 3000);
  return numbers(b);
}

//: clamp_as_subscript l1=parallel kernels=1 met
void clamp_as_subscript(const int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) b[std::clamp(i, 0, n - 1)] = a[i];
}
Numbers clamp_as_subscript_met() {
  const auto a = mixed(3000);
  std::vector<int> b(3000);
  clamp_as_subscript(a.data(), b.data(), 3000);
  return numbers(b);
}

//: largest_by_own_max l1=sequential kernels=0 met
int largest_by_own_max(const int* a, int n) {
  int best = 0;
  for (int i = 0; i < n; ++i) best = own::max(best, a[i]);
  return best;
}
Numbers largest_by_own_max_met() {
  const auto a = mixed(3000);
  return {double(largest_by_own_max(a.data(), 3000))};
}

//: largest_by_own_larger l1=reduction kernels=1 met
int largest_by_own_larger(const int* a, int n) {
  int best = 0;
  for (int i = 0; i < n; ++i) best = own::larger(best, a[i]);
  return best;
}
Numbers largest_by_own_larger_met() {
  const auto a = mixed(3000);
  return {double(largest_by_own_larger(a.data(), 3000))};
}

//: least_of_another_type l1=sequential kernels=0 met
int least_of_another_type(const int* a, int n) {
  int best = 1000;
  for (int i = 0; i < n; ++i) best = (signed char)a[i] < best ? (int)a[i] : best;
  return best;
}
Numbers least_of_another_type_met() {
  const auto a = mixed(3000);
  return {double(least_of_another_type(a.data(), 3000))};
}

//: least_by_unsigned_test l1=sequential kernels=0 met
int least_by_unsigned_test(const unsigned* a, int n) {  // as unsigned, -1 is the largest value
  int best = -1;
  for (int i = 0; i < n; ++i)
    if (a[i] < best) best = a[i];
  return best;
}
Numbers least_by_unsigned_test_met() {
  const std::vector<unsigned> a(3000, 7);
  return {double(least_by_unsigned_test(a.data(), 3000))};
}

//: least_rounded l1=sequential kernels=0 met
void least_rounded(const double* a, int n, float& best,
                   int& where) {  // rounding makes each value less than the stored one
  for (int i = 0; i < n; ++i)
    if (a[i] < best) {
      best = a[i];
      where = i;
    }
}
Numbers least_rounded_met() {
  std::vector<double> a(3000);
  for (int i = 0; i < 3000; ++i) a[i] = 1 - (i % 100) * 1e-12;
  float best = 2;
  int where = -1;
  least_rounded(a.data(), 3000, best, where);
  return {double(best), double(where)};
}

//: least_of_bytes l1=reduction kernels=1 met
unsigned char least_of_bytes(const unsigned char* a, int n) {
  unsigned char best = 255;
  for (int i = 0; i < n; ++i)
    if (a[i] < best) best = a[i];
  return best;
}
Numbers least_of_bytes_met() {
  std::vector<unsigned char> a(3000);
  for (int i = 0; i < 3000; ++i) a[i] = static_cast<unsigned char>(250 - i * 31 % 211);
  return {double(least_of_bytes(a.data(), 3000))};
}

//: least_from_no_number l1=reduction kernels=1 met
float least_from_no_number(const float* a, int n) {
  float best = a[0];
  for (int i = 1; i < n; ++i) best = std::min(best, a[i]);
  return best;
}
Numbers least_from_no_number_met() {
  std::vector<float> a(3000);
  for (int i = 0; i < 3000; ++i) a[i] = static_cast<float>(2000 - i * 31 % 1511);
  const float first = least_from_no_number(a.data(), 3000);
  a[0] = NAN;
  const float second = least_from_no_number(a.data(), 3000);
  a[0] = 9;
  a[2999] = NAN;
  return {double(first), double(std::isnan(second)), double(least_from_no_number(a.data(), 3000))};
}

//: iterator_named_like_the_callees l1=sequential:flow kernels=0 met
void iterator_named_like_the_callees(float* a, int n) {
  for (int k = 4; k < n; ++k) a[k] = 0.3f * last_three(a, k);
}
Numbers iterator_named_like_the_callees_met() {
  std::vector<float> a(3000, 1);
  iterator_named_like_the_callees(a.data(), 3000);
  return Numbers(a.begin(), a.end());
}

//: iterator_named_alike_elsewhere l1=parallel kernels=1 met
void iterator_named_alike_elsewhere(const float* a, float* b, int n) {
  for (int k = 4; k < n; ++k) b[k] = last_three(a, k);
}
Numbers iterator_named_alike_elsewhere_met() {
  std::vector<float> a(3000), b(3000);
  for (int i = 0; i < 3000; ++i) a[i] = static_cast<float>(i % 101);
  iterator_named_alike_elsewhere(a.data(), b.data(), 3000);
  return Numbers(b.begin(), b.end());
}

//: one_place_of_two_extremes l1=sequential kernels=0 met
void one_place_of_two_extremes(const int* a, int n, int& low, int& high, int& where) {
  for (int i = 0; i < n; ++i) {
    if (a[i] < low) {
      low = a[i];
      where = i;
    }
    if (a[i] > high) {
      high = a[i];
      where = i;
    }
  }
}
Numbers one_place_of_two_extremes_met() {
  const auto a = mixed(3000);
  int low = 0, high = 0, where = -1;
  one_place_of_two_extremes(a.data(), 3000, low, high, where);
  return {double(low), double(high), double(where)};
}

//: two_places_of_two_extremes l1=reduction kernels=1 met
void two_places_of_two_extremes(const int* a, int n, int& low, int& high, int& first, int& second) {
  for (int i = 0; i < n; ++i) {
    if (a[i] < low) {
      low = a[i];
      first = i;
    }
    if (a[i] > high) {
      high = a[i];
      second = i;
    }
  }
}
Numbers two_places_of_two_extremes_met() {
  const auto a = mixed(3000);
  int low = 0, high = 0, first = -1, second = -1;
  two_places_of_two_extremes(a.data(), 3000, low, high, first, second);
  return {double(low), double(high), double(first), double(second)};
}

//: value_read_after_break l2=sequential kernels=0 met
float value_read_after_break(const float* a, float* b, int n, int m) {
  float x = 0;
  for (int t = 0; t < m; ++t) {
    for (int i = 0; i < n; ++i) {
      x = a[i] + t;
      b[i] = x;
    }
    if (b[0] > 3) break;
    x = 1;
  }
  return x;
}
Numbers value_read_after_break_met() {
  std::vector<float> a(3000, 2), b(3000);
  return {double(value_read_after_break(a.data(), b.data(), 3000, 9))};
}

//: value_read_after_continue l2=sequential kernels=0 met
void value_read_after_continue(const float* a, float* b, int n, int m) {
  float x = 0;
  for (int t = 0; t < m; ++t) {
    if (t > 0) b[0] = x;
    for (int i = 1; i < n; ++i) {
      x = a[i] + t;
      b[i] = x;
    }
    if (b[1] > 3) continue;
    x = 1;
  }
}
Numbers value_read_after_continue_met() {
  std::vector<float> a(3000, 2), b(3000);
  value_read_after_continue(a.data(), b.data(), 3000, 9);
  return Numbers(b.begin(), b.end());
}

//: value_of_nobody_after_break l2=parallel kernels=1 met
float value_of_nobody_after_break(const float* a, float* b, int n, int m) {
  float x = 0;
  for (int t = 0; t < m; ++t) {
    for (int i = 0; i < n; ++i) {
      x = a[i] + t;
      b[i] = x;
    }
    if (b[0] > 3) break;
  }
  x = b[1];
  return x;
}
Numbers value_of_nobody_after_break_met() {
  std::vector<float> a(3000, 2), b(3000);
  return {double(value_of_nobody_after_break(a.data(), b.data(), 3000, 9)), double(b[2])};
}

//: value_of_both_arms l1=parallel kernels=1 met
void value_of_both_arms(const float* a, float* b, int n) {
  float x;
  for (int i = 0; i < n; ++i) {
    if (a[i] > 50)
      x = a[i];
    else
      x = 1 - a[i];
    b[i] = x;
  }
}
Numbers value_of_both_arms_met() {
  std::vector<float> a(3000);
  for (int i = 0; i < 3000; ++i) a[i] = static_cast<float>(i * 31 % 101);
  std::vector<float> b(3000);
  value_of_both_arms(a.data(), b.data(), 3000);
  return Numbers(b.begin(), b.end());
}

//: value_of_one_arm_and_a_half l1=sequential kernels=0 met
void value_of_one_arm_and_a_half(const float* a, float* b, int n) {
  float x = 7;
  for (int i = 0; i < n; ++i) {
    if (a[i] > 50) {
      if (i > 1500) x = a[i];
    } else {
      x = 1 - a[i];
    }
    b[i] = x;
  }
}
Numbers value_of_one_arm_and_a_half_met() {
  std::vector<float> a(3000), b(3000);
  for (int i = 0; i < 3000; ++i) a[i] = static_cast<float>(i * 31 % 101);
  value_of_one_arm_and_a_half(a.data(), b.data(), 3000);
  return Numbers(b.begin(), b.end());
}

//: value_read_in_the_other_arm l1=sequential kernels=0 met
void value_read_in_the_other_arm(const float* a, float* b, int n) {
  float x = 7;
  for (int i = 0; i < n; ++i) {
    if (a[i] > 50) {
      x = a[i];
    } else {
      b[i] = x;
      x = 1;
    }
    b[i] += x;
  }
}
Numbers value_read_in_the_other_arm_met() {
  std::vector<float> a(3000), b(3000);
  for (int i = 0; i < 3000; ++i) a[i] = static_cast<float>(i * 31 % 101);
  value_read_in_the_other_arm(a.data(), b.data(), 3000);
  return Numbers(b.begin(), b.end());
}

//: bits_as_truth l1=parallel kernels=1 met
void bits_as_truth(const int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] & 2) b[i] = 1;
    const bool two = a[i] & 6;
    b[i] += two + (a[i] & 4 ? 10 : 20);
    while (a[i] & 8 && b[i] < 100) b[i] += 7;
  }
}
Numbers bits_as_truth_met() {
  const auto a = mixed(3000);
  std::vector<int> b(3000);
  bits_as_truth(a.data(), b.data(), 3000);
  return numbers(b);
}

//: truth_by_parts l1=parallel kernels=1 met
void truth_by_parts(const int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) {
    bool x = true, y = true, z = true;
    x &= a[i];
    y ^= a[i];
    z -= a[i];
    z += 2;
    b[i] = x + 2 * y + 4 * z;
  }
}
Numbers truth_by_parts_met() {
  const auto a = mixed(3000);
  std::vector<int> b(3000);
  truth_by_parts(a.data(), b.data(), 3000);
  return numbers(b);
}

//: truth_summed l1=sequential kernels=0 met
bool truth_summed(const int* a, int n) {
  bool x = false;
  for (int i = 0; i < n; ++i) x += a[i];
  return x;
}
Numbers truth_summed_met() {
  std::vector<int> a(3000, 1);
  a[2999] = -1;
  return {double(truth_summed(a.data(), 3000))};
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
