// Generates butterflies with the twiddles of the preceding pass fused in, as cosine and tangent.
#include "codegen/butterfly.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace ridge::codegen {
namespace {

// Number of stored roots of a stage of m points: one per four points, because the other roots are -i times those.
// first_root() is the index of the first one in the array of all stages.
std::size_t stage_roots(std::size_t m) { return std::max<std::size_t>(1, m / 4); }
std::size_t first_root(std::size_t m) {
  std::size_t first = 0;
  for (std::size_t before = 2; before < m; before *= 2) first += stage_roots(before);
  return first;
}

// Computes a +- w b with w = c (1 + i t), c the cosine and t the tangent: first (b.x - t b.y, b.y + t b.x), then the
// factor c in the multiply-adds that form the sum and the difference.
class Writer {
 public:
  explicit Writer(std::size_t n) : n_(n) {}

  std::string write() {
    text_ = fmt::format("FUNCTION void twiddled{0}(float2* v, const float2* r) {{\n", n_);
    std::vector<std::string> inputs;
    for (std::size_t q = 0; q < n_; ++q) inputs.push_back(fmt::format("v[{}]", q));
    const std::vector<std::string> outputs = transform(inputs);
    for (std::size_t k = 0; k < n_; ++k) text_ += fmt::format("  v[{}] = {};\n", k, outputs[k]);
    return text_ + "}\n";
  }

 private:
  // Transforms even and odd inputs recursively and combines them. Inputs and outputs are names of variables.
  std::vector<std::string> transform(const std::vector<std::string>& in) {
    if (in.size() == 1) return in;
    std::vector<std::string> even, odd;
    for (std::size_t q = 0; q < in.size(); ++q) (q % 2 == 0 ? even : odd).push_back(in[q]);
    even = transform(even);
    odd = transform(odd);
    const std::size_t m = in.size(), half = m / 2, roots = stage_roots(m);
    std::vector<std::string> out(m);
    for (std::size_t k = 0; k < half; ++k) {
      const std::string root = fmt::format("r[{}]", first_root(m) + k % roots);
      const std::size_t i = count_++;
      text_ += fmt::format("  const float p{0} = FMA(-{1}.y, {2}.y, {2}.x), q{0} = FMA({1}.y, {2}.x, {2}.y);\n", i,
                           root, odd[k]);
      const bool back = k >= roots;  // times -i
      const std::string x = fmt::format("{}{}", back ? 'q' : 'p', i), y = fmt::format("{}{}", back ? 'p' : 'q', i);
      const char* less = back ? "-" : "";
      const char* more = back ? "" : "-";
      text_ += fmt::format(
          "  const float2 s{0} = make_float2(FMA({1}.x, {2}, {3}.x), FMA({4}{1}.x, {5}, {3}.y));\n"
          "  const float2 d{0} = make_float2(FMA(-{1}.x, {2}, {3}.x), FMA({6}{1}.x, {5}, {3}.y));\n",
          i, root, x, even[k], less, y, more);
      out[k] = fmt::format("s{}", i);
      out[k + half] = fmt::format("d{}", i);
    }
    return out;
  }

  std::size_t n_, count_ = 0;
  std::string text_;
};

}  // namespace

std::string twiddled_butterfly_text(std::size_t n) { return Writer(n).write(); }

std::size_t twiddled_roots(std::size_t n) { return first_root(2 * n); }

std::vector<std::complex<float>> twiddled_roots_of(std::size_t n, std::size_t points, std::size_t u) {
  std::vector<std::complex<float>> roots;
  for (std::size_t m = 2; m <= n; m *= 2) {
    for (std::size_t j = 0; j < stage_roots(m); ++j) {
      // A cosine of 0 comes out as 6e-17 and its tangent as 1.6e16: their product is right.
      const double angle = -2 * std::numbers::pi * static_cast<double>(n / m * (u + points / n * j) % points) /
                           static_cast<double>(points);
      roots.emplace_back(static_cast<float>(std::cos(angle)), static_cast<float>(std::tan(angle)));
    }
  }
  return roots;
}

}  // namespace ridge::codegen
