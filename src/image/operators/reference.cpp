// Reference result of chains: plain loops in double precision, one operator after another.
#include "image/operators/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "image/operators/definition.hpp"

namespace ridge::image {
Plain Reference::window(std::size_t rows, std::size_t columns, const std::vector<double>& kernel) const {
  // Place in the image of every index that a window reaches, from -reach / 2 on.
  const auto places = [&](std::size_t size, std::size_t reach) {
    std::vector<std::ptrdiff_t> all(size + reach);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = border_index(border, static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(reach / 2),
                            static_cast<std::ptrdiff_t>(size));
    return all;
  };
  const auto y = places(in.rows, rows), x = places(in.columns, columns);
  return each(like_input(), [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::ptrdiff_t row = y[static_cast<std::size_t>(r) + i];
      for (std::size_t j = 0; j < columns; ++j) {
        const std::ptrdiff_t column = x[static_cast<std::size_t>(c) + j];
        const bool outside = row < 0 || column < 0;
        sum += kernel[i * columns + j] *
               (outside ? constant : in.at(static_cast<std::size_t>(row), static_cast<std::size_t>(column), k));
      }
    }
    return sum;
  });
}

Plain Reference::product(const std::vector<double>& down, const std::vector<double>& across) const {
  if (row_step == 1) {  // all rows are wanted: along the rows, then along the columns
    const Plain summed = window(1, across.size(), across);
    const double outside = constant * std::accumulate(across.begin(), across.end(), 0.0);
    return Reference{summed, guide, depth, border, outside, row_step}.window(down.size(), 1, down);
  }
  std::vector<double> kernel;
  for (const double y : down) {
    for (const double x : across) kernel.push_back(y * x);
  }
  return window(down.size(), across.size(), kernel);
}

Plain plain_of(const Image& image) {
  Plain out{image.rows(), image.columns(), image.channels(), {}};
  const std::size_t count = image.columns() * image.channels();
  for (std::size_t r = 0; r < image.rows(); ++r) {
    switch (image.depth()) {
      case Depth::u8:
        out.values.insert(out.values.end(), image.row<std::uint8_t>(r), image.row<std::uint8_t>(r) + count);
        break;
      case Depth::u16:
        out.values.insert(out.values.end(), image.row<std::uint16_t>(r), image.row<std::uint16_t>(r) + count);
        break;
      case Depth::f32:
        out.values.insert(out.values.end(), image.row<float>(r), image.row<float>(r) + count);
        break;
      case Depth::u32:
        out.values.insert(out.values.end(), image.row<std::uint32_t>(r), image.row<std::uint32_t>(r) + count);
        break;
      case Depth::f64:
        out.values.insert(out.values.end(), image.row<double>(r), image.row<double>(r) + count);
        break;
    }
  }
  return out;
}

bool is_sampled(std::size_t row, std::size_t rows, std::size_t row_step) {
  return row % row_step == 0 || row + 1 == rows;
}

Plain reference(const Operation& operation, const Plain& in, const Plain& guide, Depth depth, Border border,
                double constant, std::size_t row_step) {
  const Reference call{in, guide, depth, border, constant, row_step};
  return std::visit([&]<class T>(const T& o) { return definition<T>().reference(o, call); }, operation);
}

Plain reference(const OperatorProblem& problem, const Plain& in, const Plain& guide, std::size_t row_step) {
  Plain now = in;
  Shape shape = problem.input;
  for (std::size_t i = 0; i < problem.chain.size(); ++i) {
    now = reference(problem.chain[i], now, guide, shape.depth, border_for(problem.chain[i], problem.border),
                    problem.constant, i + 1 == problem.chain.size() ? row_step : 1);
    shape = output_shape(problem.chain[i], shape);
    if (i + 1 == problem.chain.size() || shape.depth == Depth::f32) continue;
    const double most = shape.depth == Depth::u8 ? 255 : 65535;
    for (double& value : now.values) value = std::clamp(std::nearbyint(value), 0.0, most);
  }
  return now;
}

std::vector<double> reference_values(const OperatorProblem& problem, const Image& in, const Image& guide) {
  static_cast<void>(output_shape(problem));
  return reference(problem, plain_of(in), guide ? plain_of(guide) : Plain{}).values;
}

}  // namespace ridge::image
