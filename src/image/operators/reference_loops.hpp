// Loops shared by the references of the operators: pixels beyond the edges, one function per output value, windows.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "base/threads.hpp"
#include "image/operators/reference.hpp"

namespace ridge::image {

// Pixels of an image continued beyond its edges.
struct Edges {
  const Plain& in;
  Border border = Border::replicate;
  double constant = 0;
  double operator()(std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) const {
    const auto y = border_index(border, r, static_cast<std::ptrdiff_t>(in.rows)),
               x = border_index(border, c, static_cast<std::ptrdiff_t>(in.columns));
    return y < 0 || x < 0 ? constant : in.at(static_cast<std::size_t>(y), static_cast<std::size_t>(x), k);
  }
};

// One call of an operator's reference.
struct Reference {
  const Plain &in, &guide;
  Depth depth;
  Border border;
  double constant;
  std::size_t row_step;

  Edges edges() const { return {in, border, constant}; }
  Plain like_input() const { return {in.rows, in.columns, in.channels, {}}; }
  // Fills the sampled rows of `out` with f(row, column, channel). The other rows are NaN.
  template <class F>
  Plain each(Plain out, const F& f) const {
    return each(std::move(out), row_step, f);
  }
  template <class F>
  static Plain each(Plain out, std::size_t step, const F& f) {
    out.values.assign(out.rows * out.columns * out.channels, std::numeric_limits<double>::quiet_NaN());
    const auto row = [&](std::size_t r) {
      for (std::size_t c = 0; c < out.columns; ++c) {
        for (std::size_t k = 0; k < out.channels; ++k) {
          out.at(r, c, k) = f(static_cast<std::ptrdiff_t>(r), static_cast<std::ptrdiff_t>(c), k);
        }
      }
    };
    std::vector<std::size_t> rows;
    for (std::size_t r = 0; r < out.rows; ++r) {
      if (is_sampled(r, out.rows, step)) rows.push_back(r);
    }
    const bool few = rows.size() * out.columns < 10'000;
    base::parallel(few ? 1 : std::min(base::hardware_threads(), rows.size()), [&](std::size_t thread, std::size_t of) {
      for (std::size_t i = thread; i < rows.size(); i += of) row(rows[i]);
    });
    return out;
  }
  // Sum of kernel(i, j) in(r + i - rows / 2, c + j - columns / 2).
  Plain window(std::size_t rows, std::size_t columns, const std::vector<double>& kernel) const;
  Plain product(const std::vector<double>& down, const std::vector<double>& across) const;
};

}  // namespace ridge::image
