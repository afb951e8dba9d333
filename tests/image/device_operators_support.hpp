// Shared helpers for tests of operators on devices: comparison of every variant with the reference.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "image/operators/reference.hpp"
#include "image/operators_support.hpp"
#include "image/variant.hpp"
#include "support/devices.hpp"

namespace ridge::image {

class DeviceOperators : public test::NeedsAccelerator<> {
 protected:
  const std::vector<Device> all = test::accelerators();
};

inline bool slow() { return std::getenv("RIDGE_SLOW") != nullptr; }

// Largest error of a variant; with `odd`, images have offsets and pitches without any alignment.
inline double error_of(const Device& device, const OperatorProblem& problem, const Entry& entry, bool odd = false) {
  const Image images[2] = {test::random_image(problem.input, 1), test::random_image(problem.input, 2)};
  const std::span<const Image> in(images, inputs(problem));
  const Plain expected = reference(problem, plain_of(images[0]), plain_of(images[1]));
  const auto variant = entry.build();
  Image out(output_shape(problem));
  std::memset(out.bytes(), 0xff, out.span_bytes());
  if (!odd) {
    variant->run(in, out);
    return test::worst_difference(out, expected);
  }
  Queue queue = device.queue();
  const auto unaligned = [&](const Shape& shape) {
    const std::size_t one = bytes_of(shape.depth), pitch = shape.row_bytes() + one;
    return Image::of(device.buffer(shape.rows * pitch + one, {.name = "odd"}), shape, pitch, one);
  };
  std::vector<Image> resident;
  for (const Image& image : in) {
    resident.push_back(unaligned(image.shape()));
    upload(queue, image, resident.back());
  }
  const Image there = unaligned(out.shape());
  variant->enqueue(queue, resident, there);
  download(queue, there, out);
  queue.finish();
  return test::worst_difference(out, expected);
}

// Bands and blend round the results of their first product to two bytes; windows rounds weights to fractions of a power
// of two, resample to 16 bits.
inline double allowed_of(const OperatorProblem& problem, const Entry& entry) {
  const std::string& variant = entry.candidate.variant;
  return test::allowed_error(problem) + (variant == "bands"      ? 0.02
                                         : variant == "blend"    ? 0.02
                                         : variant == "windows"  ? 0.004
                                         : variant == "resample" ? 0.012
                                                                 : 0);
}

// Entries of one variant for a problem on a device.
inline std::vector<Entry> ways_of(const Device& device, const OperatorProblem& problem, std::string_view variant) {
  std::vector<Entry> entries = list_variants(device, problem);
  std::erase_if(entries, [&](const Entry& entry) { return entry.candidate.variant != variant; });
  return entries;
}

struct Kind {
  std::size_t channels;
  Depth depth;
  Border border;
};
inline constexpr Kind kKinds[] = {{1, Depth::u8, Border::reflect_101}, {3, Depth::f32, Border::constant},
                                  {4, Depth::u16, Border::wrap},       {2, Depth::u8, Border::replicate},
                                  {1, Depth::f32, Border::reflect},    {3, Depth::u8, Border::reflect_101}};

struct Filtered {
  std::size_t channels;
  Border border;
  Operation operation;
  const char* parameter = "";  // part of the expected name of the variant
};
using Sizes = std::vector<std::pair<std::size_t, std::size_t>>;

}  // namespace ridge::image
