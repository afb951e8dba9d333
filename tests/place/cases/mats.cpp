// OpenCV images (cv::Mat), in the notation of algebra.cpp.
#include "opencv_like.hpp"

#include <algorithm>

//: mat_blur l1=parallel l2=parallel kernels=1 run
void mat_blur(const cv::Mat& in, cv::Mat& out) {
  for (int r = 1; r < in.rows - 1; ++r)
    for (int c = 1; c < in.cols - 1; ++c)
      out.at<float>(r, c) =
          0.25f * (in.at<float>(r - 1, c) + in.at<float>(r + 1, c) + in.at<float>(r, c - 1) + in.at<float>(r, c + 1));
}

//: mat_rows l1=parallel l2=parallel kernels=1 run
void mat_rows(const cv::Mat& in, cv::Mat& out) {
  for (int r = 0; r < in.rows; ++r) {
    const float* from = in.ptr<float>(r);
    float* to = out.ptr<float>(r);
    for (int c = 0; c < in.cols; ++c) to[c] = 1 - from[c];
  }
}

// OpenCV may call the lambda once with the whole range.
//: mat_parallel_for l1=parallel l2=parallel kernels=1 run
void mat_parallel_for(const cv::Mat& in, cv::Mat& out) {
  cv::parallel_for_(cv::Range(0, in.rows), [&](const cv::Range& range) {
    for (int r = range.start; r < range.end; ++r)
      for (int c = 0; c < in.cols; ++c) out.at<float>(r, c) = 2 * in.at<float>(r, c);
  });
}

// Its author was wrong: a row reads the row before it.
//: mat_parallel_for_of_rows l1=sequential:flow l2=sequential:flow kernels=0
void mat_parallel_for_of_rows(cv::Mat& m) {
  cv::parallel_for_(
      cv::Range(1, m.rows),
      [&](const cv::Range& range) {
        for (int r = range.start; r < range.end; ++r)
          for (int c = 1; c < m.cols; ++c) m.at<float>(r, c) = m.at<float>(r - 1, c) * m.at<float>(r, c - 1);
      },
      4.0);
}

//: mat_colours l1=parallel l2=parallel l3=reduction kernels=1 run
void mat_colours(const cv::Mat& in, cv::Mat& out) {
  for (int r = 0; r < in.rows; ++r)
    for (int c = 0; c < in.cols; ++c) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += in.at<cv::Vec<float, 3>>(r, c)[k];
      out.at<float>(r, c) = sum / 3;
    }
}

//: mat_scan l1=parallel l2=sequential:flow kernels=1 run
void mat_scan(cv::Mat& m) {
  for (int r = 0; r < m.rows; ++r)
    for (int c = 1; c < m.cols; ++c) m.at<float>(r, c) += m.at<float>(r, c - 1);
}

//: mat_made_here l1=parallel l2=parallel l3=parallel l4=parallel kernels=2 run
void mat_made_here(const cv::Mat& in, cv::Mat& out) {
  cv::Mat half = in.clone();
  for (int r = 0; r < half.rows; ++r)
    for (int c = 0; c < half.cols; ++c) half.at<float>(r, c) = 0.5f * in.at<float>(r, c);
  for (int r = 0; r < out.rows; ++r)
    for (int c = 0; c < out.cols; ++c) out.at<float>(r, c) += half.at<float>(r, c);
}

//: mat_created_inside l1=sequential kernels=0 says=create
void mat_created_inside(cv::Mat& m, int n) {
  for (int r = 0; r < n; ++r) {
    m.create(n, n, cv::traits::Type<float>::value);
    m.at<float>(r, 0) = 1;
  }
}

//: mat_of_two_kinds l1=sequential kernels=0 says=types
void mat_of_two_kinds(cv::Mat& m) {
  for (int r = 0; r < m.rows; ++r) m.at<float>(r, 0) = float(m.at<int>(r, 1));
}

//: mat_floor_of_user l1=sequential kernels=0 says=global
void mat_floor_of_user(const cv::Mat& in, int* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = cvFloor(in.at<float>(0, i));
}
