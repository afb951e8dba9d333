// Tests of the conventions in docs/image.md with small tables: ours, and those of OpenCV 4.6 with Like::opencv. The
// numbers were computed from the stated formulas; cv2 gave the same values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <ridge/image.hpp>

#include "image/operators/gauss/gauss.hpp"
#include "image/variant.hpp"

namespace ridge::image {
namespace {

using Table = std::vector<std::vector<float>>;

Image image_of(const Table& table) {
  Image image({table.size(), table[0].size(), 1, Depth::f32});
  for (std::size_t r = 0; r < table.size(); ++r)
    std::memcpy(image.row<float>(r), table[r].data(), table[r].size() * sizeof(float));
  return image;
}

Image copied(const Image& image, Depth depth) {
  Image out({image.rows(), image.columns(), image.channels(), depth});
  convert(image, out);
  return out;
}

// Result of a chain by all host variants, which must agree to 1e-4.
Image answer(const std::string& chain, const Image& in, std::optional<Border> border = {}, Like like = Like::ridge,
             double constant = 0) {
  OperatorProblem problem{
      .input = in.shape(), .chain = parse_chain(chain, like), .border = border, .constant = constant, .threads = 2};
  Image first;
  for (const Entry& entry : list_variants(host(), problem)) {
    if (!entry.candidate.refusal.empty()) continue;
    Image out(output_shape(problem));
    std::memset(out.bytes(), 0xff, out.span_bytes());
    entry.build()->run(std::span(&in, 1), out);
    if (!first) first = out;
    const Image a = copied(first, Depth::f32), b = copied(out, Depth::f32);
    for (std::size_t r = 0; r < out.rows(); ++r) {
      for (std::size_t i = 0; i < out.columns() * out.channels(); ++i)
        EXPECT_NEAR(b.row<float>(r)[i], a.row<float>(r)[i], 1e-4) << chain << " by " << entry.candidate.variant;
    }
  }
  return first;
}

void expect_row(const Image& image, std::size_t row, const std::vector<float>& wanted, float allowed = 2e-5f) {
  ASSERT_EQ(image.columns() * image.channels(), wanted.size());
  const Image values = copied(image, Depth::f32);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(values.row<float>(row)[i], wanted[i], allowed) << "row " << row << ", value " << i;
}
void expect_table(const Image& image, const Table& wanted) {
  ASSERT_EQ(image.rows(), wanted.size());
  for (std::size_t r = 0; r < wanted.size(); ++r) expect_row(image, r, wanted[r]);
}

Image ramp(std::size_t rows, std::size_t columns, float slope) {
  Image image({rows, columns, 1, Depth::f32});
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) image.row<float>(r)[c] = slope * static_cast<float>(c);
  }
  return image;
}

const Table kTexture{{0, 13, 52, 20, 14, 34, 80},
                     {7, 25, 69, 42, 41, 66, 20},
                     {28, 51, 3, 78, 82, 15, 71},
                     {63, 91, 48, 31, 40, 75, 39},
                     {15, 48, 10, 95, 12, 52, 21}};

// OpenCV and Pillow round the scaled size half to even.
TEST(Conventions, sizes_by_scale) {
  const auto size = [](std::size_t columns, double scale) {
    return output_shape(Resize{.scale = scale}, {20, columns, 1, Depth::u8}).columns;
  };
  EXPECT_EQ(size(5, 0.5), 2u);
  EXPECT_EQ(size(7, 0.5), 4u);
  EXPECT_EQ(size(101, 0.37), 37u);
  EXPECT_EQ(size(203, 0.37), 75u);
  EXPECT_EQ(size(1, 0.1), 1u);
}

// 10 pixels scaled by 0.37 are 4: our samples are 10 / 4 apart, as with a given size and in Pillow; OpenCV's are 1 /
// 0.37 apart.
TEST(Conventions, resize_by_scale) {
  const Image in = ramp(10, 10, 10);
  expect_row(answer("resize 0.37", in), 1, {7.5f, 32.5f, 57.5f, 82.5f});
  expect_row(answer("resize 4x4", in), 1, {7.5f, 32.5f, 57.5f, 82.5f});
  expect_row(answer("resize 4x4", in, {}, Like::opencv), 1, {7.5f, 32.5f, 57.5f, 82.5f});
  expect_row(answer("resize 0.37", in, {}, Like::opencv), 1, {8.5135136f, 35.540543f, 62.567566f, 89.594589f});
  expect_row(answer("resize 0.37 nearest", in), 1, {0, 20, 50, 70});
  expect_row(answer("resize 0.37 nearest", in, {}, Like::opencv), 1, {0, 20, 50, 80});
  expect_row(answer("resize 0.37 area", in), 1, {8, 32, 58, 82});
  expect_row(answer("resize 0.37 area", in, {}, Like::opencv), 1, {8.9f, 35.6f, 62.3f, 85.285728f});
  Image squares = ramp(10, 10, 1);
  for (std::size_t r = 0; r < 10; ++r) {
    for (std::size_t c = 0; c < 10; ++c) squares.row<float>(r)[c] *= squares.row<float>(r)[c];
  }
  expect_row(answer("resize 0.37 bicubic", squares, {}, Like::opencv), 1,
             {0.63116866f, 12.414266f, 39.655033f, 80.480453f}, 1e-4f);
}

// 5 pixels scaled by 1.08 remain 5: a copy in both conventions.
TEST(Conventions, an_unchanged_size_is_a_copy) {
  const Image in = ramp(5, 5, 10);
  for (const char* chain : {"resize 1.08", "resize 1.08 nearest", "resize 1.08 bicubic", "resize 1.08 area"}) {
    expect_row(answer(chain, in), 1, {0, 10, 20, 30, 40});
    expect_row(answer(chain, in, {}, Like::opencv), 1, {0, 10, 20, 30, 40});
  }
}

// A scale that rounds to half the size is exact downscaling by two only if samples are two pixels apart.
TEST(Conventions, a_scale_near_one_half_keeps_its_distance) {
  const Image in = ramp(100, 100, 1);
  EXPECT_NEAR(answer("resize 0.499", in, {}, Like::opencv).row<float>(3)[49], 98.698397f, 2e-5f);
  EXPECT_EQ(answer("resize 0.499", in).row<float>(3)[49], 98.5f);
  EXPECT_EQ(answer("resize 0.5", in, {}, Like::opencv).row<float>(3)[49], 98.5f);
}

// OpenCV multiplies by a rounded quotient: 49 * (1 / (98 / 2)) is below 1.
TEST(Conventions, nearest_rounds_boundaries_as_documented) {
  const Image in = ramp(2, 2, 1);
  EXPECT_EQ(answer("resize 98x2 nearest", in).row<float>(0)[49], 1);
  EXPECT_EQ(answer("resize 98x2 nearest", in, {}, Like::opencv).row<float>(0)[49], 0);
  EXPECT_EQ(answer("resize 98x2 nearest", in, {}, Like::opencv).row<float>(0)[50], 1);
}

// Along an axis that is enlarged, our area interpolation is bilinear; OpenCV uses a different blend along both axes.
TEST(Conventions, area_is_bilinear_where_an_axis_grows) {
  const Image in = ramp(4, 5, 10);
  expect_row(answer("resize 1.6 area", in), 1, {0, 4.375f, 10.625f, 16.875f, 23.125f, 29.375f, 35.625f, 40});
  expect_row(answer("resize 1.6 area", in, {}, Like::opencv), 1, {0, 4, 10, 18, 22, 30, 36, 40});
  expect_row(answer("resize 15x5 area", ramp(10, 10, 10), {}, Like::opencv), 1,
             {0, 5, 10, 20, 25, 30, 40, 45, 50, 60, 65, 70, 80, 85, 90});
}

TEST(Conventions, gradients) {
  const Image in = ramp(5, 5, 1);
  const auto middle = [&](const char* kind, Like like) {
    const Image out = answer(std::string("gradient ") + kind, in, {}, like);
    return std::pair{out.row<float>(2)[4], out.row<float>(2)[5]};
  };
  for (const char* kind : {"sobel", "scharr", "central"})
    EXPECT_EQ(middle(kind, Like::ridge), (std::pair{1.0f, 0.0f})) << kind;
  EXPECT_EQ(middle("sobel", Like::opencv), (std::pair{8.0f, 0.0f}));
  EXPECT_EQ(middle("scharr", Like::opencv), (std::pair{32.0f, 0.0f}));
  EXPECT_EQ(middle("central", Like::opencv), (std::pair{2.0f, 0.0f}));
  const Image down = answer("gradient sobel opencv | transpose", answer("transpose", in));
  EXPECT_EQ(down.row<float>(2)[5], 8);  // d/dy of a ramp downwards
}

// OpenCV (cv::medianBlur) and Pillow (MedianFilter) replicate the edge.
TEST(Conventions, median_repeats_the_edge) {
  const Image in = image_of({{9, 1, 5}, {2, 7, 3}, {4, 8, 6}});
  expect_row(answer("median 1", in), 0, {7, 5, 5});
  expect_row(answer("median 1", in, Border::reflect_101), 0, {7, 3, 5});
}

// OpenCV and Pillow fill uncovered areas of a rotation with black.
TEST(Conventions, rotation_uncovers_black) {
  Image in({40, 60, 3, Depth::u8});
  std::memset(in.bytes(), 200, in.span_bytes());
  for (const char* chain : {"rotate 30", "rotate 30 nearest", "rotate 30 bicubic"}) {
    const Image out = answer(chain, in), grey = answer(chain, in, {}, Like::ridge, 77),
                mirrored = answer(chain, in, Border::reflect_101);
    for (const std::size_t r : {0, 39}) {
      for (const std::size_t c : {0, 59}) {
        EXPECT_EQ(out.row<std::uint8_t>(r)[3 * c], 0) << chain;
        EXPECT_EQ(grey.row<std::uint8_t>(r)[3 * c + 1], 77) << chain;
        EXPECT_EQ(mirrored.row<std::uint8_t>(r)[3 * c + 2], 200) << chain;
      }
    }
    EXPECT_EQ(out.row<std::uint8_t>(20)[3 * 30], 200) << chain;
  }
  // The other operators of a chain keep their own default borders.
  expect_row(answer("box 3 | rotate 90", in), 0, std::vector<float>(120, 200));
}

// cv::warpAffine samples at multiples of 1/32 pixel.
TEST(Conventions, rotation_like_opencv) {
  const Image in = image_of(kTexture);
  expect_table(answer("rotate 30 nearest", in, {}, Like::opencv), {{0, 0, 20, 14, 66, 20, 0},
                                                                   {13, 52, 42, 41, 82, 15, 39},
                                                                   {7, 25, 3, 78, 40, 75, 21},
                                                                   {7, 51, 3, 31, 31, 12, 52},
                                                                   {0, 63, 91, 10, 95, 0, 0}});
  expect_table(answer("rotate 30", in, {}, Like::opencv),
               {{0, 12.09375f, 15.0390625f, 21.59375f, 56.0117188f, 39.2128906f, 24.3115234f},
                {7.36328125f, 45.4570313f, 44.578125f, 46.3125f, 54.4375f, 32.234375f, 46.21875f},
                {9.796875f, 37.375f, 39, 78, 60.1875f, 65.15625f, 43.609375f},
                {13.4804688f, 42.8554688f, 37.171875f, 39.625f, 45.4375f, 24.1132813f, 30.6835938f},
                {14.4853516f, 60.6357422f, 76.3554688f, 20.6875f, 65.9179688f, 9.94042969f, 0}});
  expect_row(answer("rotate 30 bicubic", in, {}, Like::opencv), 2,
             {4.1609583f, 39.5149307f, 36.6741028f, 78, 67.937851f, 70.2368088f, 53.5996094f}, 1e-4f);
  // Ours samples at the exact position: column 5 of the middle row at (3 + sqrt(3), 3).
  expect_row(answer("rotate 30", in), 2,
             {9.7298187f, 36.7897645f, 39.2153903f, 78, 60.1291651f, 65.6217783f, 43.4644469f});
}

// The weights are exp(-distance^2 / (2 space^2) - colour^2 / (2 sigma^2)); OpenCV's colour distance is the sum of
// absolute differences.
TEST(Conventions, bilateral_distances) {
  Image in({1, 2, 3, Depth::f32});
  const float pixels[6] = {10, 20, 30, 13, 24, 30};  // 5 apart, 3 + 4 by absolute differences
  std::memcpy(in.row<float>(0), pixels, sizeof pixels);
  const double space = std::exp(-1 / (2 * 2.0 * 2.0));
  const double ours = space * std::exp(-25 / (2 * 5.0 * 5.0)), opencv = space * std::exp(-49 / (2 * 5.0 * 5.0));
  // Above and below is the pixel itself (the image has one row), left and right the other pixel.
  const auto red = [&](double other) {
    const double same = 1 + 2 * space, weight = 2 * other;
    return static_cast<float>((same * 10 + weight * 13) / (same + weight));
  };
  EXPECT_NEAR(answer("bilateral 1 2 5", in).row<float>(0)[0], red(ours), 1e-4);
  EXPECT_NEAR(answer("bilateral 1 2 5", in, {}, Like::opencv).row<float>(0)[0], red(opencv), 1e-4);
}

// The side is round(6 sigma + 1), with 8 sigma for 16 bits and float, made odd, as in cv::GaussianBlur without a size.
TEST(Conventions, gauss_radius) {
  const auto radius = [](double sigma, Depth depth) { return gauss_radius({.sigma = sigma}, depth); };
  EXPECT_EQ(radius(0.3, Depth::u8), 1u);
  EXPECT_EQ(radius(0.7, Depth::u8), 2u);
  EXPECT_EQ(radius(1, Depth::u8), 3u);
  EXPECT_EQ(radius(1.05, Depth::u8), 3u);
  EXPECT_EQ(radius(1.2, Depth::u8), 4u);
  EXPECT_EQ(radius(2, Depth::u8), 6u);
  EXPECT_EQ(radius(1, Depth::f32), 4u);
  EXPECT_EQ(radius(1.05, Depth::u16), 4u);
  EXPECT_EQ(radius(0.01, Depth::f32), 1u);
}

TEST(Conventions, names_of_opencv) {
  EXPECT_EQ(border_of("BORDER_REFLECT_101"), Border::reflect_101);
  EXPECT_EQ(border_of("BORDER_DEFAULT"), Border::reflect_101);
  EXPECT_EQ(border_of("BORDER_REFLECT101"), Border::reflect_101);
  EXPECT_EQ(border_of("BORDER_REPLICATE"), Border::replicate);
  EXPECT_EQ(border_of("border_wrap"), Border::wrap);
  EXPECT_EQ(border_of("reflect"), Border::reflect);
  EXPECT_THROW(border_of("BORDER_TRANSPARENT"), Error);
  EXPECT_EQ(interpolation_of("linear"), Interpolation::bilinear);
  EXPECT_EQ(interpolation_of("cubic"), Interpolation::bicubic);
  EXPECT_THROW(like_of("pillow"), Error);
  const auto chain = parse_chain("gauss 2 | gradient scharr | rotate 3", Like::opencv);
  EXPECT_EQ(to_string(chain[1]), "gradient scharr opencv");
  EXPECT_EQ(to_string(chain[2]), "rotate 3 bilinear opencv");
  EXPECT_EQ(to_string(parse_chain("gradient opencv")[0]), "gradient sobel opencv");
  EXPECT_EQ(to_string(parse_chain("gradient ridge", Like::opencv)[0]), "gradient sobel");
  EXPECT_THROW(parse_chain("gauss 2 opencv"), Error);
}

}  // namespace
}  // namespace ridge::image
