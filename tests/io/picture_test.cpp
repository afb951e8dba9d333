// Pictures of fields: colours, legends, axes, magnification, NaN; and image files.
#include "io/images/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "io/grid_support.hpp"
#include "support/scratch.hpp"

namespace ridge::io {
namespace {

using test::error_of;
using test::MemoryGrid;
using testing::HasSubstr;

TEST(ColourMaps, LightnessRunsEvenly) {
  for (const ColourMap& map : colour_maps()) {
    if (map.name == "grey") continue;  // shows values unchanged
    const std::size_t half = map.diverging ? 128 : 0;
    const double first = lightness(map.table[half]), last = lightness(map.table[255]);
    for (std::size_t i = half; i < 256; ++i) {
      const double share = static_cast<double>(i - half) / static_cast<double>(255 - half);
      EXPECT_NEAR(lightness(map.table[i]), first + share * (last - first), 0.015) << map.name << " " << i;
      if (map.diverging) {
        EXPECT_NEAR(lightness(map.table[i]), lightness(map.table[255 - i]), 0.02);
      }
    }
    EXPECT_GT(std::abs(last - first), 0.5) << map.name;
    std::set<std::array<int, 3>> different;
    for (const Colour& c : map.table) different.insert({c.red, c.green, c.blue});
    EXPECT_GT(different.size(), 240u) << map.name;
  }
  EXPECT_EQ(colour_map("grey").at(0), (Colour{0, 0, 0}));
  EXPECT_EQ(colour_map("grey").at(7), (Colour{255, 255, 255}));
  EXPECT_NE(colour_map("grey").at(std::nan("")), colour_map("grey").at(0));
  EXPECT_THAT(error_of([] { colour_map("jet"); }, ErrorKind::invalid_argument),
              HasSubstr("ember, fern, balance, grey"));
}

TEST(Font, EveryLetterOfALegendIsThereAndDiffers) {
  std::set<std::array<std::uint8_t, kGlyphHeight>> seen;
  const std::string letters = " 0123456789abcdefghijklmnopqrstuvwxyz+-.,:=()/%_";
  for (const char letter : letters) {
    EXPECT_TRUE(seen.insert(glyph(letter)).second) << letter;
    for (const auto row : glyph(letter)) EXPECT_LT(row, 32);
  }
  EXPECT_FALSE(seen.contains(glyph('\x01')));
  EXPECT_EQ(glyph('Q'), glyph('q'));
}

TEST(LegendNumbers, AreShort) {
  EXPECT_EQ(legend_number(-30), "-30");
  EXPECT_EQ(legend_number(0), "0");
  EXPECT_EQ(legend_number(1.25e-6), "1.25e-06");
  EXPECT_EQ(legend_number(1.0 / 3), "0.333");
  for (const double value : {-1.2345e-300, 9.999e99, -123456.0}) EXPECT_LE(legend_number(value).size(), 10u);
}

TEST(Pictures, SmallGridsAreMagnifiedAndYPointsUp) {
  MemoryGrid<float> grid({2, 3}, {"u"});
  grid.fields[0] = {0, 1, 2, 3, 4, 5};
  const ColourMap& map = colour_map("ember");
  const Picture up = draw_field(grid.source(), 0, {.longest = 60});
  EXPECT_EQ(up.field.width, 60u);
  EXPECT_EQ(up.field.height, 40u);
  EXPECT_EQ(up.least, 0);
  EXPECT_EQ(up.greatest, 5);
  const auto pixel = [](const Picture& p, std::size_t x, std::size_t y) {
    return p.raster.at(p.field.x + x, p.field.y + y);
  };
  EXPECT_EQ(pixel(up, 0, 39), map.at(0));
  EXPECT_EQ(pixel(up, 59, 0), map.at(1));
  EXPECT_EQ(pixel(up, 30, 39), map.at(0.2));
  const Picture down = draw_field(grid.source(), 0, {.longest = 60, .y_up = false});
  EXPECT_EQ(pixel(down, 0, 0), map.at(0));
  const Picture fixed = draw_field(grid.source(), 0, {.low = -5, .high = 15, .longest = 60});
  EXPECT_EQ(pixel(fixed, 0, 39), map.at(0.25));
  const Picture bare = draw_field(grid.source(), 0, {.longest = 60, .legend = false});
  EXPECT_EQ(bare.raster.width, 60u);
  EXPECT_EQ(bare.raster.height, 40u);
}

TEST(Pictures, AxesHaveTicksOutsideTheField) {
  MemoryGrid<float> grid({20, 40}, {"u"});
  const Colour paper{255, 255, 255};
  const PictureOptions plain{.title = "t", .longest = 400};
  PictureOptions with = plain;
  with.x = {.name = "along, m", .first = 100, .step = 10};
  with.y = {.name = "range, m", .first = 4000, .step = 2};
  const Picture bare = draw_field(grid.source(), 0, plain), drawn = draw_field(grid.source(), 0, with);
  EXPECT_GT(drawn.field.x, bare.field.x);
  EXPECT_GT(drawn.raster.height, bare.raster.height);
  const Picture::Area& field = drawn.field;
  // Cells are 10 pixels, and 100 m is at the centre of the first one.
  std::set<std::size_t> below, left;
  for (std::size_t x = 0; x < field.width; ++x)
    if (drawn.raster.at(field.x + x, field.y + field.height + 2) != paper) below.insert(x);
  for (std::size_t y = 0; y < field.height; ++y)
    if (drawn.raster.at(field.x - 3, field.y + y) != paper) left.insert(y);
  EXPECT_EQ(below, (std::set<std::size_t>{105, 305})) << "200 m and 400 m";
  EXPECT_TRUE(left.contains(195)) << "4000 m, at the bottom";
  EXPECT_TRUE(left.contains(95)) << "4020 m, ten cells above";
  for (std::size_t x = 0; x < drawn.raster.width; ++x) EXPECT_EQ(drawn.raster.at(x, drawn.raster.height - 1), paper);
}

TEST(Pictures, LargeGridsAreAveraged) {
  MemoryGrid<double> grid({101, 203}, {"u", "v"});
  for (std::size_t i = 0; i < grid.fields[1].size(); ++i) grid.fields[1][i] = (i % 203 + i / 203) % 2 == 0 ? -1 : 1;
  const Picture picture = draw_field(grid.source(), 1, {.map = "grey", .longest = 102, .legend = false});
  EXPECT_EQ(picture.raster.width, 102u);
  EXPECT_EQ(picture.raster.height, 51u);
  EXPECT_EQ(picture.least, -1);
  EXPECT_EQ(picture.raster.at(50, 25), colour_map("grey").at(0.5));  // two of each
  EXPECT_EQ(picture.raster.at(101, 0), colour_map("grey").at(0));    // the corner cell alone: 202 + 100 is even
}

TEST(Pictures, NotNumbersAreShownApart) {
  MemoryGrid<float> grid({2, 2}, {"u"});
  grid.fields[0] = {1, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3};
  const Picture picture = draw_field(grid.source(), 0, {.map = "grey", .longest = 20});
  EXPECT_EQ(picture.least, 1);
  EXPECT_EQ(picture.greatest, 3);
  EXPECT_EQ(picture.not_numbers, 2u);
  EXPECT_EQ(picture.raster.at(picture.field.x + 15, picture.field.y + 15), colour_map("grey").at(std::nan("")));
  grid.fields[0].assign(4, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(draw_field(grid.source(), 0).not_numbers, 4u);
}

TEST(Pictures, LinesCubesAndConstantsToo) {
  MemoryGrid<float> line({500}, {"u"});
  const Picture curve = draw_field(line.source(), 0, {.title = "A Line, Step 1", .longest = 300});
  std::size_t inked = 0;
  for (std::size_t x = 0; x < curve.field.width; ++x) {
    bool any = false;
    for (std::size_t y = 0; y < curve.field.height; ++y) {
      any |= curve.raster.at(curve.field.x + x, curve.field.y + y) != Colour{255, 255, 255};
    }
    inked += any;
  }
  EXPECT_EQ(inked, curve.field.width);
  MemoryGrid<float> cube({3, 2, 2}, {"u"});
  for (std::size_t i = 0; i < 12; ++i) cube.fields[0][i] = static_cast<float>(i / 4);
  const Picture middle = draw_field(cube.source(), 0);
  EXPECT_EQ(middle.least, 1);
  EXPECT_EQ(middle.greatest, 1);
  EXPECT_EQ(middle.raster.at(middle.field.x, middle.field.y), colour_map("ember").at(0.5));
}

class Png : public testing::Test {
 protected:
  void SetUp() override {
    if (!have_png()) GTEST_SKIP() << "built without libpng";
  }
  test::ScratchFolder folder_;
};

TEST_F(Png, ReadsWhatItWrites) {
  Raster raster(17, 9, {1, 2, 3});
  raster.set(3, 4, {200, 100, 50});
  raster.set(17, 4, {9, 9, 9});  // outside
  write_png(folder_ / "a.png", raster);
  const Raster back = read_png(folder_ / "a.png");
  EXPECT_EQ(back.width, 17u);
  EXPECT_EQ(back.height, 9u);
  EXPECT_EQ(back.channels, 3u);
  EXPECT_EQ(back.values, raster.values);
  Raster grey;
  grey.width = grey.height = 2;
  grey.channels = 1;
  grey.values = {0, 80, 160, 255};
  write_png(folder_ / "b.png", grey);
  EXPECT_EQ(read_png(folder_ / "b.png").channels, 1u);
  EXPECT_EQ(read_png(folder_ / "b.png").values, grey.values);
}

// A header of a few bytes must not allocate gigabytes: the limit is what deflate can expand the file to.
TEST_F(Png, SizesThatTheFileCannotHoldAreRefused) {
  std::string bytes = encode_png(Raster(2, 2, {1, 2, 3}));
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (24 - 8 * i));
  };
  put(16, 16384);
  put(20, 16384);
  std::uint32_t sum = 0xffffffff;  // of the chunk's name and contents
  for (std::size_t i = 12; i < 29; ++i) {
    sum ^= static_cast<unsigned char>(bytes[i]);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320 : 0);
  }
  put(29, ~sum);
  std::ofstream(folder_ / "huge.png", std::ios::binary) << bytes;
  try {
    read_png(folder_ / "huge.png");
    FAIL() << "an image of a gigabyte from nothing";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot hold 16384x16384"), std::string::npos) << error.what();
  }
}

TEST_F(Png, DamagedImagesAreRefused) {
  write_png(folder_ / "a.png", draw_field(MemoryGrid<float>({20, 20}, {"u"}).source(), 0).raster);
  const std::string whole = test::contents(folder_ / "a.png");
  const auto complaint = [&](const std::string& bytes) {
    std::ofstream(folder_ / "b.png", std::ios::binary | std::ios::trunc) << bytes;
    return error_of([&] { read_png(folder_ / "b.png"); });
  };
  for (const std::size_t length : {std::size_t{0}, std::size_t{4}, std::size_t{30}, whole.size() / 2}) {
    EXPECT_THAT(complaint(whole.substr(0, length)), HasSubstr("b.png")) << length;
  }
  std::string huge = whole;
  huge[16] = huge[20] = '\x7f';  // width and height of IHDR
  EXPECT_THAT(complaint(huge), HasSubstr("b.png"));
  EXPECT_THAT(complaint("GIF89a"), HasSubstr("b.png"));
  EXPECT_THAT(error_of([&] { read_png(folder_ / "none.png"); }), HasSubstr("no such file"));
}

}  // namespace
}  // namespace ridge::io
