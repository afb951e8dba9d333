// Tests of the operator invert: values of every depth, and the image itself after two inversions.
#include <gtest/gtest.h>

#include <cstring>

#include "image/operators_support.hpp"
#include "image/variant.hpp"

namespace ridge::image {
namespace {

// Results of every host variant, which must be the same.
Image on_host(const std::string& chain, const Image& in) {
  const OperatorProblem problem{.input = in.shape(), .chain = parse_chain(chain)};
  Image first;
  for (const Entry& entry : list_variants(host(), problem)) {
    Image out(output_shape(problem));
    std::memset(out.bytes(), 0xff, out.span_bytes());
    entry.build()->run(std::span(&in, 1), out);
    if (!first) first = out;
    for (std::size_t r = 0; r < out.rows(); ++r) {
      EXPECT_EQ(std::memcmp(out.row<std::byte>(r), first.row<std::byte>(r), out.shape().row_bytes()), 0)
          << entry.candidate.name();
    }
  }
  return first;
}

template <class T>
Image row_of(Depth depth, const std::vector<T>& values) {
  Image image({1, values.size(), 1, depth});
  std::copy(values.begin(), values.end(), image.row<T>(0));
  return image;
}
template <class T>
std::vector<T> values_of(const Image& image) {
  return {image.row<T>(0), image.row<T>(0) + image.columns()};
}

TEST(Invert, IsTheLargestValueMinusTheValue) {
  EXPECT_EQ(values_of<std::uint8_t>(on_host("invert", row_of<std::uint8_t>(Depth::u8, {0, 1, 128, 255}))),
            (std::vector<std::uint8_t>{255, 254, 127, 0}));
  EXPECT_EQ(values_of<std::uint16_t>(on_host("invert", row_of<std::uint16_t>(Depth::u16, {0, 256, 65535}))),
            (std::vector<std::uint16_t>{65535, 65279, 0}));
  EXPECT_EQ(values_of<float>(on_host("invert", row_of<float>(Depth::f32, {0, 0.25F, 1, -2}))),
            (std::vector<float>{1, 0.75F, 0, 3}));
}

TEST(Invert, TwiceIsTheImageItself) {
  for (const Shape& shape : {Shape{1, 1, 1, Depth::u8}, Shape{3, 2, 4, Depth::u16}, Shape{17, 101, 3, Depth::u8}}) {
    const Image in = test::random_image(shape, 9), out = on_host("invert | invert", in);
    for (std::size_t r = 0; r < shape.rows; ++r) {
      EXPECT_EQ(std::memcmp(in.row<std::byte>(r), out.row<std::byte>(r), shape.row_bytes()), 0) << shape.text();
    }
  }
}

}  // namespace
}  // namespace ridge::image
