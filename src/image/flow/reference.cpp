// SimpleFlow, plain and sequential.
#include "image/flow/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "image/flow/weights.hpp"

namespace ridge::image::flow {
namespace {

int reflected(int i, int n) { return static_cast<int>(border_index(Border::reflect_101, i, n)); }

// exp(-d^2 / 2 sigma^2), tabulated for every colour difference and every cell of a window.
struct TableWeights {
  std::array<double, 256> color{};
  std::vector<float> space;
  int radius;

  TableWeights(int radius_, double sigma_dist, double sigma_color) : radius(radius_) {
    for (int d = 0; d < 256; ++d)
      color[static_cast<std::size_t>(d)] = std::exp(-d * d / (2.0 * sigma_color * sigma_color));
    for (int r = -radius; r <= radius; ++r) {
      for (int c = -radius; c <= radius; ++c) {
        space.push_back(static_cast<float>(std::exp(-(r * r + c * c) / (2.0 * sigma_dist * sigma_dist))));
      }
    }
  }
  double color_weight(Pixel a, Pixel b) const {
    double product = 1;
    for (int k = 0; k < 3; ++k) product *= color[static_cast<std::size_t>(std::abs(a.c[k] - b.c[k]))];
    return product;
  }
  float space_weight(int dy, int dx) const {
    return space[static_cast<std::size_t>((dy + radius) * (2 * radius + 1) + dx + radius)];
  }
};

// A block of cells, and the pixels of the finer level that it covers.
struct Block {
  int top, bottom, left, right;
};
void fill(Mask& plane, const Block& block, int value) {
  for (int r = block.top; r <= block.bottom; ++r) {
    for (int c = block.left; c <= block.right; ++c) plane.at(r, c) = static_cast<std::uint8_t>(value);
  }
}
void mark_corners(Mask& plane, const Block& block) {
  for (const int r : {block.top, block.bottom}) {
    for (const int c : {block.left, block.right}) plane.at(r, c) = 1;
  }
}

Points select_in_scan_order(const Mask& is_regular, const Mask& level, Size fine) {
  Points points{Mask(fine), Mask(fine)};
  const Size coarse = is_regular.size;
  Mask done(coarse);
  for (int r = 0; r < coarse.rows; ++r) {
    for (int c = 0; c < coarse.columns; ++c) {
      if (done.at(r, c) != 0) continue;
      const bool inside = 2 * r + 1 < fine.rows && 2 * c + 1 < fine.columns;
      const int step = is_regular.at(r, c) != 0 && inside ? (1 << level.at(r, c)) - 1 : 0;
      bool all = is_regular.at(r, c) != 0 && inside;
      for (int y = r; y <= std::min(r + step, coarse.rows - 1); ++y) {
        for (int x = c; x <= std::min(c + step, coarse.columns - 1); ++x) {
          done.at(y, x) = 1;
          all = all && is_regular.at(y, x) != 0;
        }
      }
      const Block block{2 * r, std::min(2 * (r + step) + 1, fine.rows - 1), 2 * c,
                        std::min(2 * (c + step) + 1, fine.columns - 1)};
      if (all) {
        mark_corners(points.mask, block);
        fill(points.level, block, level.at(r, c) + 1);
      } else {
        fill(points.mask, block, 1);
      }
    }
  }
  return points;
}

Points select_aligned(const Mask& is_regular, const Mask& level, Size fine) {
  Points points{Mask(fine), Mask(fine)};
  const Size coarse = is_regular.size;
  for (int r = 0; r < coarse.rows; ++r) {
    for (int c = 0; c < coarse.columns; ++c) {
      const int own = level.at(r, c), side = 1 << own, top = r & ~(side - 1), left = c & ~(side - 1);
      bool all = true;
      for (int y = top; y < std::min(top + side, coarse.rows); ++y) {
        for (int x = left; x < std::min(left + side, coarse.columns); ++x) {
          all = all && is_regular.at(y, x) != 0 && level.at(y, x) == own;
        }
      }
      const Block block{2 * top, std::min(2 * (top + side), fine.rows) - 1, 2 * left,
                        std::min(2 * (left + side), fine.columns) - 1};
      all = all && block.top != block.bottom && block.left != block.right;
      for (int y = 2 * r; y < std::min(2 * r + 2, fine.rows); ++y) {
        for (int x = 2 * c; x < std::min(2 * c + 2, fine.columns); ++x) {
          const bool corner = (y == block.top || y == block.bottom) && (x == block.left || x == block.right);
          points.level.at(y, x) = static_cast<std::uint8_t>(all ? own + 1 : 0);
          points.mask.at(y, x) = !all || corner ? 1 : 0;
        }
      }
    }
  }
  return points;
}

}  // namespace

std::vector<Tap> halving_taps(int from) {
  const int to = (from + 1) / 2;
  const double scale = static_cast<double>(from) / to;
  std::vector<Tap> taps(static_cast<std::size_t>(to));
  for (int i = 0; i < to; ++i) {
    const float at = static_cast<float>((i + 0.5) * scale - 0.5), whole = std::floor(at), x = at - whole, a = -0.75f;
    const auto inner = [&](float t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
    const float far = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a, near = inner(x), next = inner(1 - x);
    Tap& tap = taps[static_cast<std::size_t>(i)];
    tap.from = static_cast<int>(whole) - 1;
    int k = 0;
    for (const float w : {far, near, next, 1.0f - far - near - next}) {
      tap.weight[k++] = static_cast<int>(std::lrint(w * 2048));
    }
  }
  return taps;
}

Picture halve(const Picture& in) {
  const Size size = half(in.size);
  const std::vector<Tap> across = halving_taps(in.size.columns), down = halving_taps(in.size.rows);
  Picture out(size);
  for (int r = 0; r < size.rows; ++r) {
    for (int c = 0; c < size.columns; ++c) {
      const Tap &y = down[static_cast<std::size_t>(r)], &x = across[static_cast<std::size_t>(c)];
      for (int k = 0; k < 3; ++k) {
        std::int64_t sum = 0;
        for (int i = 0; i < 4; ++i) {
          const int row = std::clamp(y.from + i, 0, in.size.rows - 1);
          for (int j = 0; j < 4; ++j) {
            sum += std::int64_t{y.weight[i] * x.weight[j]} *
                   in.at(row, std::clamp(x.from + j, 0, in.size.columns - 1)).c[k];
          }
        }
        sum += (1 << 21) - 1 + (sum >> 22 & 1);
        out.at(r, c).c[k] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> 22, 0, 255));
      }
    }
  }
  return out;
}

int start_of(float flow, int at, int size) {
  return std::clamp(at + static_cast<int>(std::lrint(flow)), 0, size - 1) - at;
}

void search(const Picture& from, const Picture& to, const Mask& mask, Field& flow, const FlowParameters& p,
            WeightKind kind) {
  const int radius = p.averaging_radius, side = 2 * radius + 1;
  const TableWeights table(radius, p.sigma_dist, p.sigma_color);
  const SearchWeights polynomial(p.sigma_dist, p.sigma_color);
  const Size size = flow.size;
  const auto pixel = [&](const Picture& picture, int r, int c) {
    return picture.at(reflected(r, size.rows), reflected(c, size.columns));
  };
  std::vector<float> weights(static_cast<std::size_t>(side * side));
  for (int r = 0; r < size.rows; ++r) {
    for (int c = 0; c < size.columns; ++c) {
      if (mask.at(r, c) == 0) continue;
      auto weight = weights.begin();
      for (int i = -radius; i <= radius; ++i) {
        for (int j = -radius; j <= radius; ++j) {
          const Pixel a = from.at(r, c), b = pixel(from, r + i, c + j);
          *weight++ = kind == WeightKind::table
                          ? static_cast<float>(table.space_weight(i, j) * table.color_weight(a, b))
                          : polynomial.at(squared_distance(a, b), i, j);
        }
      }
      const int y0 = r + start_of(flow.at(r, c).u, r, size.rows), x0 = c + start_of(flow.at(r, c).v, c, size.columns);
      float least = std::numeric_limits<float>::max();
      Vector best{static_cast<float>(y0 - r), static_cast<float>(x0 - c)};
      for (int y = std::max(0, y0 - p.max_flow); y <= std::min(size.rows - 1, y0 + p.max_flow); ++y) {
        for (int x = std::max(0, x0 - p.max_flow); x <= std::min(size.columns - 1, x0 + p.max_flow); ++x) {
          float cost = 0;
          weight = weights.begin();
          for (int i = -radius; i <= radius; ++i) {
            for (int j = -radius; j <= radius; ++j) {
              const int squares = squared_distance(pixel(from, r + i, c + j), pixel(to, y + i, x + j));
              cost = std::fma(*weight++, static_cast<float>(squares), cost);
            }
          }
          // The first of equal costs wins, except that the start wins over equals: flat areas keep their flow.
          if (cost < least || (cost == least && y == y0 && x == x0)) {
            least = cost;
            best = {static_cast<float>(y - r), static_cast<float>(x - c)};
          }
        }
      }
      flow.at(r, c) = best;
    }
  }
}

Mask visible(const Field& flow, const Field& inverse, float threshold) {
  Mask seen(flow.size);
  for (std::size_t i = 0; i < flow.cells.size(); ++i) {
    const Vector back = inverse.cells[i];
    seen.cells[i] = squared_distance(flow.cells[i], {-back.u, -back.v}) > threshold ? 0 : 1;
  }
  return seen;
}

Field smooth(const Picture& guide, const Mask& seen, const Field& flow, const Filter& filter) {
  const TableWeights weights(filter.radius, filter.sigma_dist, filter.sigma_color);
  const int radius = filter.radius;
  Field out(flow.size);
  for (int r = 0; r < flow.size.rows; ++r) {
    for (int c = 0; c < flow.size.columns; ++c) {
      double u = 0, v = 0, sum = 0;
      for (int y = std::max(0, r - radius); y <= std::min(flow.size.rows - 1, r + radius); ++y) {
        for (int x = std::max(0, c - radius); x <= std::min(flow.size.columns - 1, c + radius); ++x) {
          if (seen.at(y, x) == 0) continue;
          const double w =
              double{weights.space_weight(y - r, x - c)} * weights.color_weight(guide.at(r, c), guide.at(y, x));
          u += w * flow.at(y, x).u;
          v += w * flow.at(y, x).v;
          sum += w;
        }
      }
      out.at(r, c) = sum < 1e-9 ? flow.at(r, c) : Vector{static_cast<float>(u / sum), static_cast<float>(v / sum)};
    }
  }
  return out;
}

Field doubled(const Field& flow, Size size) {
  Field out(size);
  for (int r = 0; r < size.rows; ++r) {
    for (int c = 0; c < size.columns; ++c) {
      const Vector coarse = flow.at(r / 2, c / 2);
      out.at(r, c) = {2 * coarse.u, 2 * coarse.v};
    }
  }
  return out;
}

Mask regular(const Field& flow, int radius, float threshold) {
  Mask out(flow.size);
  for (int r = 0; r < flow.size.rows; ++r) {
    for (int c = 0; c < flow.size.columns; ++c) {
      float most = 0;
      for (int y = std::max(0, r - radius); y <= std::min(flow.size.rows - 1, r + radius); ++y) {
        for (int x = std::max(0, c - radius); x <= std::min(flow.size.columns - 1, c + radius); ++x) {
          most = std::max(most, squared_distance(flow.at(r, c), flow.at(y, x)));
        }
      }
      out.at(r, c) = most < threshold ? 1 : 0;
    }
  }
  return out;
}

Points select(const Mask& is_regular, const Mask& level, Size fine, Selection order) {
  return order == Selection::aligned ? select_aligned(is_regular, level, fine)
                                     : select_in_scan_order(is_regular, level, fine);
}

void fill_blocks(Field& flow, const Mask& level) {
  Mask done(flow.size);
  for (int r = 0; r < flow.size.rows; ++r) {
    for (int c = 0; c < flow.size.columns; ++c) {
      if (done.at(r, c) != 0 || level.at(r, c) < 2) continue;
      const int step = (1 << level.at(r, c)) - 1;
      const int bottom = std::min(r + step, flow.size.rows - 1), right = std::min(c + step, flow.size.columns - 1);
      const int height = bottom - r, width = right - c;
      // In scan order blocks may overlap: later blocks start from values that earlier ones filled.
      const Vector a = flow.at(r, c), b = flow.at(r, right), d = flow.at(bottom, c), e = flow.at(bottom, right);
      for (int y = 0; y <= height; ++y) {
        for (int x = 0; x <= width; ++x) {
          done.at(r + y, c + x) = 1;
          if ((y == 0 || y == height) && (x == 0 || x == width)) continue;
          const float q = height == 0 ? 0.0f : static_cast<float>(y) / static_cast<float>(height), p = 1 - q;
          const float s = width == 0 ? 0.0f : static_cast<float>(x) / static_cast<float>(width), t = 1 - s;
          const auto mix = [&](float at_a, float at_b, float at_d, float at_e) {
            return at_a * p * t + at_b * p * s + at_d * q * t + at_e * s * q;
          };
          flow.at(r + y, c + x) = {mix(a.u, b.u, d.u, e.u), mix(a.v, b.v, d.v, e.v)};
        }
      }
    }
  }
}

Field gauss3(const Field& in) {
  const double side = std::exp(-1 / 50.0);
  const float beside = static_cast<float>(side / (1 + 2 * side)), own = static_cast<float>(1 / (1 + 2 * side));
  const auto mix = [&](Vector before, Vector at, Vector after) {
    return Vector{own * at.u + beside * (before.u + after.u), own * at.v + beside * (before.v + after.v)};
  };
  Field across(in.size), out(in.size);
  for (int r = 0; r < in.size.rows; ++r) {
    for (int c = 0; c < in.size.columns; ++c) {
      across.at(r, c) =
          mix(in.at(r, reflected(c - 1, in.size.columns)), in.at(r, c), in.at(r, reflected(c + 1, in.size.columns)));
    }
  }
  for (int r = 0; r < in.size.rows; ++r) {
    for (int c = 0; c < in.size.columns; ++c) {
      out.at(r, c) = mix(across.at(reflected(r - 1, in.size.rows), c), across.at(r, c),
                         across.at(reflected(r + 1, in.size.rows), c));
    }
  }
  return out;
}

Field simple_flow(const Picture& first, const Picture& second, const FlowParameters& p, WeightKind kind,
                  Disturbance disturbance) {
  const auto disturbed = [&](Field flow) {
    if (disturbance.vectors == 0) return flow;
    for (Vector& cell : flow.cells) {
      for (float* part : {&cell.u, &cell.v}) {
        disturbance.seed = disturbance.seed * 6364136223846793005U + 1442695040888963407U;
        *part += disturbance.vectors * (static_cast<float>(disturbance.seed >> 40) * 0x1p-23f - 1);
      }
    }
    return flow;
  };
  std::vector<Picture> from{first}, to{second};
  for (int k = 1; k < p.layers; ++k) {
    from.push_back(halve(from.back()));
    to.push_back(halve(to.back()));
  }
  const Filter between{p.upscale_averaging_radius, p.upscale_sigma_dist, p.upscale_sigma_color};
  struct Direction {
    const std::vector<Picture>*from, *to;
    Field flow;
    Points points;
  };
  const Size coarsest = from.back().size;
  const Points everything{Mask(coarsest, 1), Mask(coarsest)};
  Direction ways[2] = {{&from, &to, Field(coarsest), everything}, {&to, &from, Field(coarsest), everything}};
  for (int k = p.layers - 1; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    if (k < p.layers - 1) {
      const Mask seen = visible(ways[0].flow, ways[1].flow, p.occlusion_threshold);
      for (Direction& way : ways) {
        way.points = select(regular(way.flow, p.averaging_radius, p.speed_up_threshold), way.points.level,
                            from[at].size, p.selection);
        way.flow = doubled(disturbed(smooth((*way.from)[at + 1], seen, way.flow, between)), from[at].size);
      }
    }
    for (Direction& way : ways) {
      search((*way.from)[at], (*way.to)[at], way.points.mask, way.flow, p, kind);
      fill_blocks(way.flow, way.points.level);
    }
  }
  const Mask seen = visible(ways[0].flow, ways[1].flow, p.occlusion_threshold);
  return gauss3(smooth(first, seen, ways[0].flow, {p.postprocess_window, p.sigma_dist_fix, p.sigma_color_fix}));
}

}  // namespace ridge::image::flow
