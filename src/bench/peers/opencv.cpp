// Peer OpenCV. Its headers are system headers here, because they produce warnings with our flags.
#include <cmath>
#include <memory>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/optflow.hpp>

#include "bench/peers/image_peers.hpp"

namespace ridge::cli {
namespace {

cv::Mat mat_of(const image::Image& image) {
  constexpr int kDepths[] = {CV_8U, CV_16U, CV_32F};
  const int type = CV_MAKETYPE(kDepths[static_cast<int>(image.depth())], static_cast<int>(image.channels()));
  return cv::Mat(static_cast<int>(image.rows()), static_cast<int>(image.columns()), type,
                 const_cast<std::byte*>(image.bytes()), image.pitch());
}

struct Prepare {
  cv::Mat in;
  std::shared_ptr<cv::Mat> out = std::make_shared<cv::Mat>();
  int border = cv::BORDER_REFLECT_101;

  PeerCall operator()(const image::Convolve& o) const {
    cv::Mat kernel =
        cv::Mat(static_cast<int>(o.rows), static_cast<int>(o.columns), CV_32F, const_cast<float*>(o.kernel.data()))
            .clone();
    return [*this, kernel] { cv::filter2D(in, *out, -1, kernel, cv::Point(-1, -1), 0, border); };
  }
  PeerCall operator()(const image::Separable& o) const {
    const std::vector<float> down = o.down, across = o.across;
    return [*this, down, across] { cv::sepFilter2D(in, *out, -1, across, down, cv::Point(-1, -1), 0, border); };
  }
  PeerCall operator()(const image::Gauss& o) const {
    const int radius = o.radius != 0 ? static_cast<int>(o.radius)
                                     : static_cast<int>(std::ceil((in.depth() == CV_8U ? 3 : 4) * o.sigma));
    return [*this, radius, sigma = o.sigma] {
      cv::GaussianBlur(in, *out, cv::Size(2 * radius + 1, 2 * radius + 1), sigma, sigma, border);
    };
  }
  PeerCall operator()(const image::Box& o) const {
    return [*this, size = cv::Size(static_cast<int>(o.columns), static_cast<int>(o.rows))] {
      cv::blur(in, *out, size, cv::Point(-1, -1), border);
    };
  }
  PeerCall operator()(const image::Median& o) const {
    if (in.depth() != CV_8U && o.radius > 2) return {};
    return [*this, side = static_cast<int>(2 * o.radius + 1)] { cv::medianBlur(in, *out, side); };
  }
  PeerCall operator()(const image::Bilateral& o) const {
    if (in.channels() == 4 || in.depth() == CV_16U) return {};
    return [*this, o] {
      cv::bilateralFilter(in, *out, static_cast<int>(2 * o.radius + 1), o.sigma_color, o.sigma_space, border);
    };
  }
  template <class Other>
  PeerCall operator()(const Other&) const {
    return {};  // no counterpart in OpenCV
  }
  PeerCall operator()(const image::Resize& o) const {
    constexpr int kModes[] = {cv::INTER_NEAREST, cv::INTER_LINEAR, cv::INTER_CUBIC, cv::INTER_AREA};
    const cv::Size size(static_cast<int>(o.columns), static_cast<int>(o.rows));
    return [*this, o, size, mode = kModes[static_cast<int>(o.interpolation)]] {
      cv::resize(in, *out, size, o.scale, o.scale, mode);
    };
  }
  PeerCall operator()(const image::Integral&) const {
    if (in.depth() == CV_16U) return {};
    return [*this] { cv::integral(in, *out); };
  }
  PeerCall operator()(const image::Pyramid& o) const {
    return [*this, levels = o.levels] {
      cv::Mat now = in;
      for (std::size_t i = 0; i < levels; ++i) {
        cv::pyrDown(now, *out, cv::Size(), border);
        now = out->clone();
      }
    };
  }
  PeerCall operator()(const image::Gradient&) const {
    auto down = std::make_shared<cv::Mat>();
    return [*this, down] {
      cv::Sobel(in, *out, CV_32F, 1, 0, 3, 0.125, 0, border);
      cv::Sobel(in, *down, CV_32F, 0, 1, 3, 0.125, 0, border);
    };
  }
  PeerCall operator()(const image::Transpose&) const {
    return [*this] { cv::transpose(in, *out); };
  }
  PeerCall operator()(const image::Rotate& o) const {
    if (o.degrees != 90) return {};
    return [*this] { cv::rotate(in, *out, cv::ROTATE_90_COUNTERCLOCKWISE); };
  }
  PeerCall operator()(const image::Gray&) const {
    if (in.channels() != 3) return {};
    return [*this] { cv::cvtColor(in, *out, cv::COLOR_RGB2GRAY); };
  }
};

}  // namespace

}  // namespace ridge::cli

extern "C" void ridge_image_peer(ridge::cli::ImagePeer* peer);
extern "C" void ridge_image_peer(ridge::cli::ImagePeer* peer) {
  using namespace ridge;
  using namespace ridge::cli;
  *peer = {"opencv",
           [](const ImageWork& work, const image::Image& first, const image::Image& second,
              std::size_t threads) -> PeerCall {
             cv::setNumThreads(static_cast<int>(threads));
             const Prepare prepare{mat_of(first)};
             if (work.flow) {
               const cv::Mat next = mat_of(second);
               return [prepare, next] { cv::optflow::calcOpticalFlowSF(prepare.in, next, *prepare.out, 3, 2, 4); };
             }
             if (work.variance_window != 0) {  // mean of the squares minus square of the mean
               const int side = static_cast<int>(work.variance_window);
               auto mean = std::make_shared<cv::Mat>();
               return [prepare, mean, side] {
                 cv::boxFilter(prepare.in, *mean, CV_32F, cv::Size(side, side), cv::Point(-1, -1), true,
                               prepare.border);
                 cv::sqrBoxFilter(prepare.in, *prepare.out, CV_32F, cv::Size(side, side), cv::Point(-1, -1), true,
                                  prepare.border);
                 cv::multiply(*mean, *mean, *mean);
                 cv::subtract(*prepare.out, *mean, *prepare.out);
               };
             }
             return std::visit(prepare, work.operation.front());
           }};
}
