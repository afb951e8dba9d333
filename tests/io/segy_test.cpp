// Tests the reading of SEG-Y files, whose bytes are written here.
#include "io/arrays/segy.hpp"

#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

struct SegyBytes {
  std::string bytes{};

  explicit SegyBytes(int format, int micros, int samples, int extended = 0) : bytes(3600, '\0') {
    put16(3216, micros), put16(3220, samples), put16(3224, format), put16(3504, extended);
    bytes.resize(bytes.size() + 3200 * static_cast<std::size_t>(extended));
  }
  void put16(std::size_t at, int value) {
    bytes[at] = static_cast<char>(value >> 8 & 255);
    bytes[at + 1] = static_cast<char>(value & 255);
  }
  void put32(std::size_t at, int value) { put16(at, value >> 16), put16(at + 2, value); }

  // Positions are depth, y and x; scalars as in the file.
  std::size_t add_trace(int record, std::array<int, 3> source, std::array<int, 3> receiver, int heights, int lengths) {
    const std::size_t at = bytes.size();
    bytes.resize(at + 240);
    put32(at + 8, record);
    put32(at + 40, -receiver[0]), put32(at + 48, source[0]);
    put16(at + 68, heights), put16(at + 70, lengths);
    put32(at + 72, source[2]), put32(at + 76, source[1]), put32(at + 80, receiver[2]), put32(at + 84, receiver[1]);
    put16(at + 88, 1);
    return at;
  }
  void add_sample(std::uint32_t bits) {
    bytes.resize(bytes.size() + 4);
    put32(bytes.size() - 4, static_cast<int>(bits));
  }
};

// The result of `work` with the name of a file of these bytes.
template <class Work>
auto with_file(const SegyBytes& bytes, const Work& work) {
  const auto file = std::filesystem::temp_directory_path() /
                    (std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".sgy");
  std::ofstream(file, std::ios::binary) << bytes.bytes;
  const auto remove = std::unique_ptr<const std::filesystem::path, void (*)(const std::filesystem::path*)>(
      &file, [](const std::filesystem::path* path) { std::filesystem::remove(*path); });
  return work(file.string());
}

Segy read(const SegyBytes& bytes) {
  return with_file(bytes, [](const std::string& file) { return read_segy(file, true); });
}

std::string defect(const SegyBytes& bytes) {
  try {
    read(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Values of IBM's documentation, and the largest and smallest powers of 16.
TEST(Segy, ReadsIbmFloats) {
  SegyBytes file(1, 2000, 6);
  file.add_trace(1, {0, 0, 0}, {0, 0, 0}, 1, 1);
  for (const std::uint32_t bits : {0x42640000u, 0xc276a000u, 0u, 0x40100000u, 0x41100000u, 0x00000001u})
    file.add_sample(bits);
  const Segy segy = read(file);
  EXPECT_EQ(segy.values, (std::vector<float>{100, -118.625f, 0, 0.0625f, 1, 0}));
  EXPECT_DOUBLE_EQ(segy.interval, 2e-3);
}

TEST(Segy, ReadsIeeeFloatsAndIntegers) {
  SegyBytes floats(5, 500, 2, 1);  // with an extended text header
  floats.add_trace(1, {0, 0, 0}, {0, 0, 0}, 1, 1);
  floats.add_sample(std::bit_cast<std::uint32_t>(-1.5f)), floats.add_sample(std::bit_cast<std::uint32_t>(3e-20f));
  EXPECT_EQ(read(floats).values, (std::vector<float>{-1.5f, 3e-20f}));
  SegyBytes words(2, 500, 1);
  words.add_trace(1, {0, 0, 0}, {0, 0, 0}, 1, 1);
  words.add_sample(static_cast<std::uint32_t>(-70000));
  EXPECT_EQ(read(words).values, std::vector<float>{-70000});
  SegyBytes shorts(3, 500, 2);
  shorts.add_trace(1, {0, 0, 0}, {0, 0, 0}, 1, 1);
  shorts.add_sample(0x8000fffe);
  EXPECT_EQ(read(shorts).values, (std::vector<float>{-32768, -2}));
  SegyBytes bytes(8, 500, 4);
  bytes.add_trace(1, {0, 0, 0}, {0, 0, 0}, 1, 1);
  bytes.add_sample(0x7f80ff01);
  EXPECT_EQ(read(bytes).values, (std::vector<float>{127, -128, -1, 1}));
}

// Scalars below 0 divide, those above 0 multiply, and 0 does neither. Elevations are upwards.
TEST(Segy, AppliesScalarsAndFindsShots) {
  SegyBytes file(5, 1000, 1);
  file.add_trace(7, {250, 0, 3000}, {-150, 400, 100}, -100, 10), file.add_sample(0);
  file.add_trace(7, {250, 0, 3000}, {0, 0, 200}, -100, 10), file.add_sample(0);
  const std::size_t last = file.add_trace(8, {4, 5, 6}, {1, 2, 3}, 0, 0);
  file.put32(last + 44, 30);  // the source's elevation
  file.add_sample(0);
  const Segy segy = read(file);
  ASSERT_EQ(segy.traces.size(), 3u);
  EXPECT_EQ(segy.shot_begin, (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(segy.traces[0].source, (std::array<double, 3>{2.5, 0, 30000}));
  EXPECT_EQ(segy.traces[0].receiver, (std::array<double, 3>{-1.5, 4000, 1000}));
  EXPECT_EQ(segy.traces[2].source, (std::array<double, 3>{4 - 30, 5, 6}));
  EXPECT_EQ(segy.traces[2].receiver, (std::array<double, 3>{1, 2, 3}));
}

// The interval is read without the samples: files that end before them have one.
TEST(Segy, ReadsTheIntervalFromHeaders) {
  SegyBytes file(5, 2500, 100), in_trace(5, 0, 100);
  EXPECT_DOUBLE_EQ(with_file(file, segy_interval), 2.5e-3);
  EXPECT_EQ(with_file(in_trace, segy_interval), 0);
  const std::size_t trace = in_trace.add_trace(1, {0, 0, 0}, {0, 0, 0}, 1, 1);
  in_trace.put16(trace + 116, 500);
  EXPECT_DOUBLE_EQ(with_file(in_trace, segy_interval), 5e-4);
  file.bytes.resize(3599);
  EXPECT_THROW(with_file(file, segy_interval), Error);
}

TEST(Segy, RefusesDamagedFiles) {
  SegyBytes good(5, 1000, 2);
  const std::size_t trace = good.add_trace(1, {0, 0, 0}, {0, 0, 0}, 1, 1);
  good.add_sample(0), good.add_sample(0);
  EXPECT_EQ(defect(good), "");
  SegyBytes one = good;
  one.bytes.resize(3599);
  EXPECT_NE(defect(one).find("ends within the 3600 bytes"), std::string::npos);
  one.bytes = good.bytes.substr(0, 3600);
  EXPECT_NE(defect(one).find("has none"), std::string::npos);
  one.bytes = good.bytes.substr(0, 3700);
  EXPECT_NE(defect(one).find("ends within the header of trace 1"), std::string::npos);
  one.bytes = good.bytes.substr(0, good.bytes.size() - 1);
  EXPECT_NE(defect(one).find("ends within the 2 samples of trace 1"), std::string::npos);
  one = good;
  one.put16(3224, 1280);  // 5 in the other byte order
  EXPECT_NE(defect(one).find("samples of format 1280"), std::string::npos);
  one = good;
  one.put16(3504, -1);
  EXPECT_NE(defect(one).find("-1 extended text headers"), std::string::npos);
  one = good;
  one.put16(trace + 88, 2);
  EXPECT_NE(defect(one).find("are angles (units 2)"), std::string::npos);
  one = good;
  one.put16(trace + 114, 3);
  EXPECT_NE(defect(one).find("trace 1 has 3 samples, the file header says 2"), std::string::npos);
  one = good;
  const std::size_t second = one.add_trace(1, {0, 0, 0}, {0, 0, 0}, 1, 1);
  one.put16(second + 114, 3);
  EXPECT_NE(defect(one).find("trace 2 has 3 samples, those before have 2"), std::string::npos);
  one = good;
  one.put16(3220, 0);
  EXPECT_NE(defect(one).find("say 0 samples per trace"), std::string::npos);
}

}  // namespace
}  // namespace ridge::io
