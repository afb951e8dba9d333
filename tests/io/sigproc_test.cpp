// SIGPROC headers: bytes of the format, round trips, truncation and damage.
#include "io/telescopes/sigproc.hpp"

#include "format_support.hpp"

namespace ridge::io::formats {
namespace {

using testing::HasSubstr;
class Sigproc : public FormatTest {};

SigprocHeader usual_sigproc() {
  SigprocHeader header;
  header.source_name = "B0329+54";
  header.telescope_id = 8;
  header.src_raj = 33259.3;
  header.tstart = 59000.25;
  header.tsamp = 64e-6;
  header.fch1 = 1500.5;
  header.foff = -0.125;
  header.nchans = 256;
  header.nifs = 2;
  header.nbits = 8;
  header.is_signed = true;
  return header;
}

TEST_F(Sigproc, WhatIsWrittenIsRead) {
  const std::string bytes = sigproc_header(usual_sigproc());
  EXPECT_TRUE(looks_like_sigproc(bytes));
  EXPECT_FALSE(looks_like_sigproc("HEADER_START"));
  auto in = open(bytes + "rest");
  const SigprocHeader read = read_sigproc_header(*in);
  EXPECT_EQ(read.source_name, "B0329+54");
  EXPECT_EQ(read.telescope_id, 8);
  EXPECT_EQ(read.src_raj, 33259.3);
  EXPECT_EQ(read.tstart, 59000.25);
  EXPECT_EQ(read.tsamp, 64e-6);
  EXPECT_EQ(read.fch1, 1500.5);
  EXPECT_EQ(read.foff, -0.125);
  EXPECT_EQ(read.nchans, 256);
  EXPECT_EQ(read.nifs, 2);
  EXPECT_EQ(read.nbits, 8);
  EXPECT_TRUE(read.is_signed);
  EXPECT_EQ(read.row_bytes(), 512u);
  char rest[4];
  EXPECT_EQ(in->read(rest, 4), 4u);
  EXPECT_EQ(std::string(rest, 4), "rest");
}

// Byte by byte as the format's description defines it, so that reader and writer cannot share an error.
TEST_F(Sigproc, TheBytesAreThoseOfTheFormat) {
  const auto word = [](const std::string& text) { return std::string{static_cast<char>(text.size()), 0, 0, 0} + text; };
  std::string bytes = word("HEADER_START") + word("nchans") + std::string("\x02\0\0\0", 4) + word("nbits") +
                      std::string("\x20\0\0\0", 4) + word("tsamp") + std::string("\0\0\0\0\0\0\xe0\x3f", 8) +
                      word("signed") + std::string("\x01", 1) + word("source_name") + word("x y") + word("HEADER_END");
  const SigprocHeader read = read_sigproc_header(*open(bytes));
  EXPECT_EQ(read.nchans, 2);
  EXPECT_EQ(read.nbits, 32);
  EXPECT_EQ(read.tsamp, 0.5);
  EXPECT_EQ(read.source_name, "x y");
  EXPECT_EQ(read.nifs, 1);
}

TEST_F(Sigproc, AWrongHeaderFieldIsNamed) {
  const auto lie = [&](const std::function<void(SigprocHeader&)>& change) {
    SigprocHeader header = usual_sigproc();
    change(header);
    return says([&] { read_sigproc_header(*open(sigproc_header(header))); });
  };
  EXPECT_THAT(lie([](auto& h) { h.nchans = -1; }), HasSubstr("nchans is -1"));
  EXPECT_THAT(lie([](auto& h) { h.nifs = 0; }), HasSubstr("nifs is 0"));
  EXPECT_THAT(lie([](auto& h) { h.nbits = 7; }), HasSubstr("nbits is 7"));
  EXPECT_THAT(lie([](auto& h) { h.tsamp = 0; }), HasSubstr("tsamp is 0"));
  EXPECT_THAT(lie([](auto& h) { h.fch1 = NAN; }), HasSubstr("fch1"));
  EXPECT_EQ(lie([](auto& h) { h.nsamples = 1000; }), "no error");  // an interrupted recording
  EXPECT_THAT(lie([](auto& h) { h.nbits = 1, h.nchans = 3, h.nifs = 1; }), HasSubstr("not a whole number of bytes"));
  EXPECT_THAT(says([&] { read_sigproc_header(*open("")); }), HasSubstr("it is empty"));
  std::string unknown = sigproc_header(usual_sigproc());
  unknown.replace(unknown.find("nchans"), 6, "nchanz");
  EXPECT_THAT(says([&] { read_sigproc_header(*open(unknown)); }), HasSubstr("nchanz"));
}

// Other programs list the frequency of every channel, and bins of folded data.
TEST_F(Sigproc, ATableOfFrequenciesReplacesTheStep) {
  const auto with = [&](const std::vector<double>& frequencies) {
    const auto word = [](const std::string& text) {
      return std::string{static_cast<char>(text.size()), 0, 0, 0} + text;
    };
    SigprocHeader header = usual_sigproc();
    header.nchans = 3;
    std::string table = word("nbins") + std::string(4, '\0') + word("FREQUENCY_START");
    for (const double one : frequencies)
      table += word("fchannel") + std::string(reinterpret_cast<const char*>(&one), sizeof one);
    std::string bytes = sigproc_header(header);
    return bytes.insert(bytes.size() - 14, table + word("FREQUENCY_END"));
  };
  const SigprocHeader read = read_sigproc_header(*open(with({1400, 1399.5, 1399})));
  EXPECT_EQ(read.fch1, 1400);
  EXPECT_EQ(read.foff, -0.5);
  EXPECT_THAT(says([&] { read_sigproc_header(*open(with({1400, 1399.4, 1399}))); }), HasSubstr("not evenly spaced"));
  EXPECT_THAT(says([&] { read_sigproc_header(*open(with({1400, 1399}))); }), HasSubstr("2 frequencies"));
  EXPECT_THAT(says([&] { read_sigproc_header(*open(with({1400, NAN, 1399}))); }), HasSubstr("fchannel"));
}

TEST_F(Sigproc, HeadersCutAnywhereAreRefused) {
  const std::string whole = sigproc_header(usual_sigproc());
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    EXPECT_NE(says([&] { read_sigproc_header(*open(whole.substr(0, cut))); }), "no error") << cut << " bytes";
  read_sigproc_header(*open(whole));
}

TEST_F(Sigproc, Fuzz) {
  fuzz(sigproc_header(usual_sigproc()), [](std::unique_ptr<InputStream> in) { read_sigproc_header(*in); });
}

}  // namespace
}  // namespace ridge::io::formats
