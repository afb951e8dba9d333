// Applies a chain of operators to a cv::Mat without a copy: Ridgeline reads and writes OpenCV's memory, including a
// region of a larger picture with its pitch.
//
//   mat_in_place [DEVICE]
#include <cstdio>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <ridge/image.hpp>

namespace {

ridge::image::Image view(cv::Mat& mat) {
  return ridge::image::Image::view(static_cast<void*>(mat.data),
                                   {.rows = static_cast<std::size_t>(mat.rows),
                                    .columns = static_cast<std::size_t>(mat.cols),
                                    .channels = static_cast<std::size_t>(mat.channels())},
                                   mat.step);
}

}  // namespace

int main(int argc, char** argv) {
  cv::Mat picture(500, 701, CV_8UC3), part = picture(cv::Rect(13, 7, 640, 480));
  cv::randu(picture, 0, 256);
  cv::Mat small(240, 320, CV_8UC3);

  ridge::image::OperatorProblem problem;
  problem.input = view(part).shape();
  problem.chain = ridge::image::parse_chain("gauss 1.5 4 | resize 0.5");
  const auto plan =
      ridge::image::plan(ridge::device(argc > 1 ? argv[1] : ""), problem, {.effort = ridge::Effort::quick});
  ridge::image::Image out = view(small);
  plan.run(view(part), out);

  cv::Mat blurred, expected, apart;
  cv::GaussianBlur(part.clone(), blurred, cv::Size(9, 9), 1.5, 1.5, cv::BORDER_REFLECT_101);
  cv::resize(blurred, expected, cv::Size(), 0.5, 0.5, cv::INTER_LINEAR);
  cv::absdiff(small, expected, apart);
  double most = 0;
  cv::minMaxLoc(apart.reshape(1), nullptr, &most);
  std::printf("%s\n%sthe same as OpenCV's to %.0f\n", plan.explain().c_str(), most <= 1 ? "" : "not ", most);
  return most <= 1 ? 0 : 1;
}
