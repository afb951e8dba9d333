// Reference of SimpleFlow, step by step as docs/flow.md and design/flow.md describe it, with exact exponentials and
// sums in double.
#include <algorithm>
#include <array>
#include <cmath>

#include "check/image/reference.hpp"
#include "check/random.hpp"

namespace ridge::check::plain {
namespace {

template <class T>
struct Grid {
  int rows = 0, columns = 0;
  std::vector<T> cells = {};
  Grid() = default;
  Grid(int rows_, int columns_, T value = {})
      : rows(rows_),
        columns(columns_),
        cells(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_), value) {}
  T& operator()(int r, int c) {
    return cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)];
  }
  const T& operator()(int r, int c) const {
    return cells[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)];
  }
};
using Colour = std::array<int, 3>;
struct Motion {
  double down = 0, right = 0;
};
using Frame = Grid<Colour>;
using Motions = Grid<Motion>;
using Flags = Grid<int>;

double apart(const Colour& a, const Colour& b) {  // squared
  double sum = 0;
  for (std::size_t k = 0; k < 3; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}
double apart(const Motion& a, const Motion& b) {  // squared
  return (a.down - b.down) * (a.down - b.down) + (a.right - b.right) * (a.right - b.right);
}
double bell(double squared, double sigma) { return std::exp(-squared / (2 * sigma * sigma)); }

int mirrored(int i, int n) {  // reflection that does not repeat the edge
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
  return i;
}

// Calls f(y, x) for the cells inside the image within `radius` of (r, c).
template <class F>
void around(int r, int c, int rows, int columns, int radius, const F& f) {
  for (int y = std::max(0, r - radius); y <= std::min(rows - 1, r + radius); ++y) {
    for (int x = std::max(0, c - radius); x <= std::min(columns - 1, c + radius); ++x) f(y, x);
  }
}

Frame frame_of(const Pixels& pixels) {
  Frame frame(static_cast<int>(pixels.rows), static_cast<int>(pixels.columns));
  for (int r = 0; r < frame.rows; ++r) {
    for (int c = 0; c < frame.columns; ++c) {
      for (std::size_t k = 0; k < 3; ++k)
        frame(r, c)[k] = static_cast<int>(
            pixels.at(static_cast<std::size_t>(r), static_cast<std::size_t>(c), pixels.channels < 3 ? 0 : k));
    }
  }
  return frame;
}

// Weights of Keys' cubic (A = -0.75) at four neighbours in units of 1/2048, as in cv::resize for 8-bit images.
std::array<int, 4> cubic_of_bytes(float x) {
  const float a = -0.75f;
  const auto inner = [&](float t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  const float before = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a, own = inner(x), next = inner(1 - x);
  const auto whole = [](float weight) { return static_cast<int>(std::lrint(weight * 2048)); };
  return {whole(before), whole(own), whole(next), whole(1.0f - before - own - next)};
}

// Downscales by two (sizes rounded up) with the cubic; edge pixels repeat.
Frame half_size(const Frame& in) {
  Frame out((in.rows + 1) / 2, (in.columns + 1) / 2);
  const auto place = [](int i, int from, int to) {
    return static_cast<float>((i + 0.5) * (static_cast<double>(from) / to) - 0.5);
  };
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.columns; ++c) {
      const float y = place(r, in.rows, out.rows), x = place(c, in.columns, out.columns);
      const auto down = cubic_of_bytes(y - std::floor(y)), across = cubic_of_bytes(x - std::floor(x));
      for (std::size_t k = 0; k < 3; ++k) {
        double sum = 0;  // exact: integers below 2^53
        for (int i = 0; i < 4; ++i) {
          for (int j = 0; j < 4; ++j) {
            const int row = std::clamp(static_cast<int>(std::floor(y)) - 1 + i, 0, in.rows - 1),
                      column = std::clamp(static_cast<int>(std::floor(x)) - 1 + j, 0, in.columns - 1);
            sum += static_cast<double>(down[static_cast<std::size_t>(i)] * across[static_cast<std::size_t>(j)] *
                                       in(row, column)[k]);
          }
        }
        out(r, c)[k] = static_cast<int>(std::clamp(std::nearbyint(sum / (2048.0 * 2048.0)), 0.0, 255.0));
      }
    }
  }
  return out;
}

// The best position for a pixel's window within max_flow of its initial motion. Among equals the start wins, then the
// first.
Motion searched(const Frame& from, const Frame& to, int r, int c, const Motion& before,
                const image::FlowParameters& p) {
  const int radius = p.averaging_radius;
  const auto seen = [](const Frame& frame, int y, int x) {
    return frame(mirrored(y, frame.rows), mirrored(x, frame.columns));
  };
  const auto start = [](double moved, int at, int size) {
    return std::clamp(at + static_cast<int>(std::lrint(moved)), 0, size - 1);
  };
  const int y0 = start(before.down, r, from.rows), x0 = start(before.right, c, from.columns);
  struct Cell {
    int y, x;
    Colour colour;
    double weight;
  };
  std::vector<Cell> window;
  for (int i = -radius; i <= radius; ++i) {
    for (int j = -radius; j <= radius; ++j) {
      const Colour there = seen(from, r + i, c + j);
      const double near = bell(i * i + j * j, double{p.sigma_dist});
      window.push_back({i, j, there, near * bell(apart(from(r, c), there), double{p.sigma_color})});
    }
  }
  const auto cost_at = [&](int y, int x) {
    double cost = 0;
    for (const Cell& cell : window) cost += cell.weight * apart(cell.colour, seen(to, y + cell.y, x + cell.x));
    return cost;
  };
  double least = cost_at(y0, x0);
  int best_y = y0, best_x = x0;
  around(y0, x0, from.rows, from.columns, p.max_flow, [&](int y, int x) {
    const double cost = cost_at(y, x);
    if (cost >= least * (1 - 1e-12)) return;
    least = cost;
    best_y = y, best_x = x;
  });
  return {static_cast<double>(best_y - r), static_cast<double>(best_x - c)};
}

// 1 where forward and backward motion cancel within the threshold.
Flags visible_in_both(const Motions& there, const Motions& back, double threshold) {
  Flags out(there.rows, there.columns);
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.columns; ++c)
      out(r, c) = apart(there(r, c), {-back(r, c).down, -back(r, c).right}) > threshold ? 0 : 1;
  }
  return out;
}

// Weighted means over visible neighbours of similar colour; a motion without such neighbours is kept.
Motions smoothed(const Frame& guide, const Flags& visible, const Motions& in, int radius, double near, double alike) {
  Motions out = in;
  for (int r = 0; r < in.rows; ++r) {
    for (int c = 0; c < in.columns; ++c) {
      Motion sum;
      double total = 0;
      around(r, c, in.rows, in.columns, radius, [&](int y, int x) {
        if (visible(y, x) == 0) return;
        const double weight =
            bell((y - r) * (y - r) + (x - c) * (x - c), near) * bell(apart(guide(r, c), guide(y, x)), alike);
        sum.down += weight * in(y, x).down;
        sum.right += weight * in(y, x).right;
        total += weight;
      });
      if (total >= 1e-9) out(r, c) = {sum.down / total, sum.right / total};
    }
  }
  return out;
}

// Pixels of the finer layer to be searched, and the log2 of the side of the block that interpolates the others.
struct Selected {
  Flags searched, level;
};
Selected selected(const Motions& coarse, const Flags& level, int rows, int columns, const image::FlowParameters& p) {
  Flags regular(coarse.rows, coarse.columns);
  for (int r = 0; r < coarse.rows; ++r) {
    for (int c = 0; c < coarse.columns; ++c) {
      double most = 0;
      around(r, c, coarse.rows, coarse.columns, p.averaging_radius,
             [&](int y, int x) { most = std::max(most, apart(coarse(r, c), coarse(y, x))); });
      regular(r, c) = most < double{p.speed_up_threshold} ? 1 : 0;
    }
  }
  Selected out{Flags(rows, columns), Flags(rows, columns)};
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      // The aligned block of the coarser layer that holds this pixel's parent becomes a block of twice the side.
      const int own = level(r / 2, c / 2), side = 1 << own, top = r / 2 / side * side, left = c / 2 / side * side;
      bool whole = true;
      for (int y = top; y < std::min(top + side, coarse.rows); ++y) {
        for (int x = left; x < std::min(left + side, coarse.columns); ++x)
          whole = whole && regular(y, x) == 1 && level(y, x) == own;
      }
      const int bottom = std::min(2 * (top + side), rows) - 1, right = std::min(2 * (left + side), columns) - 1;
      whole = whole && 2 * top < bottom && 2 * left < right;
      const bool corner = (r == 2 * top || r == bottom) && (c == 2 * left || c == right);
      out.searched(r, c) = !whole || corner ? 1 : 0;
      out.level(r, c) = whole ? own + 1 : 0;
    }
  }
  return out;
}

// Interpolates bilinearly between the corners of every block with a side of four pixels or more.
void filled(Motions& motions, const Flags& level) {
  const Motions corners = motions;
  for (int r = 0; r < motions.rows; ++r) {
    for (int c = 0; c < motions.columns; ++c) {
      if (level(r, c) < 2) continue;
      const int side = 1 << level(r, c), top = r / side * side, left = c / side * side;
      const int bottom = std::min(top + side, motions.rows) - 1, right = std::min(left + side, motions.columns) - 1;
      const double y = bottom == top ? 0 : static_cast<double>(r - top) / (bottom - top),
                   x = right == left ? 0 : static_cast<double>(c - left) / (right - left);
      const auto mixed = [&](double Motion::*part) {
        return (1 - y) * ((1 - x) * (corners(top, left).*part) + x * (corners(top, right).*part)) +
               y * ((1 - x) * (corners(bottom, left).*part) + x * (corners(bottom, right).*part));
      };
      motions(r, c) = {mixed(&Motion::down), mixed(&Motion::right)};
    }
  }
}

// Gaussian blur of 3x3 pixels, sigma 5.
Motions slightly_blurred(const Motions& in) {
  Motions out(in.rows, in.columns);
  for (int r = 0; r < in.rows; ++r) {
    for (int c = 0; c < in.columns; ++c) {
      double total = 0;
      for (int i = -1; i <= 1; ++i) {
        for (int j = -1; j <= 1; ++j) {
          const double weight = bell(i * i + j * j, 5);
          const Motion& there = in(mirrored(r + i, in.rows), mirrored(c + j, in.columns));
          out(r, c).down += weight * there.down;
          out(r, c).right += weight * there.right;
          total += weight;
        }
      }
      out(r, c) = {out(r, c).down / total, out(r, c).right / total};
    }
  }
  return out;
}

}  // namespace

Pixels flow(const image::FlowProblem& problem, const Pixels& first, const Pixels& second, double disturbance,
            std::uint64_t seed) {
  const image::FlowParameters& p = problem.parameters;
  Random noise(seed);
  std::vector<std::array<Frame, 2>> layers{{frame_of(first), frame_of(second)}};
  while (static_cast<int>(layers.size()) < p.layers)
    layers.push_back({half_size(layers.back()[0]), half_size(layers.back()[1])});
  std::array<Motions, 2> ways;  // forward and backward
  std::array<Flags, 2> levels;
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    const std::array<Frame, 2>& frames = layers[layer];
    const int rows = frames[0].rows, columns = frames[0].columns;
    const bool coarsest = layer + 1 == layers.size();
    const Flags visible = coarsest ? Flags() : visible_in_both(ways[0], ways[1], double{p.occlusion_threshold});
    for (std::size_t way = 0; way < 2; ++way) {
      Motions motions(rows, columns);
      Selected points{Flags(rows, columns, 1), Flags(rows, columns)};
      if (!coarsest) {
        points = selected(ways[way], levels[way], rows, columns, p);
        Motions smooth = smoothed(layers[layer + 1][way], visible, ways[way], p.upscale_averaging_radius,
                                  double{p.upscale_sigma_dist}, double{p.upscale_sigma_color});
        for (Motion& motion : smooth.cells) {
          motion.down += disturbance * (2 * noise.uniform() - 1);
          motion.right += disturbance * (2 * noise.uniform() - 1);
        }
        for (int r = 0; r < rows; ++r) {
          for (int c = 0; c < columns; ++c)
            motions(r, c) = {2 * smooth(r / 2, c / 2).down, 2 * smooth(r / 2, c / 2).right};
        }
      }
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
          if (points.searched(r, c) == 1)
            motions(r, c) = searched(frames[way], frames[1 - way], r, c, motions(r, c), p);
        }
      }
      filled(motions, points.level);
      ways[way] = std::move(motions);
      levels[way] = std::move(points.level);
    }
  }
  const Motions result =
      slightly_blurred(smoothed(layers[0][0], visible_in_both(ways[0], ways[1], double{p.occlusion_threshold}), ways[0],
                                p.postprocess_window, double{p.sigma_dist_fix}, double{p.sigma_color_fix}));
  Pixels out{first.rows, first.columns, 2, {}};
  for (const Motion& motion : result.cells) {
    out.values.push_back(motion.right);
    out.values.push_back(motion.down);
  }
  return out;
}

}  // namespace ridge::check::plain
