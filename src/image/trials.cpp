// Times image variants and compares their output with the reference.
#include <cstring>

#include "base/clock.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "image/work.hpp"

namespace ridge::image {
namespace {

// Time limit and repetitions of one timed candidate.
constexpr base::Repeat kTrial{.seconds = 0.2, .at_least = 2, .at_most = 1000, .round = 2e-4};
// Device calls are short and their clock has little noise.
constexpr base::Repeat kDeviceTrial{.seconds = 0.04, .at_least = 2, .at_most = 1000, .round = 2e-4};

}  // namespace

std::vector<Image> random_images(const std::vector<Shape>& shapes) {
  std::vector<Image> images;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Image image(shapes[i]);
    fill_random({image.bytes(), image.span_bytes()}, shapes[i].depth == Depth::f32 ? Numbers::float32 : Numbers::bits,
                i + 1);
    images.push_back(std::move(image));
  }
  return images;
}

void Trials::prepare() {
  if (!in_.empty() || queue_) return;
  if (!device_.is_host()) {
    queue_ = device_.queue();
    for (const Shape& shape : work_.inputs) resident_.push_back(Image::on(device_, shape, "trial input"));
    resident_out_ = Image::on(device_, work_.output, "trial output");
    repeated_ = RepeatedImages::make(device_, work_.inputs, work_.output, work_.reference, large_image_);
    if (repeated_) return repeated_->fill(*queue_, resident_);
  }
  in_ = work_.data();
  out_ = Image(work_.output);
  for (std::size_t i = 0; i < resident_.size(); ++i) upload(*queue_, in_[i], resident_[i]);
  if (queue_) queue_->finish();
}

double Trials::seconds(const Variant& variant) {
  prepare();
  if (device_.is_host()) return base::best_seconds([&] { variant.run(in_, out_); }, kTrial);
  return best_device_seconds(*queue_, {[&] { variant.enqueue(*queue_, resident_, resident_out_); }}, kDeviceTrial)
      .front();
}

planner::Comparison Trials::compare(const Variant& variant) {
  prepare();
  if (repeated_) {
    queue_->fill(resident_out_.buffer(), std::byte{0xff});
    variant.enqueue(*queue_, resident_, resident_out_);
    return work_.judge_repeated(repeated_->compare(*queue_, resident_out_));
  }
  std::memset(out_.bytes(), 0xff, out_.span_bytes());
  variant.run(in_, out_);
  return work_.judge(in_, out_);
}

}  // namespace ridge::image
