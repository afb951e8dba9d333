// SimpleFlow, stage by stage, as sequential loops over arrays.
#include "simple_flow.hpp"

#include <algorithm>
#include <cmath>

namespace sequential {
namespace {

int reflected(int i, int n) {
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

// Four integer weights in units of 1/2048, and the first input pixel, per output pixel.
void cubic_taps(int from, int to, int* first, int* weights) {
  const double scale = double(from) / to;
  for (int i = 0; i < to; ++i) {
    const float at = float((i + 0.5) * scale - 0.5), whole = std::floor(at), x = at - whole, a = -0.75f;
    const float w0 = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
    const float w1 = ((a + 2) * x - (a + 3)) * x * x + 1;
    const float w2 = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
    first[i] = int(whole) - 1;
    weights[4 * i] = int(std::lrint(w0 * 2048));
    weights[4 * i + 1] = int(std::lrint(w1 * 2048));
    weights[4 * i + 2] = int(std::lrint(w2 * 2048));
    weights[4 * i + 3] = int(std::lrint((1.0f - w0 - w1 - w2) * 2048));
  }
}

}  // namespace

void halve(const float* in, int rows, int columns, float* out) {
  const int half_rows = (rows + 1) / 2, half_columns = (columns + 1) / 2;
  std::vector<int> top(half_rows), down(4 * half_rows), left(half_columns), across(4 * half_columns);
  cubic_taps(rows, half_rows, top.data(), down.data());
  cubic_taps(columns, half_columns, left.data(), across.data());
  for (int r = 0; r < half_rows; ++r)
    for (int c = 0; c < half_columns; ++c)
      for (int k = 0; k < 3; ++k) {
        double sum = 0;
        for (int i = 0; i < 4; ++i) {
          const int y = std::min(std::max(top[r] + i, 0), rows - 1);
          for (int j = 0; j < 4; ++j) {
            const int x = std::min(std::max(left[c] + j, 0), columns - 1);
            sum += double(down[4 * r + i] * across[4 * c + j]) * in[(y * columns + x) * 3 + k];
          }
        }
        const double value = std::nearbyint(sum / 4194304.0);  // rounds half to even
        out[(r * half_columns + c) * 3 + k] = float(std::min(std::max(value, 0.0), 255.0));
      }
}

void pad_colors(const float* in, int rows, int columns, int by, float* out) {
  const int wide = columns + 2 * by;
  for (int r = 0; r < rows + 2 * by; ++r)
    for (int c = 0; c < wide; ++c) {
      const int y = reflected(r - by, rows), x = reflected(c - by, columns);
      for (int k = 0; k < 3; ++k) out[(r * wide + c) * 3 + k] = in[(y * columns + x) * 3 + k];
    }
}

void search(const float* from, const float* to, const int* mask, int rows, int columns, int radius, int reach,
            float sigma_dist, float sigma_color, float* u, float* v) {
  const int wide = columns + 2 * radius, side = 2 * radius + 1;
  const double space = 2.0 * sigma_dist * sigma_dist, color = 2.0 * sigma_color * sigma_color;
  std::vector<float> weight(side * side);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      if (mask[r * columns + c] == 0) continue;
      const float* own = from + ((r + radius) * wide + c + radius) * 3;
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
          const float* other = from + ((r + i) * wide + c + j) * 3;
          const float d0 = own[0] - other[0], d1 = own[1] - other[1], d2 = own[2] - other[2];
          const int dr = i - radius, dc = j - radius;
          weight[i * side + j] =
              float(std::exp(-(dr * dr + dc * dc) / space) * std::exp(-(d0 * d0 + d1 * d1 + d2 * d2) / color));
        }
      const int y0 = std::min(std::max(r + int(std::lrint(u[r * columns + c])), 0), rows - 1);
      const int x0 = std::min(std::max(c + int(std::lrint(v[r * columns + c])), 0), columns - 1);
      float least = 3.4e38f;
      int best_y = y0, best_x = x0;
      for (int y = std::max(0, y0 - reach); y <= std::min(rows - 1, y0 + reach); ++y)
        for (int x = std::max(0, x0 - reach); x <= std::min(columns - 1, x0 + reach); ++x) {
          float cost = 0;
          for (int i = 0; i < side; ++i)
            for (int j = 0; j < side; ++j) {
              const float* a = from + ((r + i) * wide + c + j) * 3;
              const float* b = to + ((y + i) * wide + x + j) * 3;
              const float d0 = a[0] - b[0], d1 = a[1] - b[1], d2 = a[2] - b[2];
              cost += weight[i * side + j] * (d0 * d0 + d1 * d1 + d2 * d2);
            }
          if (cost < least) {
            least = cost;
            best_y = y;
            best_x = x;
          }
        }
      u[r * columns + c] = float(best_y - r);
      v[r * columns + c] = float(best_x - c);
    }
}

void occlusions(const float* u, const float* v, const float* back_u, const float* back_v, int cells, float threshold,
                float* seen) {
  for (int i = 0; i < cells; ++i) {
    const float du = u[i] + back_u[i], dv = v[i] + back_v[i];
    seen[i] = du * du + dv * dv > threshold ? 0.0f : 1.0f;
  }
}

void cross_bilateral(const float* guide, const float* seen, const float* in, int rows, int columns, int radius,
                     float sigma_dist, float sigma_color, float* out) {
  const double space = 2.0 * sigma_dist * sigma_dist, color = 2.0 * sigma_color * sigma_color;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const float* own = guide + (r * columns + c) * 3;
      double sum = 0, total = 0;
      for (int y = std::max(0, r - radius); y <= std::min(rows - 1, r + radius); ++y)
        for (int x = std::max(0, c - radius); x <= std::min(columns - 1, c + radius); ++x) {
          const float* other = guide + (y * columns + x) * 3;
          const float d0 = own[0] - other[0], d1 = own[1] - other[1], d2 = own[2] - other[2];
          const int dr = y - r, dc = x - c;
          const double weight =
              seen[y * columns + x] * std::exp(-(dr * dr + dc * dc) / space - (d0 * d0 + d1 * d1 + d2 * d2) / color);
          sum += weight * in[y * columns + x];
          total += weight;
        }
      // No visible, similar neighbour: the flow stays unchanged.
      out[r * columns + c] = total < 1e-9 ? in[r * columns + c] : float(sum / total);
    }
}

void upscale(const float* in, int rows, int columns, float* out) {
  const int half_columns = (columns + 1) / 2;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) out[r * columns + c] = 2 * in[(r / 2) * half_columns + c / 2];
}

void irregularity(const float* u, const float* v, int rows, int columns, int radius, float* most) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      float greatest = 0;
      for (int y = std::max(0, r - radius); y <= std::min(rows - 1, r + radius); ++y)
        for (int x = std::max(0, c - radius); x <= std::min(columns - 1, c + radius); ++x) {
          const float du = u[r * columns + c] - u[y * columns + x], dv = v[r * columns + c] - v[y * columns + x];
          greatest = std::max(greatest, du * du + dv * dv);
        }
      most[r * columns + c] = greatest;
    }
}

// Block sizes double where the flow is regular; then only the block corners are searched. Pixels covered by a block are
// marked done, so the result depends on the scan order.
void select_points(const float* most, float threshold, const int* level, int rows, int columns, int fine_rows,
                   int fine_columns, int* mask, int* fine_level) {
  std::vector<int> done(rows * columns, 0);
  std::fill(mask, mask + fine_rows * fine_columns, 0);
  std::fill(fine_level, fine_level + fine_rows * fine_columns, 0);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      if (done[r * columns + c]) continue;
      bool regular = most[r * columns + c] < threshold && 2 * r + 1 < fine_rows && 2 * c + 1 < fine_columns;
      const int step = regular ? (1 << level[r * columns + c]) - 1 : 0;
      for (int y = r; y <= std::min(r + step, rows - 1); ++y)
        for (int x = c; x <= std::min(c + step, columns - 1); ++x) {
          done[y * columns + x] = 1;
          regular = regular && most[y * columns + x] < threshold;
        }
      const int top = 2 * r, bottom = std::min(2 * (r + step) + 1, fine_rows - 1);
      const int left = 2 * c, right = std::min(2 * (c + step) + 1, fine_columns - 1);
      if (regular) {
        mask[top * fine_columns + left] = mask[top * fine_columns + right] = 1;
        mask[bottom * fine_columns + left] = mask[bottom * fine_columns + right] = 1;
        for (int y = top; y <= bottom; ++y)
          for (int x = left; x <= right; ++x) fine_level[y * fine_columns + x] = level[r * columns + c] + 1;
      } else {
        for (int y = top; y <= bottom; ++y)
          for (int x = left; x <= right; ++x) mask[y * fine_columns + x] = 1;
      }
    }
}

void extrapolate(const int* level, int rows, int columns, float* flow) {
  std::vector<int> done(rows * columns, 0);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      if (done[r * columns + c] || level[r * columns + c] < 2) continue;
      const int step = (1 << level[r * columns + c]) - 1;
      const int bottom = std::min(r + step, rows - 1), right = std::min(c + step, columns - 1);
      const float a = flow[r * columns + c], b = flow[r * columns + right], d = flow[bottom * columns + c],
                  e = flow[bottom * columns + right];
      for (int y = r; y <= bottom; ++y)
        for (int x = c; x <= right; ++x) {
          done[y * columns + x] = 1;
          if ((y == r || y == bottom) && (x == c || x == right)) continue;
          const float q = bottom == r ? 0.0f : float(y - r) / float(bottom - r), p = 1 - q;
          const float s = right == c ? 0.0f : float(x - c) / float(right - c), t = 1 - s;
          flow[y * columns + x] = a * p * t + b * p * s + d * q * t + e * s * q;
        }
    }
}

void gauss3(const float* in, int rows, int columns, float* out) {
  const double side = std::exp(-1 / 50.0);  // sigma 5
  const float beside = float(side / (1 + 2 * side)), own = float(1 / (1 + 2 * side));
  std::vector<float> across(rows * columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      across[r * columns + c] = own * in[r * columns + c] + beside * (in[r * columns + reflected(c - 1, columns)] +
                                                                      in[r * columns + reflected(c + 1, columns)]);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      out[r * columns + c] = own * across[r * columns + c] + beside * (across[reflected(r - 1, rows) * columns + c] +
                                                                       across[reflected(r + 1, rows) * columns + c]);
}

void simple_flow(const std::vector<float>& first, const std::vector<float>& second, int rows, int columns,
                 const FlowSettings& settings, std::vector<float>& u, std::vector<float>& v) {
  const int radius = settings.averaging_radius, layers = settings.layers;
  std::vector<int> heights(layers, rows), widths(layers, columns);
  std::vector<std::vector<float>> from(layers), to(layers);
  from[0] = first;
  to[0] = second;
  for (int k = 1; k < layers; ++k) {
    heights[k] = (heights[k - 1] + 1) / 2;
    widths[k] = (widths[k - 1] + 1) / 2;
    from[k].resize(heights[k] * widths[k] * 3);
    to[k].resize(heights[k] * widths[k] * 3);
    halve(from[k - 1].data(), heights[k - 1], widths[k - 1], from[k].data());
    halve(to[k - 1].data(), heights[k - 1], widths[k - 1], to[k].data());
  }
  std::vector<float> back_u, back_v, seen;
  std::vector<int> mask, level, back_mask, back_level;
  for (int k = layers - 1; k >= 0; --k) {
    const int h = heights[k], w = widths[k], cells = h * w;
    if (k == layers - 1) {
      u.assign(cells, 0);
      v.assign(cells, 0);
      back_u.assign(cells, 0);
      back_v.assign(cells, 0);
      mask.assign(cells, 1);
      back_mask.assign(cells, 1);
      level.assign(cells, 0);
      back_level.assign(cells, 0);
    } else {
      const int h1 = heights[k + 1], w1 = widths[k + 1], coarse = h1 * w1;
      seen.resize(coarse);
      occlusions(u.data(), v.data(), back_u.data(), back_v.data(), coarse, settings.occlusion_threshold, seen.data());
      std::vector<float> most(coarse), smooth(coarse);
      std::vector<int> fine_level(cells), back_fine_level(cells);
      mask.resize(cells);
      back_mask.resize(cells);
      irregularity(u.data(), v.data(), h1, w1, radius, most.data());
      select_points(most.data(), settings.speed_up_threshold, level.data(), h1, w1, h, w, mask.data(),
                    fine_level.data());
      irregularity(back_u.data(), back_v.data(), h1, w1, radius, most.data());
      select_points(most.data(), settings.speed_up_threshold, back_level.data(), h1, w1, h, w, back_mask.data(),
                    back_fine_level.data());
      level = fine_level;
      back_level = back_fine_level;
      std::vector<float>* planes[4] = {&u, &v, &back_u, &back_v};
      for (int i = 0; i < 4; ++i) {
        const std::vector<float>& guide = i < 2 ? from[k + 1] : to[k + 1];
        cross_bilateral(guide.data(), seen.data(), planes[i]->data(), h1, w1, settings.upscale_averaging_radius,
                        settings.upscale_sigma_dist, settings.upscale_sigma_color, smooth.data());
        planes[i]->resize(cells);
        upscale(smooth.data(), h, w, planes[i]->data());
      }
    }
    const int padded = (h + 2 * radius) * (w + 2 * radius) * 3;
    std::vector<float> a(padded), b(padded);
    pad_colors(from[k].data(), h, w, radius, a.data());
    pad_colors(to[k].data(), h, w, radius, b.data());
    search(a.data(), b.data(), mask.data(), h, w, radius, settings.max_flow, settings.sigma_dist, settings.sigma_color,
           u.data(), v.data());
    search(b.data(), a.data(), back_mask.data(), h, w, radius, settings.max_flow, settings.sigma_dist,
           settings.sigma_color, back_u.data(), back_v.data());
    extrapolate(level.data(), h, w, u.data());
    extrapolate(level.data(), h, w, v.data());
    extrapolate(back_level.data(), h, w, back_u.data());
    extrapolate(back_level.data(), h, w, back_v.data());
  }
  seen.resize(rows * columns);
  occlusions(u.data(), v.data(), back_u.data(), back_v.data(), rows * columns, settings.occlusion_threshold,
             seen.data());
  std::vector<float> smooth(rows * columns);
  for (std::vector<float>* plane : {&u, &v}) {
    cross_bilateral(first.data(), seen.data(), plane->data(), rows, columns, settings.postprocess_window,
                    settings.sigma_dist_fix, settings.sigma_color_fix, smooth.data());
    gauss3(smooth.data(), rows, columns, plane->data());
  }
}

}  // namespace sequential
