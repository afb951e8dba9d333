// Reference implementation of every operator: plain loops in double precision.
#include "image/operators/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/threads.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image {
namespace {

struct Edges {
  const Plain& in;
  Border border;
  double constant;
  double operator()(std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) const {
    const auto y = border_index(border, r, static_cast<std::ptrdiff_t>(in.rows)),
               x = border_index(border, c, static_cast<std::ptrdiff_t>(in.columns));
    return y < 0 || x < 0 ? constant : in.at(static_cast<std::size_t>(y), static_cast<std::size_t>(x), k);
  }
};

Plain like(const Plain& in) { return {in.rows, in.columns, in.channels, std::vector<double>(in.values.size())}; }

// Fills the sampled rows of `out` with f(row, column, channel). The other rows are NaN.
template <class F>
Plain each(Plain out, std::size_t row_step, const F& f) {
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
    if (is_sampled(r, out.rows, row_step)) rows.push_back(r);
  }
  const bool few = rows.size() * out.columns < 10'000;
  base::parallel(few ? 1 : std::min(base::hardware_threads(), rows.size()), [&](std::size_t thread, std::size_t of) {
    for (std::size_t i = thread; i < rows.size(); i += of) row(rows[i]);
  });
  return out;
}

struct Apply {
  const Plain &in, &guide;
  Depth depth;
  Border border;
  double constant;
  std::size_t row_step;

  Plain window(std::size_t rows, std::size_t columns, const std::vector<double>& kernel) const {
    const Edges at{in, border, constant};
    const auto top = static_cast<std::ptrdiff_t>(rows / 2), left = static_cast<std::ptrdiff_t>(columns / 2);
    return each(like(in), row_step, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
      double sum = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
          sum += kernel[i * columns + j] *
                 at(r + static_cast<std::ptrdiff_t>(i) - top, c + static_cast<std::ptrdiff_t>(j) - left, k);
        }
      }
      return sum;
    });
  }
  Plain product(const std::vector<double>& down, const std::vector<double>& across) const {
    std::vector<double> kernel;
    for (const double y : down) {
      for (const double x : across) kernel.push_back(y * x);
    }
    return window(down.size(), across.size(), kernel);
  }
  Plain operator()(const Convolve& o) const { return window(o.rows, o.columns, {o.kernel.begin(), o.kernel.end()}); }
  Plain operator()(const Separable& o) const {
    return product({o.down.begin(), o.down.end()}, {o.across.begin(), o.across.end()});
  }
  Plain operator()(const Gauss& o) const {
    const auto weights = gauss_weights(o.sigma, gauss_radius(o, depth));
    return product(weights, weights);
  }
  Plain operator()(const Box& o) const {
    return product(std::vector<double>(o.rows, 1.0 / static_cast<double>(o.rows)),
                   std::vector<double>(o.columns, 1.0 / static_cast<double>(o.columns)));
  }
  Plain operator()(const Median& o) const {
    const Edges at{in, border, constant};
    const auto radius = static_cast<std::ptrdiff_t>(o.radius);
    return each(like(in), row_step, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
      std::vector<double> values;
      for (std::ptrdiff_t i = -radius; i <= radius; ++i) {
        for (std::ptrdiff_t j = -radius; j <= radius; ++j) values.push_back(at(r + i, c + j, k));
      }
      std::sort(values.begin(), values.end());
      return values[values.size() / 2];
    });
  }
  Plain bilateral(const Plain& colors, std::size_t radius_, double space, double color, Like kind) const {
    const Edges at{in, border, constant}, look{colors, border, constant};
    const auto radius = static_cast<std::ptrdiff_t>(radius_);
    return each(like(in), row_step, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
      double sum = 0, total = 0;
      for (std::ptrdiff_t i = -radius; i <= radius; ++i) {
        for (std::ptrdiff_t j = -radius; j <= radius; ++j) {
          if (i * i + j * j > radius * radius) continue;
          double apart = 0;
          for (std::size_t m = 0; m < colors.channels; ++m) {
            const double off = std::abs(look(r + i, c + j, m) - look(r, c, m));
            apart += kind == Like::opencv ? off : off * off;
          }
          if (kind == Like::opencv) apart *= apart;
          const double w =
              std::exp(-static_cast<double>(i * i + j * j) / (2 * space * space) - apart / (2 * color * color));
          sum += w * at(r + i, c + j, k);
          total += w;
        }
      }
      return sum / total;
    });
  }
  Plain operator()(const Bilateral& o) const { return bilateral(in, o.radius, o.sigma_space, o.sigma_color, o.like); }
  Plain operator()(const CrossBilateral& o) const {
    return bilateral(guide, o.radius, o.sigma_space, o.sigma_color, o.like);
  }
  Plain operator()(const Resize& o) const {
    const Shape before{in.rows, in.columns, in.channels, depth}, shape = output_shape(o, before);
    const auto [down, across] = resize_taps(o, before);
    const Edges at{in, Border::replicate, 0};
    return each({shape.rows, shape.columns, in.channels}, row_step,
                [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
                  const ResizeTap &y = down[static_cast<std::size_t>(r)], &x = across[static_cast<std::size_t>(c)];
                  double sum = 0;
                  for (std::size_t i = 0; i < y.weights.size(); ++i) {
                    for (std::size_t j = 0; j < x.weights.size(); ++j) {
                      sum += y.weights[i] * x.weights[j] *
                             at(y.from + static_cast<std::ptrdiff_t>(i), x.from + static_cast<std::ptrdiff_t>(j), k);
                    }
                  }
                  return sum;
                });
  }
  Plain operator()(const Integral&) const {  // computes all rows: each needs the rows above it
    Plain out{in.rows + 1, in.columns + 1, in.channels};
    out.values.assign(out.rows * out.columns * out.channels, 0.0);
    for (std::size_t r = 0; r < in.rows; ++r) {
      for (std::size_t k = 0; k < in.channels; ++k) {
        double row = 0;
        for (std::size_t c = 0; c < in.columns; ++c) {
          row += in.at(r, c, k);
          out.at(r + 1, c + 1, k) = out.at(r, c + 1, k) + row;
        }
      }
    }
    if (depth == Depth::u8) {
      for (double& value : out.values) value = std::fmod(value, 4294967296.0);
    }
    return out;
  }
  Plain operator()(const Pyramid& o) const {
    Plain now = in;
    for (std::size_t level = 0; level < o.levels; ++level) {
      const Plain before = now;
      const Edges at{before, border, constant};
      now = each({(before.rows + 1) / 2, (before.columns + 1) / 2, before.channels},
                 level + 1 == o.levels ? row_step : 1, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
                   double sum = 0;
                   for (int i = 0; i < 5; ++i) {
                     for (int j = 0; j < 5; ++j)
                       sum += kPyramidWeights[i] * kPyramidWeights[j] * at(2 * r + i - 2, 2 * c + j - 2, k);
                   }
                   return sum;
                 });
      if (level + 1 < o.levels && depth != Depth::f32) {
        for (double& value : now.values) value = std::nearbyint(value);
      }
    }
    return now;
  }
  Plain operator()(const Gradient& o) const {
    const GradientWeights weights = gradient_weights(o);
    const Plain x = product(weights.beside, weights.along), y = product(weights.along, weights.beside);
    return each({in.rows, in.columns, 2}, row_step, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
      return (k == 0 ? x : y).at(static_cast<std::size_t>(r), static_cast<std::size_t>(c), 0);
    });
  }
  Plain operator()(const Transpose&) const {
    return each({in.columns, in.rows, in.channels}, row_step, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
      return in.at(static_cast<std::size_t>(c), static_cast<std::size_t>(r), k);
    });
  }
  Plain operator()(const Rotate& o) const {
    const auto rows = static_cast<std::ptrdiff_t>(in.rows), columns = static_cast<std::ptrdiff_t>(in.columns);
    const auto pixel = [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
      return in.at(static_cast<std::size_t>(r), static_cast<std::size_t>(c), k);
    };
    if (const auto turns = quarter_turns(o)) {
      const bool swapped = *turns % 2 != 0;
      return each({swapped ? in.columns : in.rows, swapped ? in.rows : in.columns, in.channels}, row_step,
                  [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
                    switch (*turns) {
                      case 1:
                        return pixel(c, columns - 1 - r, k);
                      case 2:
                        return pixel(rows - 1 - r, columns - 1 - c, k);
                      case 3:
                        return pixel(rows - 1 - c, r, k);
                      default:
                        return pixel(r, c, k);
                    }
                  });
    }
    const Edges at{in, border, constant};
    const RotatedPlaces places(o, {in.rows, in.columns, in.channels, depth});
    return each(like(in), row_step, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
      const auto row = static_cast<std::size_t>(r), column = static_cast<std::size_t>(c);
      const double x = places.x(row, column), y = places.y(row, column);
      if (o.interpolation == Interpolation::nearest) {
        return at(static_cast<std::ptrdiff_t>(std::floor(y + 0.5)), static_cast<std::ptrdiff_t>(std::floor(x + 0.5)),
                  k);
      }
      const double whole_y = std::floor(y), whole_x = std::floor(x);
      double wy[4] = {0, 1 - (y - whole_y), y - whole_y, 0}, wx[4] = {0, 1 - (x - whole_x), x - whole_x, 0};
      if (o.interpolation == Interpolation::bicubic) {
        cubic_weights(y - whole_y, wy);
        cubic_weights(x - whole_x, wx);
      }
      double sum = 0;
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          if (wy[i] * wx[j] != 0)
            sum += wy[i] * wx[j] *
                   at(static_cast<std::ptrdiff_t>(whole_y) + i - 1, static_cast<std::ptrdiff_t>(whole_x) + j - 1, k);
        }
      }
      return sum;
    });
  }
  Plain operator()(const Gray&) const {
    return each({in.rows, in.columns, 1}, row_step, [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k)
        sum += kGrayWeights[k] * in.at(static_cast<std::size_t>(r), static_cast<std::size_t>(c), k);
      return sum;
    });
  }
};

}  // namespace

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
  return std::visit(Apply{in, guide, depth, border, constant, row_step}, operation);
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

}  // namespace ridge::image
