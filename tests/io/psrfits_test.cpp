// PSRFITS files of search mode: written here, read through cfitsio.
#include "io/telescopes/fits/psrfits.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/files.hpp"
#include "format_support.hpp"

namespace ridge::io::formats {
namespace {

using testing::HasSubstr;

// Positions of columns in a written file: DAT_WTS, DAT_OFFS and DAT_SCL of a table row, its length, and OFFS_SUB.
struct Layout {
  std::size_t begin, time, weights, offsets, scales, row;
  Layout(const std::string& file, std::size_t channels, std::size_t ifs) {
    begin = (file.find("END      ", 2880) / 2880 + 1) * 2880;
    time = begin + 8, weights = begin + 16 + 8 * channels, offsets = weights + 4 * channels;
    scales = offsets + 4 * channels * ifs;
    const std::size_t at = file.find("NAXIS1  = ", 2880) + 10;
    row = std::stoul(file.substr(at, 20));
  }
};

template <class T>
void put(std::string& file, std::size_t at, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  if constexpr (std::endian::native == std::endian::little) std::reverse(bytes, bytes + sizeof value);
  file.replace(at, sizeof value, bytes, sizeof value);
}

class Psrfits : public FormatTest {
 protected:
  void SetUp() override {
    FormatTest::SetUp();
    if (!have_psrfits()) GTEST_SKIP() << "built without cfitsio";
    path_ = std::filesystem::temp_directory_path() / ("ridge-psrfits-" + std::to_string(::getpid()) + ".fits");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static SigprocHeader usual(int bits, int ifs = 1) {
    SigprocHeader header;
    header.source_name = "B0329+54";
    header.telescope_id = 8;
    header.src_raj = 33259.3681, header.src_dej = -543443.57;
    header.tstart = 59000.25 + 12.5 / 86400;
    header.tsamp = 64e-6;
    header.fch1 = 1500.5, header.foff = -0.125;
    header.nchans = 16, header.nifs = ifs, header.nbits = bits;
    return header;
  }
  std::string written(const SigprocHeader& header, const std::vector<std::byte>& rows) const {
    PsrfitsWriter writer(path_.string(), header);
    const auto half = static_cast<std::ptrdiff_t>(rows.size() / header.row_bytes() / 2 * header.row_bytes());
    writer.write(std::span(rows).first(static_cast<std::size_t>(half)));
    writer.write(std::span(rows).subspan(static_cast<std::size_t>(half)));
    writer.finish();
    return base::read_file(path_, std::size_t{1} << 30).value();
  }
  static std::vector<std::byte> random_rows(const SigprocHeader& header, std::size_t rows) {
    std::mt19937 random(5);
    std::vector<std::byte> bytes(rows * header.row_bytes());
    for (std::byte& one : bytes) one = static_cast<std::byte>(random());
    if (header.nbits != 32) return bytes;
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      const auto value = static_cast<float>(random() % 1000) - 400;
      std::memcpy(&bytes[i], &value, 4);
    }
    return bytes;
  }
  // A value of SIGPROC's rows: the first one is in the lowest bits.
  static double value(const SigprocHeader& header, const std::vector<std::byte>& rows, std::size_t i) {
    const auto bits = static_cast<std::size_t>(header.nbits);
    if (bits == 32) {
      float one = 0;
      std::memcpy(&one, &rows[4 * i], 4);
      return static_cast<double>(one);
    }
    if (bits == 16) return std::to_integer<int>(rows[2 * i]) + 256 * std::to_integer<int>(rows[2 * i + 1]);
    const int byte = std::to_integer<int>(rows[i * bits / 8]);
    const int number = byte >> (i * bits % 8) & ((1 << bits) - 1);
    return header.is_signed && number >= 128 ? number - 256 : number;
  }
  std::filesystem::path path_;
};

TEST_F(Psrfits, WhatIsWrittenIsRead) {
  for (const int bits : {1, 2, 4, 8, -8, 16, 32}) {
    SigprocHeader header = usual(std::abs(bits), bits == 8 ? 2 : 1);
    header.is_signed = bits < 0;
    constexpr std::size_t kRows = 5000;  // more than a table row has
    const std::vector<std::byte> rows = random_rows(header, kRows);
    const std::string bytes = written(header, rows);
    EXPECT_TRUE(looks_like_fits(bytes));
    EXPECT_EQ(bytes.size() % 2880, 0U);
    PsrfitsReader reader(path_.string());
    const SigprocHeader& read = reader.header();
    EXPECT_EQ(read.source_name, header.source_name);
    EXPECT_EQ(read.telescope_id, header.telescope_id);
    EXPECT_NEAR(read.src_raj, header.src_raj, 1e-3);
    EXPECT_NEAR(read.src_dej, header.src_dej, 1e-3);
    EXPECT_NEAR(read.tstart, header.tstart, 1e-10);
    EXPECT_EQ(read.tsamp, header.tsamp);
    EXPECT_EQ(read.fch1, header.fch1);
    EXPECT_NEAR(read.foff, header.foff, 1e-12);
    EXPECT_EQ(read.nchans, header.nchans);
    EXPECT_EQ(read.nifs, header.nifs);
    EXPECT_EQ(read.nbits, 32);
    ASSERT_EQ(reader.rows_left(), kRows);
    const auto width = static_cast<std::size_t>(header.nchans * header.nifs);
    std::vector<float> found(kRows * width);
    std::size_t got = 0;
    while (const std::size_t some = reader.read(found.data() + got * width, std::min<std::size_t>(777, kRows - got)))
      got += some;
    ASSERT_EQ(got, kRows) << bits;
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(static_cast<double>(found[i]), value(header, rows, i)) << bits << " bits, value " << i;
  }
}

TEST_F(Psrfits, ScalesWeightsAndMissingRows) {
  const SigprocHeader header = usual(8);
  constexpr std::size_t kBlock = 4096, kRows = 2 * kBlock, kGap = 5;
  const std::vector<std::byte> rows = random_rows(header, kRows);
  std::string bytes = written(header, rows);
  const Layout at(bytes, 16, 1);
  put(bytes, at.weights + 4 * 2, 0.0F);           // channel 2 of the first table row
  put(bytes, at.row + at.offsets + 4 * 3, 7.5F);  // channel 3 of the second one
  put(bytes, at.row + at.scales + 4 * 3, 0.25F);
  put(bytes, at.row + at.time, (kBlock * 1.5 + kGap) * header.tsamp);  // five samples late
  base::write_file(path_, bytes);
  PsrfitsReader reader(path_.string());
  std::vector<float> found((kRows + kGap) * 16);
  std::size_t got = 0;
  while (const std::size_t some = reader.read(found.data() + got * 16, kRows + kGap - got)) got += some;
  ASSERT_EQ(got, kRows + kGap);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t row = i / 16, channel = i % 16;
    const bool lost = row >= kBlock && row < kBlock + kGap;
    if (lost || (row < kBlock && channel == 2)) {
      ASSERT_TRUE(std::isnan(found[i])) << row << ' ' << channel;
      continue;
    }
    double expected = value(header, rows, row < kBlock ? i : i - kGap * 16);
    if (row >= kBlock && channel == 3) expected = expected * 0.25 + 7.5;
    ASSERT_EQ(static_cast<double>(found[i]), expected) << row << ' ' << channel;
  }
}

TEST_F(Psrfits, DamagedFilesAreRefused) {
  const SigprocHeader header = usual(8);
  const std::string bytes = written(header, random_rows(header, 5000));
  const auto refused = [&](std::string changed) {
    base::write_file(path_, changed);
    try {
      PsrfitsReader reader(path_.string());
      std::vector<float> rows(100 * 16);
      while (reader.read(rows.data(), 100) > 0) continue;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      return std::string(error.what());
    }
    return std::string("read");
  };
  const auto with = [&](const std::string& card, const std::string& value) {
    std::string changed = bytes;
    changed.replace(changed.find(card) + 10, value.size(), value);
    return refused(changed);
  };
  EXPECT_EQ(refused(bytes), "read");
  EXPECT_THAT(with("OBS_MODE= ", "'FOLD  '"), HasSubstr("OBS_MODE must be SEARCH"));
  EXPECT_THAT(with("NBITS   = ", "                   3"), HasSubstr("NBITS must be"));
  EXPECT_THAT(with("NCHAN   = ", "                  17"), HasSubstr("column DATA must have"));
  EXPECT_THAT(with("NSBLK   = ", "          1000000000"), HasSubstr("too long"));
  EXPECT_THAT(with("TBIN    = ", "                 0.0"), HasSubstr("TBIN must be positive"));
  EXPECT_THAT(with("TTYPE7  = ", "'OTHER   '"), HasSubstr("no column DATA"));
  EXPECT_THAT(refused(bytes.substr(0, 100)), HasSubstr("not a PSRFITS file"));
  EXPECT_THAT(refused(bytes.substr(0, bytes.size() / 2)), HasSubstr("cfitsio cannot"));
  EXPECT_THAT(refused(bytes + bytes), HasSubstr("joined files"));
  const Layout at(bytes, 16, 1);
  for (std::size_t cut = 0; cut < at.begin + 2 * at.row; cut += 1440)  // every block, and half of each
    EXPECT_NE(refused(bytes.substr(0, cut)), "read") << cut << " of " << bytes.size() << " bytes";
  std::string again = bytes;  // the second row at the time of the first
  put(again, at.row + at.time, 2048 * header.tsamp);
  EXPECT_THAT(refused(again), HasSubstr("OFFS_SUB of row 2 is 4096 samples before"));
  std::string wrong = bytes;
  put(wrong, at.begin + 16 + 8 * 5, 1.0);
  EXPECT_THAT(refused(wrong), HasSubstr("DAT_FREQ is not evenly spaced"));
}

}  // namespace
}  // namespace ridge::io::formats
