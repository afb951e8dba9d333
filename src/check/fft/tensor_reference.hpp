// Reference of tensor problems: embeds every kind in a complex transform of twice the precision.
#pragma once
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <ridge/fft/tensor.hpp>

#include "check/fft/wide_dft.hpp"

namespace ridge::check {

using fft::RealKind;
using fft::TensorKind;
using fft::TensorProblem;

// A real-to-real transform as a longer complex one: inputs are placed at some positions, outputs are read at others.
struct Embedding {
  std::size_t length;  // length of the complex transform
  bool sine = false;   // the result is minus the imaginary part
  std::size_t first = 0, step = 1, read_first = 0, read_step = 1;
};
inline Embedding embedding_of(RealKind kind, std::size_t n) {
  switch (kind) {
    case RealKind::dct1:
      return {.length = 2 * (n - 1)};
    case RealKind::dct2:
      return {.length = 4 * n, .first = 1, .step = 2};
    case RealKind::dct3:
      return {.length = 4 * n, .read_first = 1, .read_step = 2};
    case RealKind::dct4:
      return {.length = 8 * n, .first = 1, .step = 2, .read_first = 1, .read_step = 2};
    case RealKind::dst1:
      return {.length = 2 * (n + 1), .sine = true, .first = 1, .read_first = 1};
    case RealKind::dst2:
      return {.length = 4 * n, .sine = true, .first = 1, .step = 2, .read_first = 1};
    case RealKind::dst3:
      return {.length = 4 * n, .sine = true, .first = 1, .read_first = 1, .read_step = 2};
    case RealKind::dst4:
      return {.length = 8 * n, .sine = true, .first = 1, .step = 2, .read_first = 1, .read_step = 2};
    default:
      return {.length = n};
  }
}

// True for inputs that occur once; the others occur twice, with their mirror.
inline bool counts_once(RealKind kind, std::size_t n, std::size_t j) {
  if (kind == RealKind::dct1) return j == 0 || j + 1 == n;
  if (kind == RealKind::dct3) return j == 0;
  return kind == RealKind::dst3 && j + 1 == n;
}

template <class T>
class TensorReference {
 public:
  using Real = Wide<T>;
  using Value = WidePoint<Real>;

  // Transforms one array of the batch: its shape are the lengths of the problem's axes, last axis fastest.
  void run(const TensorProblem& problem, std::vector<Value>& values) {
    const std::size_t rank = problem.axes.size();
    if (problem.kind == TensorKind::real_to_real) {
      for (std::size_t axis = 0; axis < rank; ++axis)
        along(problem, axis, values, [&](auto& line) { real_line(problem.real_kinds[axis], line); });
      return;
    }
    const bool back = problem.kind == TensorKind::complex_inverse || problem.kind == TensorKind::real_inverse;
    for (std::size_t axis = 0; axis < rank; ++axis)
      along(problem, axis, values, [&](auto& line) { transform(line, back ? 1 : -1); });
  }

 private:
  template <class Line>
  void along(const TensorProblem& problem, std::size_t axis, std::vector<Value>& values, const Line& change) {
    const std::size_t n = problem.axes[axis].length;
    std::size_t inner = 1;
    for (std::size_t other = axis + 1; other < problem.axes.size(); ++other) inner *= problem.axes[other].length;
    std::vector<Value> line(n);
    for (std::size_t start = 0; start < values.size(); ++start) {
      if (start / inner % n != 0) continue;
      for (std::size_t i = 0; i < n; ++i) line[i] = values[start + i * inner];
      change(line);
      for (std::size_t i = 0; i < n; ++i) values[start + i * inner] = line[i];
    }
  }

  void transform(std::vector<Value>& line, int sign) {
    if (line.size() == 1) return;
    auto& roots = roots_[{line.size(), sign}];
    if (roots.empty()) roots = wide_roots<Real>(line.size(), sign);
    std::vector<Value> result(line.size());
    wide_dft(line.data(), 1, line.size(), roots, 1, result.data());
    line = std::move(result);
  }

  void real_line(RealKind kind, std::vector<Value>& line) {
    const std::size_t n = line.size();
    const std::vector<Value> in = line;
    if (kind == RealKind::halfcomplex_inverse) {
      for (std::size_t k = 1; 2 * k < n; ++k) {
        line[k] = {in[k].re, in[n - k].re};
        line[n - k] = {in[k].re, -in[n - k].re};
      }
      transform(line, 1);
      for (Value& value : line) value.im = Real(0.0);
      return;
    }
    const Embedding at = embedding_of(kind, n);
    std::vector<Value> wide(at.length);
    const bool plain = kind == RealKind::halfcomplex || kind == RealKind::hartley;
    for (std::size_t j = 0; j < n; ++j) {
      const Real weight(plain || counts_once(kind, n, j) ? 1.0 : 2.0);
      wide[at.first + at.step * j] = {in[j].re * weight, Real(0.0)};
    }
    transform(wide, -1);
    for (std::size_t k = 0; k < n; ++k) {
      if (kind == RealKind::halfcomplex) {
        line[k].re = 2 * k <= n ? wide[k].re : wide[n - k].im;
      } else if (kind == RealKind::hartley) {
        line[k].re = wide[k].re - wide[k].im;
      } else {
        const Value& value = wide[at.read_first + at.read_step * k];
        line[k].re = at.sine ? -value.im : value.re;
      }
    }
  }

  std::map<std::pair<std::size_t, int>, std::vector<Value>> roots_;
};

}  // namespace ridge::check
