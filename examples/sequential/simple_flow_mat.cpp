// SimpleFlow (Tao, Bai, Kohli, Paris 2012) on OpenCV images, sequential, in the shape that the thesis' placement method
// was applied to: coarse to fine, windows weighted by color and distance, flow recomputed only where it is irregular.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

using cv::Mat;
using cv::Range;
using cv::Vec2f;
using cv::Vec3b;

struct FlowOptions {
  int layers = 3, radius = 2, most = 4;
  float space = 4.1f, color = 25.5f;  // sigma of the window's weights
  int smooth_radius = 6;
  float smooth_space = 55, smooth_color = 25.5f;
  float occluded = 0.35f, regular = 10;
};

static float distance2(const Vec3b& p, const Vec3b& q) {
  return static_cast<float>((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                            (p[2] - q[2]) * (p[2] - q[2]));
}

static float distance2(const Vec2f& p, const Vec2f& q) {
  return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]);
}

// 1 where the flow forward and the flow back cancel, 0 where the point is hidden in the other image.
static void find_visible(const Mat& there, const Mat& back, float limit, Mat& visible) {
  visible = Mat::zeros(there.rows, there.cols, CV_32F);
  for (int r = 0; r < there.rows; ++r)
    for (int c = 0; c < there.cols; ++c)
      visible.at<float>(r, c) = distance2(there.at<Vec2f>(r, c), -back.at<Vec2f>(r, c)) > limit ? 0.0f : 1.0f;
}

static void weigh_by_distance(Mat& weights, int radius, float sigma) {
  for (int y = -radius; y <= radius; ++y)
    for (int x = -radius; x <= radius; ++x)
      weights.at<float>(y + radius, x + radius) = static_cast<float>(-(y * y + x * x));
  weights *= 1.0 / (2.0 * sigma * sigma);
  exp(weights, weights);
}

static void weigh_by_color(const Mat& image, Mat& weights, int r0, int c0, int radius, float sigma) {
  const Vec3b own = image.at<Vec3b>(r0, c0);
  for (int y = r0 - radius, r = 0; y <= r0 + radius; ++y, ++r) {
    const Vec3b* row = image.ptr<Vec3b>(y);
    float* to = weights.ptr<float>(r);
    for (int x = c0 - radius, c = 0; x <= c0 + radius; ++x, ++c) to[c] = -distance2(own, row[x]);
  }
  weights *= 1.0 / (2.0 * sigma * sigma);
  exp(weights, weights);
}

// Averages the flow over windows, with weights of distance, color and visibility.
static void smooth(const Mat& image, const Mat& visible, Mat& flow, int radius, float color, float space, bool keep) {
  const int rows = flow.rows, cols = flow.cols, side = 2 * radius + 1;
  Mat colors, seen, padded;
  cv::copyMakeBorder(image, colors, radius, radius, radius, radius, cv::BORDER_DEFAULT);
  cv::copyMakeBorder(visible, seen, radius, radius, radius, radius, cv::BORDER_CONSTANT, cv::Scalar(0));
  cv::copyMakeBorder(flow, padded, radius, radius, radius, radius, cv::BORDER_DEFAULT);
  std::vector<Mat> planes;
  cv::split(padded, planes);
  Mat near(side, side, CV_32F), weights(side, side, CV_32F), products(side, side, CV_32F);
  weigh_by_distance(near, radius, space);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      weigh_by_color(colors, weights, r + radius, c + radius, radius, color);
      const Range down(r, r + side), across(c, c + side);
      cv::multiply(weights, seen(down, across), weights);
      cv::multiply(weights, near, weights);
      const float all = static_cast<float>(cv::sum(weights)[0]);
      for (int k = 0; k < 2; ++k) {
        cv::multiply(weights, planes[k](down, across), products);
        const float total = static_cast<float>(cv::sum(products)[0]);
        flow.at<Vec2f>(r, c)[k] =
            keep && std::fabs(all) < 1e-9f ? padded.at<Vec2f>(r + radius, c + radius)[k] : total / all;
      }
    }
  }
}

// For every point of the mask: the displacement near the current flow whose window differs least.
static void search(const Mat& from, const Mat& to, const Mat& mask, Mat& flow, const FlowOptions& how) {
  const int radius = how.radius, most = how.most, side = 2 * radius + 1;
  const int rows = flow.rows, cols = flow.cols;
  const float color = how.color;
  Mat first, second;
  cv::copyMakeBorder(from, first, radius, radius, radius, radius, cv::BORDER_DEFAULT);
  cv::copyMakeBorder(to, second, radius, radius, radius, radius, cv::BORDER_DEFAULT);
  Mat near(side, side, CV_32F), weights(side, side, CV_32F);
  weigh_by_distance(near, radius, how.space);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      if (!mask.at<uchar>(r, c)) continue;
      const Vec2f now = flow.at<Vec2f>(r, c);
      int u = cvRound(now[0]), v = cvRound(now[1]);
      if (r + u < 0) u = -r;
      if (r + u >= rows) u = rows - 1 - r;
      if (c + v < 0) v = -c;
      if (c + v >= cols) v = cols - 1 - c;
      const int up = std::min(r + u, most), down = std::min(rows - 1 - (r + u), most);
      const int left = std::min(c + v, most), right = std::min(cols - 1 - (c + v), most);
      weigh_by_color(first, weights, r + radius, c + radius, radius, color);
      cv::multiply(weights, near, weights);
      float least = FLT_MAX, best_u = static_cast<float>(u), best_v = static_cast<float>(v);
      for (int dr = -up; dr <= down; ++dr) {
        for (int dc = -left; dc <= right; ++dc) {
          float cost = 0;
          for (int y = 0; y < side; ++y) {
            const Vec3b* here = first.ptr<Vec3b>(r + y);
            const Vec3b* there = second.ptr<Vec3b>(r + u + dr + y);
            const float* weight = weights.ptr<float>(y);
            for (int x = 0; x < side; ++x) cost += weight[x] * distance2(here[c + x], there[c + v + dc + x]);
          }
          if (cost < least) {
            least = cost;
            best_u = static_cast<float>(u + dr);
            best_v = static_cast<float>(v + dc);
          }
        }
      }
      flow.at<Vec2f>(r, c) = Vec2f(best_u, best_v);
    }
  }
}

// Largest difference of the flow from its neighbours.
static Mat irregularity(const Mat& flow, int radius) {
  Mat most = Mat::zeros(flow.rows, flow.cols, CV_32F);
  const int rows = flow.rows, cols = flow.cols;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      for (int y = std::max(0, r - radius); y <= std::min(rows - 1, r + radius); ++y)
        for (int x = std::max(0, c - radius); x <= std::min(cols - 1, c + radius); ++x) {
          const float d = distance2(flow.at<Vec2f>(r, c), flow.at<Vec2f>(y, x));
          if (d > most.at<float>(r, c)) most.at<float>(r, c) = d;
        }
  return most;
}

// Marks the points of the next, finer layer that are computed; regular blocks grow by two per layer. Sequential: a
// block that is done is not visited again.
static void select_points(const Mat& flow, const FlowOptions& how, const Mat& before, Mat& level, Mat& mask) {
  const Mat regular = irregularity(flow, how.radius) < how.regular;
  Mat done = Mat::zeros(flow.rows, flow.cols, CV_8U);
  for (int r = 0; r < flow.rows; ++r) {
    for (int c = 0; c < flow.cols; ++c) {
      if (done.at<uchar>(r, c)) continue;
      const int step = (1 << before.at<uchar>(r, c)) - 1;
      const int bottom = std::min(r + step, flow.rows - 1), right = std::min(c + step, flow.cols - 1);
      bool all = regular.at<uchar>(r, c) != 0 && 2 * bottom + 1 < mask.rows && 2 * right + 1 < mask.cols;
      for (int y = r; y <= bottom; ++y)
        for (int x = c; x <= right; ++x) {
          done.at<uchar>(y, x) = 1;
          all = all && regular.at<uchar>(y, x) != 0;
        }
      const int last_row = std::min(2 * bottom + 1, mask.rows - 1), last_col = std::min(2 * right + 1, mask.cols - 1);
      const int next = before.at<uchar>(r, c) + 1;
      for (int y = 2 * r; y <= last_row; ++y)
        for (int x = 2 * c; x <= last_col; ++x) {
          const bool corner = (y == 2 * r || y == last_row) && (x == 2 * c || x == last_col);
          mask.at<uchar>(y, x) = all && !corner ? 0 : 255;
          level.at<uchar>(y, x) = static_cast<uchar>(all ? next : 0);
        }
    }
  }
}

// Interpolates the flow inside regular blocks from their corners. Sequential for the same reason.
static void interpolate(Mat& flow, const Mat& level) {
  Mat done = Mat::zeros(flow.rows, flow.cols, CV_8U);
  for (int r = 0; r < flow.rows; ++r) {
    for (int c = 0; c < flow.cols; ++c) {
      if (done.at<uchar>(r, c) || level.at<uchar>(r, c) == 0) continue;
      const int step = (1 << level.at<uchar>(r, c)) - 1;
      const int bottom = std::min(r + step, flow.rows - 1), right = std::min(c + step, flow.cols - 1);
      const Vec2f a = flow.at<Vec2f>(r, c), b = flow.at<Vec2f>(r, right), d = flow.at<Vec2f>(bottom, c),
                  e = flow.at<Vec2f>(bottom, right);
      for (int y = r; y <= bottom; ++y)
        for (int x = c; x <= right; ++x) {
          done.at<uchar>(y, x) = 1;
          const float p = bottom > r ? static_cast<float>(y - r) / static_cast<float>(bottom - r) : 0;
          const float q = right > c ? static_cast<float>(x - c) / static_cast<float>(right - c) : 0;
          for (int k = 0; k < 2; ++k)
            flow.at<Vec2f>(y, x)[k] = (1 - p) * ((1 - q) * a[k] + q * b[k]) + p * ((1 - q) * d[k] + q * e[k]);
        }
    }
  }
}

static Mat upscaled(const Mat& image, const Mat& visible, Mat& flow, int rows, int cols, const FlowOptions& how) {
  smooth(image, visible, flow, how.smooth_radius, how.smooth_color, how.smooth_space, true);
  Mat larger;
  cv::resize(flow, larger, cv::Size(cols, rows), 0, 0, cv::INTER_NEAREST);
  larger *= 2;
  return larger;
}

void simple_flow_mat(const Mat& from, const Mat& to, Mat& result, const FlowOptions& how) {
  std::vector<Mat> first{from}, second{to};
  for (int k = 1; k < how.layers; ++k) {
    const cv::Size half((first.back().cols + 1) / 2, (first.back().rows + 1) / 2);
    Mat a, b;
    cv::resize(first.back(), a, half, 0, 0, cv::INTER_CUBIC);
    cv::resize(second.back(), b, half, 0, 0, cv::INTER_CUBIC);
    first.push_back(a);
    second.push_back(b);
  }
  const cv::Size least = first.back().size();
  Mat flow = Mat::zeros(least, CV_32FC2), back = Mat::zeros(least, CV_32FC2);
  Mat mask = Mat::ones(least, CV_8U), mask_back = Mat::ones(least, CV_8U);
  Mat level = Mat::zeros(least, CV_8U), level_back = Mat::zeros(least, CV_8U), visible, visible_back;
  search(first.back(), second.back(), mask, flow, how);
  search(second.back(), first.back(), mask_back, back, how);
  find_visible(flow, back, how.occluded, visible);
  find_visible(back, flow, how.occluded, visible_back);
  for (int k = how.layers - 2; k >= 0; --k) {
    const Mat a = first[k], b = second[k], coarse_a = first[k + 1], coarse_b = second[k + 1];
    const cv::Size size = a.size();
    Mat finer = Mat::zeros(size, CV_8U), finer_back = Mat::zeros(size, CV_8U);
    mask = Mat::zeros(size, CV_8U);
    mask_back = Mat::zeros(size, CV_8U);
    select_points(flow, how, level, finer, mask);
    select_points(back, how, level_back, finer_back, mask_back);
    level = finer;
    level_back = finer_back;
    flow = upscaled(coarse_a, visible, flow, size.height, size.width, how);
    back = upscaled(coarse_b, visible_back, back, size.height, size.width, how);
    search(a, b, mask, flow, how);
    search(b, a, mask_back, back, how);
    interpolate(flow, level);
    interpolate(back, level_back);
    find_visible(flow, back, how.occluded, visible);
    find_visible(back, flow, how.occluded, visible_back);
  }
  smooth(from, visible, flow, how.smooth_radius, how.smooth_color, how.smooth_space, false);
  cv::GaussianBlur(flow, result, cv::Size(3, 3), 5);
}

static bool read_ppm(const std::string& path, Mat& into) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  int cols = 0, rows = 0, most = 0;
  bool good = std::fscanf(file, "P6 %d %d %d", &cols, &rows, &most) == 3 && most == 255 && rows > 0 && cols > 0 &&
              std::fgetc(file) != EOF;
  if (good) {
    into.create(rows, cols, CV_8UC3);
    good =
        std::fread(into.data, 3, static_cast<std::size_t>(rows) * cols, file) == static_cast<std::size_t>(rows) * cols;
  }
  std::fclose(file);
  return good;
}

// Without arguments: two synthetic frames, the second shifted by (2, 3).
int main(int argc, char** argv) {
  Mat first(60, 80, CV_8UC3), second(60, 80, CV_8UC3), flow;
  if (argc > 2) {
    if (!read_ppm(argv[1], first) || !read_ppm(argv[2], second) || first.size() != second.size()) {
      std::fprintf(stderr, "sequential_simple_flow_mat [FIRST.ppm SECOND.ppm]: two binary PPM files of one size\n");
      return 1;
    }
  } else {
    for (int r = 0; r < first.rows; ++r)
      for (int c = 0; c < first.cols; ++c)
        for (int k = 0; k < 3; ++k) {
          const auto color = [&](double y, double x) {
            return static_cast<uchar>(
                std::lrint(128 + 40 * (std::sin(0.31 * y + 0.17 * x + k) + std::sin(0.11 * y - 0.37 * x + 2 * k) +
                                       std::sin(0.05 * y + 0.23 * x) * std::sin(0.19 * y))));
          };
          first.at<Vec3b>(r, c)[k] = color(r, c);
          second.at<Vec3b>(r, c)[k] = color(r - 2, c - 3);
        }
  }
  simple_flow_mat(first, second, flow, FlowOptions{});
  double sum_u = 0, sum_v = 0;
  bool numbers = true;
  for (int r = 0; r < flow.rows; ++r)
    for (int c = 0; c < flow.cols; ++c) {
      const Vec2f at = flow.at<Vec2f>(r, c);
      sum_u += at[0];
      sum_v += at[1];
      numbers = numbers && std::isfinite(at[0]) && std::isfinite(at[1]);
      if (r % 8 == 0 && c % 8 == 0 && argc > 2) std::printf("%.5f %.5f\n", at[0], at[1]);
    }
  const double points = static_cast<double>(flow.total());
  std::printf("mean flow %.4f down, %.4f right\n", sum_u / points, sum_v / points);
  const bool near = argc > 2 || (std::fabs(sum_u / points - 2) < 0.5 && std::fabs(sum_v / points - 3) < 0.5);
  return numbers && near ? 0 : 1;
}
