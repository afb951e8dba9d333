// Image files: round trips, rejection by header, damage of every kind.
#include "io/images/pixels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "support/error_of.hpp"
#include "support/scratch.hpp"

namespace ridge::io {
namespace {

Pixels sample(std::size_t width, std::size_t height, std::size_t channels, Sample kind) {
  Pixels pixels{width, height, channels, kind};
  std::mt19937 random(3);
  pixels.bytes.resize(width * height * channels * bytes_of(kind));
  for (std::byte& byte : pixels.bytes) byte = static_cast<std::byte>(random());
  if (kind == Sample::f32) {
    for (std::size_t i = 0; i < pixels.bytes.size(); i += 4) {
      const float value = static_cast<float>(random() % 1000) / 7 - 50;
      std::memcpy(&pixels.bytes[i], &value, 4);
    }
  }
  return pixels;
}

void expect_equal(const Pixels& a, const Pixels& b, const std::string& what) {
  EXPECT_EQ(a.width, b.width) << what;
  EXPECT_EQ(a.height, b.height) << what;
  EXPECT_EQ(a.channels, b.channels) << what;
  EXPECT_EQ(a.sample, b.sample) << what;
  EXPECT_EQ(a.bytes, b.bytes) << what;
}

using Decode = Pixels (*)(std::string_view, const std::string&);
struct Format {
  const char* name;
  std::function<std::string(const Pixels&)> encode;
  Decode decode;
  std::vector<std::size_t> channels;
  std::vector<Sample> samples;
};
std::vector<Format> formats() {
  return {{"png", [](const Pixels& p) { return encode_png(p); }, decode_png, {1, 2, 3, 4}, {Sample::u8, Sample::u16}},
          {"pnm",
           [](const Pixels& p) { return encode_pnm(p); },
           decode_pnm,
           {1, 3},
           {Sample::u8, Sample::u16, Sample::f32}},
          {"tiff",
           [](const Pixels& p) { return encode_tiff(p); },
           decode_tiff,
           {1, 2, 3, 4},
           {Sample::u8, Sample::u16, Sample::f32}}};
}

// True if this build supports the format; else its error names the missing library.
bool have(const Format& format) {
  try {
    format.encode(sample(1, 1, 1, Sample::u8));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_NE(std::string(error.what()).find("built without"), std::string::npos);
    return false;
  }
}

TEST(Pixels, encoded_pixels_are_decoded_unchanged) {
  for (const Format& format : formats()) {
    if (!have(format)) continue;
    for (const std::size_t channels : format.channels) {
      for (const Sample kind : format.samples) {
        for (const auto& [width, height] : {std::pair<std::size_t, std::size_t>{1, 1}, {7, 3}, {1, 50}, {33, 20}}) {
          const Pixels before = sample(width, height, channels, kind);
          expect_equal(format.decode(format.encode(before), "x"), before, format.name);
        }
      }
    }
  }
}

// With a single channel, planar and interleaved are the same: some programs write planar.
TEST(Pixels, a_grey_tiff_may_call_itself_planar) {
  const Format tiff = formats()[2];
  if (!have(tiff)) GTEST_SKIP() << "built without TIFF";
  for (const std::size_t channels : {1, 3}) {
    const Pixels before = sample(7, 3, channels, Sample::u8);
    std::string file = encode_tiff(before);
    const std::size_t entry = file.find(std::string("\x1c\x01\x03\x00\x01\x00\x00\x00\x01", 9));  // planar: 1
    ASSERT_NE(entry, std::string::npos);
    file[entry + 8] = 2;
    if (channels == 1) {
      expect_equal(decode_tiff(file, "x"), before, "planar grey");
    } else {
      EXPECT_THROW(decode_tiff(file, "x"), Error);
    }
  }
}

TEST(Pixels, jpeg_changes_smooth_pixels_little) {
  Pixels smooth{40, 30, 3, Sample::u8};
  smooth.bytes.resize(40 * 30 * 3);
  for (std::size_t i = 0; i < smooth.bytes.size(); ++i)
    smooth.bytes[i] = static_cast<std::byte>(i / 3 % 40 * 4 + i / 120);
  std::string file;
  try {
    file = encode_jpeg(smooth);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Pixels after = decode_jpeg(file, "x");
  ASSERT_EQ(after.bytes.size(), smooth.bytes.size());
  int worst = 0;
  for (std::size_t i = 0; i < after.bytes.size(); ++i) {
    worst = std::max(worst, std::abs(std::to_integer<int>(after.bytes[i]) - std::to_integer<int>(smooth.bytes[i])));
  }
  EXPECT_LE(worst, 8);
  EXPECT_THROW(encode_jpeg(sample(3, 3, 1, Sample::u16)), Error);
}

// Found by the fuzzer: a header that claims a gigabyte, with no data.
TEST(Pixels, a_jpeg_that_promises_more_than_it_holds_is_refused) {
  const Pixels small = sample(9, 5, 1, Sample::u8);
  std::string file;
  try {
    file = encode_jpeg(small);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const std::size_t frame = file.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  file.replace(frame + 5, 4, "\x40\x01\xfe\x2f");  // 16385 rows of 65071
  try {
    decode_jpeg(file, "bomb.jpg");
    FAIL() << "decoded";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("bomb.jpg: 65071x16385 pixels cannot be in "), 0u) << error.what();
  }
}

TEST(Pixels, damaged_files_are_refused_or_read_but_nothing_else) {
  std::mt19937 random(9);
  std::vector<std::pair<std::string, std::function<void(std::string_view)>>> files;
  for (const Format& format : formats()) {
    if (!have(format)) continue;
    for (const Sample kind : format.samples) {
      const Decode decode = format.decode;
      files.emplace_back(format.encode(sample(9, 5, 3, kind)),
                         [decode](std::string_view bytes) { decode(bytes, "damaged"); });
    }
  }
  try {
    files.emplace_back(encode_jpeg(sample(9, 5, 3, Sample::u8)),
                       [](std::string_view bytes) { decode_jpeg(bytes, "damaged"); });
  } catch (const Error&) {
  }
  files.emplace_back(encode_flo({3, 2, std::vector<float>(12, 1.0f)}),
                     [](std::string_view bytes) { decode_flo(bytes, "damaged"); });
  files.emplace_back("P3\n2 2\n255\n1 2 3 4 5 6 7 8 9 10 11 12\n",
                     [](std::string_view bytes) { decode_pnm(bytes, "damaged"); });
  for (const auto& [file, decode] : files) {
    const auto attempt = [&read = decode](const std::string& bytes) {
      try {
        read(bytes);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
        EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos) << error.what();
      }
    };
    EXPECT_NO_THROW(decode(file));
    for (std::size_t length = 0; length < file.size(); length += 1 + length / 64) attempt(file.substr(0, length));
    for (int round = 0; round < 400; ++round) {
      std::string bytes = file;
      for (int k = 0; k < 1 + round % 3; ++k)
        bytes[random() % std::min<std::size_t>(bytes.size(), 200)] = static_cast<char>(random());
      attempt(bytes);
    }
  }
}

// Each prefix of a file gives the whole image, an error or a warning.
TEST(Pixels, a_truncated_image_is_never_taken_for_a_whole_one) {
  const test::Warnings warnings;
  std::vector<std::pair<std::string, Decode>> files;
  for (const Format& format : formats()) {
    if (have(format)) files.emplace_back(format.encode(sample(40, 30, 3, format.samples.front())), format.decode);
  }
  try {
    files.emplace_back(encode_jpeg(sample(40, 30, 3, Sample::u8)), decode_jpeg);
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::unavailable);
  }
  for (const auto& [file, decode] : files) {
    const Pixels whole = decode(file, "whole");
    for (std::size_t length = 0; length < file.size(); length += 1 + length / 100) {
      const std::size_t before = warnings.messages.size();
      try {
        const Pixels got = decode(std::string_view(file).substr(0, length), "cut");
        EXPECT_TRUE(got.bytes == whole.bytes || warnings.messages.size() > before) << length << " of " << file.size();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
      }
    }
  }
}

TEST(Pixels, images_that_follow_the_first_are_not_ignored_silently) {
  const auto warned = [](const std::string& file, Decode decode) {
    const test::Warnings warnings;
    decode(file, "joined");
    return warnings.messages;
  };
  using testing::HasSubstr;
  for (const Sample kind : {Sample::u8, Sample::u16, Sample::f32}) {
    const std::string one = encode_pnm(sample(6, 4, 1, kind));
    EXPECT_THAT(warned(one + "\n", decode_pnm), testing::IsEmpty());
    EXPECT_THAT(warned(one + one, decode_pnm),
                testing::ElementsAre(HasSubstr(fmt::format("{} bytes follow the image", one.size()))));
  }
  EXPECT_THAT(warned("P2 1 1 255 7 \n", decode_pnm), testing::IsEmpty());
  EXPECT_THAT(warned("P2 1 1 255 7 8", decode_pnm), testing::ElementsAre(HasSubstr("1 bytes follow")));
  const std::string flow = encode_flo({3, 2, std::vector<float>(12, 1.0f)});
  EXPECT_THROW(decode_flo(flow + flow, "joined"), Error);
  // A TIFF file with a second directory for the same rows.
  try {
    std::string tiff = encode_tiff(sample(6, 4, 1, Sample::u8));
    const auto at = [&](std::size_t byte) { return std::size_t{static_cast<unsigned char>(tiff[byte])}; };
    const std::size_t first = at(4) | at(5) << 8 | at(6) << 16,
                      next = first + 2 + 12 * (at(first) | at(first + 1) << 8);
    tiff.resize(tiff.size() + tiff.size() % 2);
    const std::string directory = tiff.substr(first, next + 4 - first);
    for (std::size_t i = 0; i < 4; ++i) tiff[next + i] = static_cast<char>(tiff.size() >> (8 * i));
    EXPECT_THAT(warned(tiff + directory, decode_tiff), testing::ElementsAre(HasSubstr("holds several images")));
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::unavailable);
  }
}

TEST(Pixels, an_image_bomb_is_refused_by_its_header) {
  const auto message = [](const std::function<void()>& call) { return ridge::test::error_of(call); };
  EXPECT_NE(message([] { decode_pnm("P5\n4000000000 4000000000\n255\n", "bomb"); }).find("not read"),
            std::string::npos);
  EXPECT_NE(message([] { decode_pnm("P5\n30000 30000\n255\nxx", "bomb"); }).find("ends too early"), std::string::npos);
  const float magic = 202021.25f;
  const std::int32_t sizes[2] = {2000000000, 2000000000};
  std::string flo(12, '\0');
  std::memcpy(flo.data(), &magic, 4);
  std::memcpy(flo.data() + 4, sizes, 8);
  EXPECT_NE(message([&] { decode_flo(flo, "bomb"); }).find("not read"), std::string::npos);
  const Format png = formats().front();
  if (!have(png)) return;
  // The header with another size and its checksum.
  const auto bomb = [&](std::uint32_t side) {
    std::string file = png.encode(sample(1, 1, 1, Sample::u8));
    const auto put = [&](std::size_t at, std::uint32_t value) {
      for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<char>(value >> (24 - 8 * i));
    };
    put(16, side);
    put(20, side);
    std::uint32_t crc = 0xffffffffu;
    for (std::size_t i = 12; i < 29; ++i) {
      crc ^= static_cast<unsigned char>(file[i]);
      for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
    }
    put(29, ~crc);
    return message([&] { decode_png(file, "bomb"); });
  };
  EXPECT_NE(bomb(200000).find("not read"), std::string::npos) << bomb(200000);
  EXPECT_NE(bomb(30000).find("cannot be in"), std::string::npos) << bomb(30000);
}

TEST(Pixels, the_format_follows_the_name_and_the_first_bytes) {
  const test::ScratchFolder folder;
  const Pixels grey = sample(6, 4, 1, Sample::u8);
  for (const char* name : {"a.png", "a.pgm", "a.tiff", "a.npy"}) {
    try {
      write_pixels(folder / name, grey);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::unavailable);
      continue;
    }
    expect_equal(read_pixels(folder / name), grey, name);
  }
  const Pixels deep = sample(6, 4, 4, Sample::u16);
  write_pixels(folder / "deep.npy", deep);
  expect_equal(read_pixels(folder / "deep.npy"), deep, "16 bits as .npy");
  EXPECT_THROW(write_pixels(folder / "a.bmp", grey), Error);
  EXPECT_THROW(write_pixels(folder / "a.pgm", sample(6, 4, 3, Sample::u8)), Error);
  EXPECT_THROW(write_pixels(folder / "a.pfm", grey), Error);
  EXPECT_THROW(read_pixels(folder / "missing.png"), Error);
}

}  // namespace
}  // namespace ridge::io
