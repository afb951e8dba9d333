// Pointers, lengths and numbers that were read before a nest that may change them. Notation: aliases.cpp.
#include <numeric>
#include <span>
#include <vector>

using Numbers = std::vector<double>;
struct Sizes {
  int n, by;
};
struct Row {
  float* data;
  int n;
};
inline Numbers numbers(const std::vector<int>& b) { return Numbers(b.begin(), b.end()); }
int global_n = 200;
inline void redirect(Row* r, float* to) { r->data = to; }
inline void grow_global() { global_n += 50; }
inline void scale_pair(int* a, int k, const int& by) {
  a[k] *= by;
  a[k + 1] *= by;
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
