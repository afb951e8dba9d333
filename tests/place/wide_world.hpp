// The world in which random functions are compared (wide_programs.hpp): one block of memory for all arrays, calls with
// overlapping arguments, and the parts of the program that does it.
#pragma once
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace place_test {

inline std::string all_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

// Declares the few names of the standard library that the functions use, so that the analysis need not parse it.
inline const std::string kFewStandardNames = R"(#pragma GCC system_header
namespace std {
using size_t = decltype(sizeof 0);
template <class T>
class vector {
 public:
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
 private:
  T* data_;
  size_t size_;
};
template <class T>
void swap(T& a, T& b) {
  T held = a;
  a = b;
  b = held;
}
template <class T>
const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
}  // namespace std
)";

inline const std::string kWideHeaders =
    "#include <algorithm>\n#include <cstddef>\n#include <cstdint>\n#include <utility>\n#include <vector>\n";

// All arrays are parts of one block; `overlap` moves some of them onto others.
inline const std::string kWorld = R"(
#include <cmath>
#include <cstdio>
#include <cstring>
template <class T>
struct World {
  std::vector<T> arena, v;
  std::vector<int> where;
  std::vector<T*> rows;  // of a table; each overlaps the next
  World() : arena(44000), v(2000), where(256), rows(90) {
    unsigned state = 12345;
    const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
    for (auto* list : {&arena, &v})
      for (T& x : *list) x = static_cast<T>(next() % 64) / static_cast<T>(8);
    for (int& x : where) x = static_cast<int>((next() >> 4) % 4);
  }
};
template <class T>
using Function = void (*)(T*, T*, const T*, T (*)[12], T (*)[5][7], T (*)[2][3][4], std::vector<T>&, Two<T>*, Parts<T>&, T&,
                          const int*, int, int, T**);
template <class T>
void call(Function<T> f, World<T>& w, int overlap, int n, int k) {
  T* const base = w.arena.data() + 4000;
  T *a = base, *b = base + 4000, *c = base + 8000, *m = base + 12000, *q = base + 16000, *h = base + 20000,
    *s = base + 24000, *t = base + 28000, *r = base + 32000;
  switch (overlap) {
    case 1: b = a + 7; break;
    case 2: m = b - 5; break;
    case 3: s = m + 3; break;
    case 4: q = m; break;
    case 5: c = b + 1; break;
    case 6: h = a; r = b + 2; break;
    case 7: t = a - 300; break;
  }
  for (int i = 0; i < 90; ++i) w.rows[i] = base + 34000 + 50 * (overlap == 5 ? i % 7 : i);
  if (overlap == 6) w.rows[12] = a;
  f(a, b, c, reinterpret_cast<T (*)[12]>(m), reinterpret_cast<T (*)[5][7]>(q), reinterpret_cast<T (*)[2][3][4]>(h), w.v,
    reinterpret_cast<Two<T>*>(s), *reinterpret_cast<Parts<T>*>(t), *r, w.where.data() + 64, n, k, w.rows.data() + 10);
}
template <class T>
double apart(const std::vector<T>& x, const std::vector<T>& y, bool exactly) {
  if (std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0) return 0;
  double largest = 0, scale = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = static_cast<double>(x[i]), o = static_cast<double>(y[i]);
    if (std::isfinite(p)) scale = std::fmax(scale, std::fabs(p));
    if (p == o || (std::isnan(p) && std::isnan(o))) continue;
    if (exactly || !std::isfinite(p) || !std::isfinite(o)) return HUGE_VAL;
    largest = std::fmax(largest, std::fabs(p - o));
  }
  return largest == 0 ? 0 : largest / scale;
}
)";

// Wraps a text in a namespace and moves its #include lines to `headers`.
inline std::string in_namespace(const std::string& space, std::string text, std::set<std::string>& headers) {
  static const std::regex include(R"(#include [<"][^>"]*[>"])");
  for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at) headers.insert(at->str());
  return "namespace " + space + " {\n" + std::regex_replace(text, include, "") + "}\n";
}

// Removes the helpers of the OpenMP text, which all programs share, and adds them to `shared`.
inline std::string without_helpers(std::string text, std::vector<std::string>& shared) {
  const std::string open = "namespace placed {", close = "}  // namespace placed\n";
  for (std::size_t from; (from = text.find(open)) != std::string::npos;) {
    const std::size_t end = text.find(close, from);
    const std::string block = text.substr(from, end - from);
    text.erase(from, end + close.size() - from);
    bool known = false;
    for (std::string& other : shared) {  // further helpers follow those of all programs
      known = known || other.compare(0, block.size(), block) == 0 || block.compare(0, other.size(), other) == 0;
      if (block.compare(0, other.size(), other) == 0) other = block;
    }
    if (!known) shared.push_back(block);
  }
  return text;
}

inline std::string without_runtime(const std::string& text, std::string& runtime) {
  const auto from = text.find("// Run time of the placed code"), to = text.find("// The program.\n");
  if (from == std::string::npos || to == std::string::npos) return text;
  runtime = text.substr(from, to - from);
  return text.substr(to);
}

}  // namespace place_test
