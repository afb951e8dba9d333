// Tests large images whose pixels repeat: local operators are compared in every pixel, others are recognized.
#include "image/repeated_images.hpp"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "image/work.hpp"
#include "support/devices.hpp"

namespace ridge::image {
namespace {

using RepeatedImagesDevice = ridge::test::NeedsAccelerator<>;

std::optional<RepeatedImages> made(const Device& device, const OperatorProblem& problem) {
  const Work work = work_of(device, problem);
  return RepeatedImages::make(device, work.inputs, work.output, work.reference, 1 << 18);
}

TEST_F(RepeatedImagesDevice, OnlyLocalOperatorsRepeat) {
  const Device device = ridge::test::accelerators().front();
  const Shape shape{.rows = 700, .columns = 801};
  for (const char* chain : {"gauss 2", "median 1", "gauss 5", "gradient", "invert | box 3"})
    EXPECT_TRUE(made(device, {.input = shape, .chain = parse_chain(chain)}).has_value()) << chain;
  for (const char* chain : {"integral", "transpose", "rotate 30", "resize 0.5"})
    EXPECT_FALSE(made(device, {.input = shape, .chain = parse_chain(chain)}).has_value()) << chain;
  EXPECT_FALSE(made(device, {.input = {.rows = 300, .columns = 400}, .chain = parse_chain("gauss 2")}).has_value());
}

// The base method with one value changed.
class WrongPixel final : public Variant {
 public:
  WrongPixel(std::shared_ptr<const Variant> right, std::size_t at, std::vector<std::byte> value)
      : right_(std::move(right)), at_(at), value_(std::move(value)) {}
  void run(std::span<const Image>, Image&) const override {}
  void enqueue(Queue& queue, std::span<const Image> in, const Image& out) const override {
    right_->enqueue(queue, in, out);
    queue.upload(value_.data(), out.buffer(), value_.size(), at_);
    queue.finish();
  }

 private:
  std::shared_ptr<const Variant> right_;
  std::size_t at_;
  std::vector<std::byte> value_;
};

template <class T>
std::vector<std::byte> bytes_of_value(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

TEST_F(RepeatedImagesDevice, AWrongPixelIsFound) {
  for (const Device& device : ridge::test::accelerators()) {
    for (const Depth depth : {Depth::u8, Depth::f32}) {
      const OperatorProblem problem{.input = {.rows = 401, .columns = 501, .channels = 3, .depth = depth},
                                    .chain = parse_chain("gauss 1")};
      const Work work = work_of(device, problem);
      Trials trials(device, work, 1);
      // The shortest kernels: the compiler takes most of the time.
      const Entry* chosen = nullptr;
      std::size_t least = std::numeric_limits<std::size_t>::max();
      for (const Entry& entry : work.entries) {
        if (!entry.candidate.refusal.empty()) continue;
        std::size_t length = 0;
        for (const KernelSource& source : entry.kernels()) length += source.text.size();
        if (length >= least) continue;
        least = length;
        chosen = &entry;
      }
      ASSERT_NE(chosen, nullptr);
      const std::shared_ptr<const Variant> right = chosen->build();
      const planner::Comparison comparison = trials.compare(*right);
      EXPECT_TRUE(comparison.right()) << device.id() << ": " << comparison.text();
      const Image out = Image::on(device, work.output);
      for (const std::size_t row : {std::size_t{0}, std::size_t{200}, out.rows() - 1}) {
        const std::size_t at = row * out.pitch() + (out.columns() - 1) * out.shape().pixel_bytes();
        const auto wrong = depth == Depth::u8 ? bytes_of_value(std::uint8_t{255})
                                              : bytes_of_value(std::numeric_limits<float>::quiet_NaN());
        const planner::Comparison found = trials.compare(WrongPixel(right, at, wrong));
        EXPECT_FALSE(found.right()) << device.id() << ", row " << row;
        EXPECT_EQ(found.where.substr(0, found.where.find(',')), "row " + std::to_string(row));
      }
    }
  }
}

}  // namespace
}  // namespace ridge::image
