// Values that a loop computes for the code after it: sums into memory that may overlap, least and largest values with
// their places, values of the last iteration, numbers as truth values. Notation: aliases.cpp.
#include <algorithm>
#include <cmath>
#include <vector>

using Numbers = std::vector<double>;
inline Numbers numbers(const std::vector<int>& b) { return Numbers(b.begin(), b.end()); }
int global_sum = 0;
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
