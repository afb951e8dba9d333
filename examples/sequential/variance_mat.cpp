// Local variance of a cv::Mat in plain sequential C++, two passes per window.
#include <cmath>
#include <cstdio>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

// `in` has a border of window - 1 more rows and columns than `out`.
void variance_of_mat(const cv::Mat& in, cv::Mat& out, int window) {
  for (int r = 0; r < out.rows; ++r) {
    for (int c = 0; c < out.cols; ++c) {
      float sum = 0;
      for (int i = 0; i < window; ++i) {
        for (int j = 0; j < window; ++j) sum += in.at<float>(r + i, c + j);
      }
      const float mean = sum / float(window * window);
      float squares = 0;
      for (int i = 0; i < window; ++i) {
        for (int j = 0; j < window; ++j) {
          const float away = in.at<float>(r + i, c + j) - mean;
          squares += away * away;
        }
      }
      out.at<float>(r, c) = squares / float(window * window);
    }
  }
}

int main() {
  const int rows = 60, columns = 80, window = 27;
  cv::Mat scan(rows, columns, CV_32F), padded, variance(rows, columns, CV_32F);
  unsigned state = 1;
  for (int i = 0; i < rows * columns; ++i) {
    state = state * 1664525u + 1013904223u;
    scan.at<float>(i / columns, i % columns) = float(96 + (state >> 24) % 64);
  }
  cv::copyMakeBorder(scan, padded, window / 2, window / 2, window / 2, window / 2, cv::BORDER_REFLECT_101);
  variance_of_mat(padded, variance, window);

  cv::Mat wide, mean, squares;  // OpenCV's box filters in double precision
  scan.convertTo(wide, CV_64F);
  cv::boxFilter(wide, mean, CV_64F, cv::Size(window, window), cv::Point(-1, -1), true, cv::BORDER_REFLECT_101);
  cv::sqrBoxFilter(wide, squares, CV_64F, cv::Size(window, window), cv::Point(-1, -1), true, cv::BORDER_REFLECT_101);
  double worst = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const double right = squares.at<double>(r, c) - mean.at<double>(r, c) * mean.at<double>(r, c);
      const double error = std::fabs(variance.at<float>(r, c) / right - 1);
      if (!(error <= worst)) worst = error;
    }
  }
  std::printf("%dx%d windows of %d: worst relative error %.1e\n", columns, rows, window, worst);
  return worst < 1e-4 ? 0 : 1;
}
