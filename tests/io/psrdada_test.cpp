// PSRDADA: order of samples, files that follow each other, gaps and damaged headers.
#include "io/telescopes/psrdada.hpp"

#include "format_support.hpp"

namespace ridge::io::formats {
namespace {

using testing::HasSubstr;
class Psrdada : public FormatTest {};

PsrdadaHeader usual_psrdada() {
  PsrdadaHeader header;
  header.channels = 2;
  header.sample_seconds = 5.12e-6;
  header.frequency_mhz = 150;
  header.bandwidth_mhz = 4;
  header.start = {59000, 43200};
  header.file_bytes = 80;
  header.overlap = 16;
  header.source = "J0437-4715";
  return header;
}

// Bytes that count from the start of the observation.
std::string file(PsrdadaHeader header, std::uint64_t offset, std::size_t bytes = 80) {
  header.offset = offset;
  std::string text = psrdada_text(header);
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(offset + i);
  return text;
}

TEST_F(Psrdada, SamplesByTimeChannelAndPolarization) {
  auto reader = psrdada_reader(open(file(usual_psrdada(), 0)));
  const SampleInfo& info = reader->info();
  EXPECT_EQ(info.streams, 2u);
  EXPECT_EQ(info.block, 1u);
  EXPECT_EQ(info.sample_bytes(), 8u);
  EXPECT_NEAR(info.sample_seconds, 5.12e-6, 1e-12);
  EXPECT_DOUBLE_EQ(info.frequency_mhz, 149);
  EXPECT_DOUBLE_EQ(info.stream_step_mhz, 2);
  EXPECT_EQ(info.start, (StartTime{59000, 43200}));
  EXPECT_EQ(info.source, "J0437-4715");
  const auto bytes = all(*reader);
  ASSERT_EQ(bytes.size(), 80u);
  EXPECT_EQ(bytes[33], std::byte{33});
}

TEST_F(Psrdada, FilesOfOneObservationJoinAndOverlapsAreTakenOnce) {
  auto reader = psrdada_reader(open(file(usual_psrdada(), 0) + file(usual_psrdada(), 64) + file(usual_psrdada(), 128)));
  const auto bytes = all(*reader);
  ASSERT_EQ(bytes.size(), 208u);
  for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], static_cast<std::byte>(i));
  EXPECT_TRUE(reader->gaps().empty());
}

TEST_F(Psrdada, AMissingFileIsAGap) {
  auto reader = psrdada_reader(open(file(usual_psrdada(), 0) + file(usual_psrdada(), 128, 72)));
  const auto bytes = all(*reader);
  ASSERT_EQ(bytes.size(), 200u);
  for (std::size_t i = 0; i < 200; ++i) {
    ASSERT_EQ(bytes[i], i >= 80 && i < 128 ? std::byte{0} : static_cast<std::byte>(i)) << i;
  }
  ASSERT_EQ(reader->gaps().size(), 1u);
  EXPECT_EQ(reader->gaps()[0].first, 10u);
  EXPECT_EQ(reader->gaps()[0].samples, 6u);
}

// Samples of 24 bytes do not divide the mebibyte read at a time.
TEST_F(Psrdada, SamplesThatDivideNoPiece) {
  for (const bool sized : {true, false}) {
    PsrdadaHeader header = usual_psrdada();
    header.channels = 6;
    header.overlap = 0;
    const std::size_t bytes = header.sample_bytes() * 100001;
    header.file_bytes = sized ? bytes : 0;
    auto reader = psrdada_reader(open(file(header, 0, bytes)));
    const auto samples = all(*reader);
    ASSERT_EQ(samples.size(), bytes);
    for (std::size_t i = 0; i < bytes; i += 997) ASSERT_EQ(samples[i], static_cast<std::byte>(i)) << i;
    EXPECT_THAT(says([&] {
                  auto cut = psrdada_reader(open(file(header, 0, bytes - 7)));
                  all(*cut);
                }),
                HasSubstr("within a sample"));
  }
}

TEST_F(Psrdada, TheStartIsThatOfTheFirstSample) {
  PsrdadaHeader header = usual_psrdada();
  header.start = header.start.after(0.25);
  EXPECT_THAT(psrdada_text(header), HasSubstr("UTC_START 2020-05-31-12:00:00\nPICOSECONDS 250000000000\n"));
  // OBS_OFFSET is a million samples: 5.12 s.
  auto reader = psrdada_reader(open(file(header, 8'000'000)));
  EXPECT_EQ(reader->info().start.day, 59000);
  EXPECT_NEAR(reader->info().start.second, 43205.37, 1e-9);
  std::string text = file(usual_psrdada(), 0);
  const auto start_of = [&](const std::string& line) {
    std::string changed = text;
    const std::size_t at = changed.find("UTC_START");
    changed.replace(at, changed.find('\n', at) - at, line);
    changed.insert(1000, text.size() - std::min(text.size(), changed.size()), '\0');
    return psrdada_reader(open(changed))->info().start;
  };
  EXPECT_FALSE(start_of("UTC_START UNKNOWN").known());
  EXPECT_EQ(start_of("MJD_START 59000.25"), (StartTime{59000, 21600}));
  EXPECT_THAT(says([&] { start_of("UTC_START 2020-05-31"); }), HasSubstr("UTC_START is \"2020-05-31\""));
}

TEST_F(Psrdada, AnotherHeaderAmongTheSamplesIsAnError) {
  const auto reading = [&](const std::string& bytes) {
    return says([&] {
      auto reader = psrdada_reader(open(bytes));
      all(*reader);
    });
  };
  PsrdadaHeader header = usual_psrdada();
  header.overlap = 0;
  header.file_bytes = 0;
  EXPECT_THAT(reading(file(header, 0) + file(header, 80)), HasSubstr("another header follows"));
  // Across the mebibyte boundary between reads, at every position within a line.
  for (std::size_t bytes = (1 << 20) - 40; bytes < (1 << 20) + 40; ++bytes) {
    EXPECT_THAT(reading(file(header, 0, bytes) + file(header, 80)), HasSubstr("another header follows")) << bytes;
  }
  // Cut off after the one line that identifies it.
  EXPECT_THAT(reading(file(header, 0, (1 << 20) - 4) + "\nNCHAN 2\n   "), HasSubstr("another header follows"));
  header.file_bytes = 80;
  EXPECT_THAT(reading(file(header, 0, 40) + file(header, 80)), HasSubstr("another header follows"));
  PsrdadaHeader other = header;
  other.start = other.start.after(86400);
  EXPECT_THAT(reading(file(header, 0) + file(other, 80)), HasSubstr("UTC_START"));
  other = usual_psrdada();
  std::string wrong = file(other, 64);
  wrong[4096 + 3] ^= 1;
  EXPECT_THAT(reading(file(other, 0) + wrong), HasSubstr("OBS_OVERLAP differ"));
  auto reader = psrdada_reader(open(file(header, 0, 40)));
  EXPECT_EQ(all(*reader).size(), 40u);
  ASSERT_EQ(reader->remarks().size(), 1u);
  EXPECT_THAT(reader->remarks()[0], HasSubstr("40 bytes less than its FILE_SIZE"));
}

TEST_F(Psrdada, ALongHeaderAndComments) {
  PsrdadaHeader header = usual_psrdada();
  header.header_bytes = 8192;
  std::string text = file(header, 0);
  text.replace(text.find("NBIT 8\n"), 7, "NBIT 8#");
  auto reader = psrdada_reader(open(text.replace(text.find("8#"), 2, "8\n")));
  EXPECT_EQ(all(*reader).size(), 80u);
}

TEST_F(Psrdada, AWrongHeaderFieldIsNamed) {
  const auto lie = [&](const std::string& from, const std::string& to) {
    std::string bytes = file(usual_psrdada(), 0);
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos);
    bytes.replace(at, from.size(), to);
    bytes.erase(2000, to.size() - std::min(to.size(), from.size()));  // the header keeps its length
    return says([&] {
      auto reader = psrdada_reader(open(bytes));
      all(*reader);
    });
  };
  EXPECT_THAT(lie("NBIT 8", "NBIT 9"), HasSubstr("NBIT is 9"));
  EXPECT_THAT(lie("NBIT 8", "NBAT 8"), HasSubstr("NBIT is missing"));
  EXPECT_THAT(lie("NDIM 2", "NDIM 1"), HasSubstr("NDIM is 1"));
  EXPECT_THAT(lie("NPOL 2", "NPOL 4"), HasSubstr("NPOL is 4"));
  EXPECT_THAT(lie("NCHAN 2", "NCHAN 0"), HasSubstr("NCHAN is 0"));
  EXPECT_THAT(lie("HDR_SIZE 4096", "HDR_SIZE 4095"), HasSubstr("HDR_SIZE is 4095"));
  EXPECT_THAT(lie("HDR_SIZE 4096", "HDR_SIZE 9999"), HasSubstr("HDR_SIZE 9999"));
  EXPECT_THAT(lie("OBS_OFFSET 0", "OBS_OFFSET 3"), HasSubstr("OBS_OFFSET is 3"));
  EXPECT_THAT(lie("FILE_SIZE 80", "FILE_SIZE 81"), HasSubstr("FILE_SIZE is 81"));
  EXPECT_THAT(lie("TSAMP 5", "TSAMP x"), HasSubstr("TSAMP"));
  EXPECT_THAT(says([&] { psrdada_reader(open("HEADER DADA\n")); }), HasSubstr("within the header"));
  EXPECT_THAT(says([&] {
                auto r = psrdada_reader(open(file(usual_psrdada(), 80) + file(usual_psrdada(), 0)));
                all(*r);
              }),
              HasSubstr("OBS_OFFSET is 0"));
  EXPECT_THAT(says([&] {
                auto r = psrdada_reader(open(file(usual_psrdada(), 0).substr(0, 4096 + 77)));
                all(*r);
              }),
              HasSubstr("within a sample"));
}

TEST_F(Psrdada, Fuzz) {
  fuzz(file(usual_psrdada(), 0) + file(usual_psrdada(), 64), [](std::unique_ptr<InputStream> in) {
    auto reader = psrdada_reader(std::move(in));
    all(*reader);
  });
}

}  // namespace
}  // namespace ridge::io::formats
