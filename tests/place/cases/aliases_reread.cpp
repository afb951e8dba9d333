// Bounds, conditions and arguments that a nest or the code after it reads again from memory that the nest may write.
// Notation: aliases.cpp.
#include <numeric>
#include <utility>
#include <vector>

using Numbers = std::vector<double>;
struct Sizes {
  int n, by;
};
inline Numbers numbers(const std::vector<int>& b) { return Numbers(b.begin(), b.end()); }
int global_n = 200;
int global_sum = 0;
inline void grow_global() { global_n += 50; }
inline void shifted(std::vector<float>& b, float by, int n) {
  for (int i = 0; i < n; ++i) b[i] += by;
}
inline void marked(int* a, int n) {
  for (int i = 0; i < n; ++i)
    if (i == 50) a[0] = 90;
}
inline void raised(const Sizes& s, int* b) {
  for (int i = 0; i < s.n; ++i) b[i] += 1;
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
