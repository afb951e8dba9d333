// Reference image operators and chains as plain loops in double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

#include "check/image/reference.hpp"

namespace ridge::check::plain {
namespace {

using namespace image;
using Index = std::ptrdiff_t;

constexpr Index kOutside = -1;

// Index of the pixel that the border rule puts at index i of n, one reflection or wrap at a time.
Index seen_at(Border border, Index i, Index n) {
  if (border == Border::replicate) return std::clamp<Index>(i, 0, n - 1);
  while (i < 0 || i >= n) {
    if (border == Border::constant) return kOutside;
    if (border == Border::wrap) {
      i += i < 0 ? n : -n;
    } else if (border == Border::reflect) {
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
    } else if (n == 1) {
      i = 0;
    } else {
      i = i < 0 ? -i : 2 * n - 2 - i;
    }
  }
  return i;
}

// An image extended beyond its edges by the border rule.
struct Endless {
  const Pixels& in;
  Border border = Border::replicate;
  double constant = 0;
  double operator()(Index r, Index c, std::size_t k) const {
    const Index y = seen_at(border, r, static_cast<Index>(in.rows)),
                x = seen_at(border, c, static_cast<Index>(in.columns));
    if (y == kOutside || x == kOutside) return constant;
    return in.at(static_cast<std::size_t>(y), static_cast<std::size_t>(x), k);
  }
};

using At = std::function<double(Index, Index, std::size_t)>;
Pixels made(std::size_t rows, std::size_t columns, std::size_t channels, const At& at) {
  Pixels out{rows, columns, channels, {}};
  out.values.reserve(rows * columns * channels);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t k = 0; k < channels; ++k)
        out.values.push_back(at(static_cast<Index>(r), static_cast<Index>(c), k));
    }
  }
  return out;
}

double tent(double x) { return std::max(0.0, 1 - std::abs(x)); }
double keys(double x) {
  const double a = -0.75, d = std::abs(x);
  if (d >= 2) return 0;
  return d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1 : a * (d * d * d - 5 * d * d + 8 * d - 4);
}

// One axis of a resize: the weights of the source pixels for output i; indices may be outside the image.
struct AxisWeights {
  Index first = 0;
  std::vector<double> weights = {};
};
struct AxisOfResize {
  std::size_t from, to;
  double scale;  // OpenCV's scale: as given, or to / from
};
AxisWeights weights_along(const Resize& o, const AxisOfResize& axis, bool growing, Index i) {
  const double m = static_cast<double>(axis.from), n = static_cast<double>(axis.to), at_i = static_cast<double>(i);
  const bool opencv = o.like == Like::opencv;
  const double step = opencv ? 1 / axis.scale : m / n;
  if (o.interpolation == Interpolation::nearest) {
    if (!opencv) return {i * static_cast<Index>(axis.from) / static_cast<Index>(axis.to), {1}};
    return {std::min(static_cast<Index>(std::floor(at_i * step)), static_cast<Index>(axis.from) - 1), {1}};
  }
  if (o.interpolation == Interpolation::area && opencv && growing) {
    const double whole = std::floor(at_i * step);
    const float beyond = static_cast<float>((at_i + 1) - (whole + 1) * axis.scale);
    const double share = beyond <= 0 ? 0 : double{beyond} - std::floor(double{beyond});
    return {static_cast<Index>(whole), {1 - share, share}};
  }
  if (o.interpolation == Interpolation::area &&
      step > 1) {  // weights each pixel by the part of it that [begin, end) covers
    const double begin = at_i * step, end = std::min(m, begin + step);
    AxisWeights found{static_cast<Index>(std::floor(begin)), {}};
    for (double pixel = std::floor(begin); pixel < end; ++pixel)
      found.weights.push_back((std::min(end, pixel + 1) - std::max(begin, pixel)) / (end - begin));
    return found;
  }
  const double centre = (at_i + 0.5) * step - 0.5;
  const bool cubic = o.interpolation == Interpolation::bicubic;
  const Index reach = cubic ? 2 : 1, first = static_cast<Index>(std::floor(centre)) - reach + 1;
  AxisWeights found{first, {}};
  for (Index j = first; j < first + 2 * reach; ++j) {
    const double x = centre - static_cast<double>(j);
    found.weights.push_back(cubic ? keys(x) : tent(x));
  }
  return found;
}

// The pixels as an image of this depth, whose values they are.
Image image_of(const Pixels& pixels, Depth depth) {
  Image image({pixels.rows, pixels.columns, pixels.channels, depth});
  const std::size_t wide = pixels.columns * pixels.channels;
  for (std::size_t i = 0; i < pixels.values.size(); ++i) {
    const double value = pixels.values[i];
    if (depth == Depth::u8) image.row<std::uint8_t>(i / wide)[i % wide] = static_cast<std::uint8_t>(value);
    if (depth == Depth::u16) image.row<std::uint16_t>(i / wide)[i % wide] = static_cast<std::uint16_t>(value);
    if (depth == Depth::f32) image.row<float>(i / wide)[i % wide] = static_cast<float>(value);
  }
  return image;
}

struct Operator {
  const Pixels &in, &guide;
  Depth depth;
  Border border;
  double constant;

  Endless endless() const { return {in, border, constant}; }
  Pixels like_input(const At& at) const { return made(in.rows, in.columns, in.channels, at); }

  // Correlation with arbitrary weights, centred at half the sides.
  Pixels correlated(std::size_t rows, std::size_t columns, const std::function<double(Index, Index)>& weight) const {
    const Endless at = endless();
    const auto top = static_cast<Index>(rows / 2), left = static_cast<Index>(columns / 2);
    return like_input([&](Index r, Index c, std::size_t k) {
      double sum = 0;
      for (Index i = 0; i < static_cast<Index>(rows); ++i) {
        for (Index j = 0; j < static_cast<Index>(columns); ++j) sum += weight(i, j) * at(r + i - top, c + j - left, k);
      }
      return sum;
    });
  }
  Pixels operator()(const Convolve& o) const {
    return correlated(o.rows, o.columns, [&](Index i, Index j) {
      return double{o.kernel[static_cast<std::size_t>(i) * o.columns + static_cast<std::size_t>(j)]};
    });
  }
  Pixels operator()(const Separable& o) const {
    return correlated(o.down.size(), o.across.size(), [&](Index i, Index j) {
      return double{o.down[static_cast<std::size_t>(i)]} * double{o.across[static_cast<std::size_t>(j)]};
    });
  }
  Pixels operator()(const Gauss& o) const {
    std::size_t radius = o.radius;
    if (radius == 0) {  // cv::GaussianBlur: the side is round(6 or 8 sigma + 1), made odd
      const long side = std::lrint(o.sigma * (depth == Depth::u8 ? 3 : 4) * 2 + 1) | 1;
      radius = static_cast<std::size_t>(std::max(1L, side / 2));
    }
    std::vector<double> bell;
    double sum = 0;
    for (Index i = -static_cast<Index>(radius); i <= static_cast<Index>(radius); ++i) {
      bell.push_back(i == 0 ? 1 : std::exp(-static_cast<double>(i * i) / (2 * o.sigma * o.sigma)));
      sum += bell.back();
    }
    return correlated(bell.size(), bell.size(), [&](Index i, Index j) {
      return bell[static_cast<std::size_t>(i)] * bell[static_cast<std::size_t>(j)] / (sum * sum);
    });
  }
  Pixels operator()(const Box& o) const {
    const double each = 1 / static_cast<double>(o.rows * o.columns);
    return correlated(o.rows, o.columns, [&](Index, Index) { return each; });
  }
  Pixels operator()(const Median& o) const {
    const Endless at = endless();
    const auto radius = static_cast<Index>(o.radius);
    return like_input([&](Index r, Index c, std::size_t k) {
      std::vector<double> window;
      for (Index y = r - radius; y <= r + radius; ++y) {
        for (Index x = c - radius; x <= c + radius; ++x) window.push_back(at(y, x, k));
      }
      const auto middle = window.begin() + static_cast<Index>(window.size() / 2);
      std::nth_element(window.begin(), middle, window.end());
      return *middle;
    });
  }
  Pixels bilateral(const Bilateral& o, const Pixels& colours) const {
    const Endless at = endless(), look{colours, border, constant};
    const auto radius = static_cast<Index>(o.radius);
    return like_input([&](Index r, Index c, std::size_t k) {
      double sum = 0, total = 0;
      for (Index y = r - radius; y <= r + radius; ++y) {
        for (Index x = c - radius; x <= c + radius; ++x) {
          const double far = std::hypot(static_cast<double>(y - r), static_cast<double>(x - c));
          if (far > static_cast<double>(radius)) continue;
          double absolute = 0, squares = 0;
          for (std::size_t m = 0; m < colours.channels; ++m) {
            const double off = look(y, x, m) - look(r, c, m);
            absolute += std::abs(off);
            squares += off * off;
          }
          const double colour = o.like == Like::opencv ? absolute : std::sqrt(squares);
          const double weight =
              std::exp(-0.5 * (std::pow(far / o.sigma_space, 2) + std::pow(colour / o.sigma_color, 2)));
          sum += weight * at(y, x, k);
          total += weight;
        }
      }
      return sum / total;
    });
  }
  Pixels operator()(const Bilateral& o) const { return bilateral(o, in); }
  Pixels operator()(const CrossBilateral& o) const {
    return bilateral({o.radius, o.sigma_space, o.sigma_color, o.like}, guide);
  }
  Pixels operator()(const Resize& o) const {
    const auto axis = [&](std::size_t given, std::size_t from) {
      const double scaled = std::max(1.0, std::nearbyint(o.scale * static_cast<double>(from)));
      const std::size_t to = given != 0 ? given : static_cast<std::size_t>(scaled);
      return AxisOfResize{from, to, given != 0 ? static_cast<double>(to) / static_cast<double>(from) : o.scale};
    };
    const AxisOfResize down = axis(o.rows, in.rows), across = axis(o.columns, in.columns);
    if (o.like == Like::opencv && down.to == down.from && across.to == across.from) return in;  // cv::resize copies
    const bool growing = 1 / down.scale < 1 || 1 / across.scale < 1;
    std::vector<AxisWeights> rows, columns;
    for (std::size_t i = 0; i < down.to; ++i) rows.push_back(weights_along(o, down, growing, static_cast<Index>(i)));
    for (std::size_t i = 0; i < across.to; ++i)
      columns.push_back(weights_along(o, across, growing, static_cast<Index>(i)));
    const Endless at{in};
    return made(down.to, across.to, in.channels, [&](Index r, Index c, std::size_t k) {
      const AxisWeights &y = rows[static_cast<std::size_t>(r)], &x = columns[static_cast<std::size_t>(c)];
      double sum = 0;
      for (std::size_t i = 0; i < y.weights.size(); ++i) {
        for (std::size_t j = 0; j < x.weights.size(); ++j)
          sum += y.weights[i] * x.weights[j] * at(y.first + static_cast<Index>(i), x.first + static_cast<Index>(j), k);
      }
      return sum;
    });
  }
  Pixels operator()(const Integral&) const {
    Pixels out = made(in.rows + 1, in.columns + 1, in.channels, [](Index, Index, std::size_t) { return 0.0; });
    for (std::size_t r = 1; r <= in.rows; ++r) {
      for (std::size_t c = 1; c <= in.columns; ++c) {
        for (std::size_t k = 0; k < in.channels; ++k) {
          const double sum =
              out.at(r - 1, c, k) + out.at(r, c - 1, k) - out.at(r - 1, c - 1, k) + in.at(r - 1, c - 1, k);
          out.at(r, c, k) = sum;
        }
      }
    }
    if (depth != Depth::u8) return out;
    for (double& sum : out.values) sum = std::fmod(sum, 4294967296.0);
    return out;
  }
  Pixels operator()(const Pyramid& o) const {
    constexpr double kBinomial[5] = {1, 4, 6, 4, 1};
    Pixels level = in;
    for (std::size_t i = 0; i < o.levels; ++i) {
      if (i > 0 && depth != Depth::f32) {
        for (double& value : level.values) value = std::nearbyint(value);
      }
      const Endless at{level, border, constant};
      level = made((level.rows + 1) / 2, (level.columns + 1) / 2, level.channels, [&](Index r, Index c, std::size_t k) {
        double sum = 0;
        for (Index y = 0; y < 5; ++y) {
          for (Index x = 0; x < 5; ++x) sum += kBinomial[y] * kBinomial[x] * at(2 * r + y - 2, 2 * c + x - 2, k);
        }
        return sum / 256;
      });
    }
    return level;
  }
  Pixels operator()(const Gradient& o) const {
    const double side = o.kind == GradientKind::sobel    ? 1
                        : o.kind == GradientKind::scharr ? 3
                                                         : 0,
                 middle = o.kind == GradientKind::sobel    ? 2
                          : o.kind == GradientKind::scharr ? 10
                                                           : 1;
    const double divisor = o.like == Like::opencv ? 1 : 2 * (2 * side + middle);
    const Endless at = endless();
    return made(in.rows, in.columns, 2, [&](Index r, Index c, std::size_t k) {
      double sum = 0;
      for (Index along = -1; along <= 1; along += 2) {
        for (Index beside = -1; beside <= 1; ++beside) {
          const double weight = static_cast<double>(along) * (beside == 0 ? middle : side);
          sum += weight * (k == 0 ? at(r + beside, c + along, 0) : at(r + along, c + beside, 0));
        }
      }
      return sum / divisor;
    });
  }
  Pixels operator()(const Transpose&) const {
    return made(in.columns, in.rows, in.channels, [&](Index r, Index c, std::size_t k) {
      return in.at(static_cast<std::size_t>(c), static_cast<std::size_t>(r), k);
    });
  }
  Pixels quarter_turn() const {  // counterclockwise
    return made(in.columns, in.rows, in.channels, [&](Index r, Index c, std::size_t k) {
      return in.at(static_cast<std::size_t>(c), in.columns - 1 - static_cast<std::size_t>(r), k);
    });
  }
  Pixels operator()(const Rotate& o) const {
    if (std::fmod(o.degrees, 90) == 0) {
      Pixels now = in;
      for (double turns = std::fmod(std::fmod(o.degrees / 90, 4) + 4, 4); turns > 0; --turns)
        now = Operator{now, guide, depth, border, constant}.quarter_turn();
      return now;
    }
    using Place = std::complex<double>;  // x + i y, y down
    const Place centre(static_cast<double>(in.columns - 1) / 2, static_cast<double>(in.rows - 1) / 2);
    const Place turn = std::polar(1.0, o.degrees * std::numbers::pi / 180), across = turn, down = turn * Place(0, 1),
                origin = centre - turn * centre;
    const auto rounded = [](Place place, double scale) {
      return Place(std::nearbyint(place.real() * scale), std::nearbyint(place.imag() * scale));
    };
    const bool nearest = o.interpolation == Interpolation::nearest;
    const auto source = [&](double r, double c) {
      if (o.like == Like::ridge) return origin + c * across + r * down;
      const Place units = rounded(r * down + origin, 1024) + rounded(c * across, 1024);  // 1/1024 pixel
      if (nearest) return units / 1024.0;
      return Place(std::floor((units.real() + 16) / 32), std::floor((units.imag() + 16) / 32)) / 32.0;
    };
    const Endless at = endless();
    return like_input([&](Index r, Index c, std::size_t k) {
      const Place place = source(static_cast<double>(r), static_cast<double>(c));
      const double x = place.real(), y = place.imag();
      if (nearest) return at(static_cast<Index>(std::floor(y + 0.5)), static_cast<Index>(std::floor(x + 0.5)), k);
      const bool cubic = o.interpolation == Interpolation::bicubic;
      double sum = 0;
      for (Index i = -1; i <= 2; ++i) {
        for (Index j = -1; j <= 2; ++j) {
          const Index row = static_cast<Index>(std::floor(y)) + i, column = static_cast<Index>(std::floor(x)) + j;
          const double dy = y - static_cast<double>(row), dx = x - static_cast<double>(column);
          const double weight = cubic ? keys(dy) * keys(dx) : tent(dy) * tent(dx);
          if (weight != 0) sum += weight * at(row, column, k);
        }
      }
      return sum;
    });
  }
  Pixels operator()(const Gray&) const {
    return made(in.rows, in.columns, 1, [&](Index r, Index c, std::size_t) {
      const auto y = static_cast<std::size_t>(r), x = static_cast<std::size_t>(c);
      return 0.299 * in.at(y, x, 0) + 0.587 * in.at(y, x, 1) + 0.114 * in.at(y, x, 2);
    });
  }
  // Operators without a reference of their own here: the plain loops of their definition.
  template <class Other>
  Pixels operator()(const Other& o) const {
    OperatorProblem problem{.input = {in.rows, in.columns, in.channels, depth}, .chain = {o}};
    problem.border = border;
    problem.constant = constant;
    const Shape out = output_shape(problem);
    return {out.rows, out.columns, out.channels, reference_values(problem, image_of(in, depth))};
  }
};

Border border_seen_by(const OperatorProblem& problem, const Operation& operation) {
  if (problem.border) return *problem.border;
  if (std::holds_alternative<Rotate>(operation)) return Border::constant;
  return std::holds_alternative<Median>(operation) ? Border::replicate : Border::reflect_101;
}

}  // namespace

Pixels pixels_of(const Image& image) {
  Pixels out{image.rows(), image.columns(), image.channels(), {}};
  for (std::size_t r = 0; r < image.rows(); ++r) {
    const auto add = [&]<class T>(const T* row) {
      for (std::size_t i = 0; i < image.columns() * image.channels(); ++i)
        out.values.push_back(static_cast<double>(row[i]));
    };
    if (image.depth() == Depth::u8) add(image.row<std::uint8_t>(r));
    if (image.depth() == Depth::u16) add(image.row<std::uint16_t>(r));
    if (image.depth() == Depth::f32) add(image.row<float>(r));
    if (image.depth() == Depth::u32) add(image.row<std::uint32_t>(r));
    if (image.depth() == Depth::f64) add(image.row<double>(r));
  }
  return out;
}

Pixels apply(const OperatorProblem& problem, const Pixels& in, const Pixels& guide) {
  Pixels now = in;
  Depth depth = problem.input.depth;
  for (std::size_t i = 0; i < problem.chain.size(); ++i) {
    const Operation& operation = problem.chain[i];
    now = std::visit(Operator{now, guide, depth, border_seen_by(problem, operation), problem.constant}, operation);
    if (std::holds_alternative<Gradient>(operation)) depth = Depth::f32;
    if (i + 1 == problem.chain.size() || depth == Depth::f32) continue;
    for (double& value : now.values)
      value = std::min(std::max(std::nearbyint(value), 0.0), depth == Depth::u8 ? 255.0 : 65535.0);
  }
  return now;
}

double variance(const VarianceProblem& problem, const Pixels& in, std::size_t row, std::size_t column) {
  const Endless at{in, problem.border, problem.constant};
  const Index top = static_cast<Index>(row) - static_cast<Index>(problem.window_rows / 2),
              left = static_cast<Index>(column) - static_cast<Index>(problem.window_columns / 2);
  std::vector<double> window;
  for (Index i = 0; i < static_cast<Index>(problem.window_rows); ++i) {
    for (Index j = 0; j < static_cast<Index>(problem.window_columns); ++j) window.push_back(at(top + i, left + j, 0));
  }
  const double count = static_cast<double>(window.size());
  double mean = 0, squares = 0;
  for (const double value : window) mean += value / count;
  for (const double value : window) squares += (value - mean) * (value - mean) / count;
  return squares;
}

}  // namespace ridge::check::plain
