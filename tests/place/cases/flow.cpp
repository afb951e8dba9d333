// Optical flow on OpenCV images: windows of weights, calls of OpenCV inside nests, rectangles of images, images of one
// element type with several channels. In the notation of algebra.cpp.
#include "opencv_like.hpp"

using namespace cv;

static float distance2(const Vec3b& p, const Vec3b& q) {
  return static_cast<float>((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                            (p[2] - q[2]) * (p[2] - q[2]));
}

static float distance2(const Vec2f& p, const Vec2f& q) {
  return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]);
}

//: flow_visible l1=parallel l2=parallel kernels=1 run
void flow_visible(const Mat& there, const Mat& back, float limit, Mat& seen) {
  for (int r = 0; r < there.rows; ++r)
    for (int c = 0; c < there.cols; ++c)
      seen.at<float>(r, c) = distance2(there.at<Vec2f>(r, c), -back.at<Vec2f>(r, c)) > limit ? 0.0f : 1.0f;
}

//: flow_uneven l1=parallel l2=parallel kernels=1 run
void flow_uneven(const Mat& flow, int radius, Mat& most) {
  for (int r = radius; r < flow.rows - radius; ++r)
    for (int c = radius; c < flow.cols - radius; ++c) {
      most.at<float>(r, c) = 0;
      const Vec2f own = flow.at<Vec2f>(r, c);
      for (int y = -radius; y <= radius; ++y)
        for (int x = -radius; x <= radius; ++x) {
          const float d = distance2(own, flow.at<Vec2f>(r + y, c + x));
          if (d > most.at<float>(r, c)) most.at<float>(r, c) = d;
        }
    }
}

//: weigh l1=parallel l2=parallel kernels=1
static void weigh(const Mat& image, Mat& weights, int r0, int c0, int radius, float sigma) {
  const Vec3b own = image.at<Vec3b>(r0, c0);
  for (int y = r0 - radius, r = 0; y <= r0 + radius; ++y, ++r) {
    const Vec3b* row = image.ptr<Vec3b>(y);
    float* to = weights.ptr<float>(r);
    for (int x = c0 - radius, c = 0; x <= c0 + radius; ++x, ++c) to[c] = -distance2(own, row[x]);
  }
  weights *= 1.0 / (2.0 * sigma * sigma);
  exp(weights, weights);
}

//: flow_smoothed l1=parallel l2=parallel kernels=1 run
void flow_smoothed(const Mat& colors, const Mat& seen, const Mat& flow, Mat& smooth, int radius) {
  std::vector<Mat> planes;
  split(flow, planes);
  Mat weights(2 * radius + 1, 2 * radius + 1, CV_32F), products(2 * radius + 1, 2 * radius + 1, CV_32F);
  const int rows = colors.rows - 2 * radius, cols = colors.cols - 2 * radius;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      weigh(colors, weights, r + radius, c + radius, radius, 25.5f);
      const Range down(r, r + 2 * radius + 1), across(c, c + 2 * radius + 1);
      multiply(weights, seen(down, across), weights);
      const float all = static_cast<float>(sum(weights)[0]);
      for (int k = 0; k < 2; ++k) {
        multiply(weights, planes[k](down, across), products);
        const float total = static_cast<float>(sum(products)[0]);
        smooth.at<Vec2f>(r, c)[k] = all < 1e-9f ? flow.at<Vec2f>(r, c)[k] : total / all;
      }
    }
  }
}

//: flow_searched l1=parallel l2=parallel kernels=1 run
void flow_searched(const Mat& from, const Mat& to, const Mat& mask, Mat& flow, int radius, int reach) {
  const int side = radius << 1, rows = from.rows - side, cols = from.cols - side;
  Mat weights(side + 1, side + 1, CV_32F);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      if (!mask.at<uchar>(r, c)) continue;
      const Vec2f now = flow.at<Vec2f>(r, c);
      const int u = std::min(std::max(r + cvRound(now[0]), 0), rows - 1) - r;
      const int v = std::min(std::max(c + cvRound(now[1]), 0), cols - 1) - c;
      weigh(from, weights, r + radius, c + radius, radius, 25.5f);
      float least = 3e38f;
      Vec2f best(static_cast<float>(u), static_cast<float>(v));
      for (int y = std::max(0, r + u - reach); y <= std::min(rows - 1, r + u + reach); ++y)
        for (int x = std::max(0, c + v - reach); x <= std::min(cols - 1, c + v + reach); ++x) {
          float cost = 0;
          for (int i = 0; i <= side; ++i)
            for (int j = 0; j <= side; ++j)
              cost += weights.at<float>(i, j) * distance2(from.at<Vec3b>(r + i, c + j), to.at<Vec3b>(y + i, x + j));
          if (cost < least) {
            least = cost;
            best = Vec2f(static_cast<float>(y - r), static_cast<float>(x - c));
          }
        }
      flow.at<Vec2f>(r, c) = best;
    }
  }
}

//: weights_read_before_set l1=sequential:flow l2=sequential:flow kernels=0
void weights_read_before_set(const Mat& colors, Mat& out, int radius) {
  Mat weights(2 * radius + 1, 2 * radius + 1, CV_32F);
  const int rows = colors.rows - 2 * radius, cols = colors.cols - 2 * radius;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) {
      out.at<float>(r, c) = weights.at<float>(0, 0);
      weigh(colors, weights, r + radius, c + radius, radius, 25.5f);
    }
}

//: weights_with_another_name l1=sequential l2=sequential kernels=0
void weights_with_another_name(const Mat& colors, Mat& out, int radius) {
  Mat weights(2 * radius + 1, 2 * radius + 1, CV_32F);
  Mat other = weights;  // the same elements, read after the loop
  const int rows = colors.rows - 2 * radius, cols = colors.cols - 2 * radius;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) weigh(colors, weights, r + radius, c + radius, radius, 25.5f);
  out.at<float>(0, 0) = other.at<float>(0, 0);
}

//: rectangle_of_the_result l1=sequential kernels=0
void rectangle_of_the_result(Mat& image, int n) {
  Mat weights(3, 3, CV_32F);
  for (int r = 0; r < n; ++r) {
    multiply(image(Range(r, r + 3), Range(0, 3)), image(Range(r, r + 3), Range(0, 3)), weights);
    image.at<float>(r + 1, 0) = weights.at<float>(1, 1);
  }
}

//: rectangle_of_another_size l1=sequential kernels=0 says=sizes
void rectangle_of_another_size(const Mat& image, Mat& out, int n) {
  Mat weights(3, 3, CV_32F);
  for (int r = 1; r < n; ++r) {
    multiply(image(Range(r, r + 4), Range(0, 3)), image(Range(r, r + 4), Range(0, 3)), weights);
    out.at<float>(r, 0) = weights.at<float>(1, 1);
  }
}

//: planes_by_number l1=sequential l2=sequential kernels=0 says=constant
void planes_by_number(const Mat& image, Mat& out, int n) {
  std::vector<Mat> planes;
  split(image, planes);
  for (int k = 0; k < n; ++k)
    for (int r = 0; r < out.rows; ++r) out.at<float>(r, k) = planes[k].at<float>(r, 0);
}

static void made_anew(Mat& m) { m = Mat::zeros(3, 3, CV_32F); }

//: image_made_by_a_call l1=sequential kernels=0 says=Mat::zeros
void image_made_by_a_call(Mat& m, int n) {
  for (int r = 0; r < n; ++r) {
    made_anew(m);
    m.at<float>(r, 0) = 1;
  }
}

//: sum_in_a_choice l1=sequential kernels=0 says=always
void sum_in_a_choice(const Mat& image, Mat& out, int n) {
  Mat weights(3, 3, CV_32F);
  for (int r = 0; r < n; ++r) {
    multiply(image(Range(r, r + 3), Range(0, 3)), image(Range(r, r + 3), Range(0, 3)), weights);
    out.at<float>(r, 0) = r > 2 ? static_cast<float>(sum(weights)[0]) : 0.0f;
  }
}

//: bytes_multiplied l1=sequential kernels=0 says=float
void bytes_multiplied(const Mat& image, Mat& out, int n) {
  for (int r = 0; r < n; ++r) {
    multiply(image, image, out);
    out.at<uchar>(r, 0) = image.at<uchar>(r, 0);
  }
}

//: rectangles_of_one_image l1=sequential kernels=0 says=rectangles
void rectangles_of_one_image(Mat& image, int n) {
  for (int r = 0; r < n; ++r) {
    multiply(image(Range(r, r + 3), Range(0, 3)), image(Range(r, r + 3), Range(1, 4)), image);
    image.at<float>(r, 0) = 1;
  }
}

static void halve(const Mat& from, Mat& to) {
  for (int r = 0; r < from.rows; ++r)
    for (int c = 0; c < from.cols; ++c) to.at<float>(r, c) = 0.5f * from.at<float>(r, c);
}

//: images_of_a_list l1=parallel halve.l1=parallel halve.l2=parallel kernels=1 run
void images_of_a_list(const Mat& image, Mat& other, Mat& out) {
  for (int r = 0; r < image.rows; ++r) out.at<float>(r, 0) = image.at<float>(r, 0) + other.at<float>(r, 0);
  std::vector<Mat> all{image};
  all.push_back(other);
  halve(all.back(), out);
  halve(all[0], all[1]);
}
