// GUPPI RAW: overlap, lost blocks, start times, direct I/O and damaged headers.
#include "io/telescopes/guppi.hpp"

#include "format_support.hpp"

namespace ridge::io::formats {
namespace {

using testing::HasSubstr;
class Guppi : public FormatTest {};

// Three channels of ten samples, two polarizations of int8, the last two samples repeated.
GuppiHeader usual_guppi() {
  GuppiHeader header;
  header.channels = 3;
  header.block_bytes = 3 * 10 * 4;
  header.overlap = 2;
  header.counted = true;
  header.packets = 4;
  header.packet = 100;
  header.first_packet = 100;
  header.sample_seconds = 1e-6;
  header.frequency_mhz = 1400;
  header.bandwidth_mhz = -3;
  header.start = {59000, 43200};
  header.source = "3C48";
  header.direct_io = true;
  return header;
}

// A value that identifies channel and sample.
std::byte value(std::size_t channel, std::size_t sample) { return static_cast<std::byte>(channel * 80 + sample); }

std::string block(GuppiHeader header, std::size_t number) {
  header.packet += static_cast<std::int64_t>(number) * header.packets;
  std::string bytes = guppi_cards(header);
  for (std::size_t c = 0; c < header.channels; ++c) {
    for (std::size_t n = 0; n < header.samples(); ++n) {
      bytes.append(4, static_cast<char>(value(c, number * (header.samples() - header.overlap) + n)));
    }
  }
  return bytes;
}

TEST_F(Guppi, BlocksFollowEachOtherWithoutTheOverlap) {
  auto reader = guppi_reader(open(block(usual_guppi(), 0) + block(usual_guppi(), 1) + block(usual_guppi(), 2)));
  const SampleInfo& info = reader->info();
  EXPECT_EQ(info.streams, 3u);
  EXPECT_EQ(info.block, 8u);
  EXPECT_EQ(info.polarizations, 2u);
  EXPECT_EQ(info.type, SampleType::int8);
  EXPECT_DOUBLE_EQ(info.frequency_mhz, 1401);
  EXPECT_DOUBLE_EQ(info.stream_step_mhz, -1);
  EXPECT_EQ(info.start, (StartTime{59000, 43200}));
  EXPECT_EQ(info.source, "3C48");
  const auto bytes = all(*reader);
  ASSERT_EQ(bytes.size(), 3u * 3 * 8 * 4);
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t n = 0; n < 8; ++n) EXPECT_EQ(bytes[((b * 3 + c) * 8 + n) * 4], value(c, b * 8 + n));
    }
  }
  EXPECT_TRUE(reader->gaps().empty());
}

TEST_F(Guppi, LostBlocksAreZeroAndNothingIsShifted) {
  auto reader = guppi_reader(
      open(block(usual_guppi(), 0) + block(usual_guppi(), 3) + block(usual_guppi(), 4) + block(usual_guppi(), 6)));
  const auto bytes = all(*reader);
  ASSERT_EQ(bytes.size(), 7u * 3 * 8 * 4);
  for (std::size_t b = 0; b < 7; ++b) {
    const bool lost = b == 1 || b == 2 || b == 5;
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(bytes[((b * 3 + c) * 8 + 5) * 4], lost ? std::byte{0} : value(c, b * 8 + 5)) << b;
    }
  }
  ASSERT_EQ(reader->gaps().size(), 2u);
  EXPECT_EQ(reader->gaps()[0].first, 8u);
  EXPECT_EQ(reader->gaps()[0].samples, 16u);
  EXPECT_EQ(reader->gaps()[1].first, 40u);
  EXPECT_EQ(reader->samples_lost(), 24u);
}

TEST_F(Guppi, TheStartIsThatOfTheFirstSample) {
  GuppiHeader header = usual_guppi();
  header.start = header.start.after(0.125);
  header.sample_seconds = 1e-3;
  const auto start = [&](std::size_t number) { return guppi_reader(open(block(header, number)))->info().start; };
  EXPECT_EQ(start(0), (StartTime{59000, 43200.125}));
  EXPECT_NEAR(start(1000).second, 43208.125, 1e-9);  // a thousand blocks of 8 samples
  header.first_packet = 0;                           // PKTIDX is 100 there: 25 blocks
  EXPECT_NEAR(start(0).second, 43200.325, 1e-9);
  header.packets = 0;  // the packet length is not given
  EXPECT_FALSE(start(0).known());
}

TEST_F(Guppi, WithoutPacketsPerBlockAnEvenStepIsNeeded) {
  GuppiHeader header = usual_guppi();
  const auto numbered = [&](std::initializer_list<std::int64_t> numbers) {
    std::string bytes;
    GuppiHeader one = header;
    one.packets = 0;
    for (const std::int64_t number : numbers) {
      one.packet = 100 + number;
      bytes += guppi_cards(one) + std::string(one.block_bytes, 'x');
    }
    return says([&] {
      auto reader = guppi_reader(open(bytes));
      all(*reader);
      EXPECT_FALSE(reader->counts_losses());
      EXPECT_EQ(reader->remarks().size(), 1u);
    });
  };
  EXPECT_THAT(numbered({0, 4, 8, 12}), "no error");
  EXPECT_THAT(numbered({0, 4, 12}), HasSubstr("losses cannot be counted"));
  EXPECT_THAT(numbered({0, 4, 4}), HasSubstr("does not rise"));
}

TEST_F(Guppi, AnOverlapThatDiffersIsReported) {
  const auto remarks = [&](const std::string& bytes) {
    auto reader = guppi_reader(open(bytes));
    all(*reader);
    return reader->remarks();
  };
  const std::string one = block(usual_guppi(), 0);
  std::string other = block(usual_guppi(), 1);
  EXPECT_TRUE(remarks(one + other).empty());
  EXPECT_TRUE(remarks(one + block(usual_guppi(), 3)).empty());
  other[other.size() - 40] ^= 1;  // the first sample of the last channel
  EXPECT_THAT(remarks(one + other), testing::ElementsAre(HasSubstr("1 blocks do not begin with the OVERLAP")));
}

TEST_F(Guppi, AnotherRecordingIsAnError) {
  const auto joined = [&](const std::function<void(GuppiHeader&)>& change) {
    GuppiHeader other = usual_guppi();
    change(other);
    return says([&] {
      auto reader = guppi_reader(open(block(usual_guppi(), 0) + block(other, 1)));
      all(*reader);
    });
  };
  EXPECT_THAT(joined([](auto&) {}), "no error");
  EXPECT_THAT(joined([](auto& h) { h.start = h.start.after(1); }), HasSubstr("start time"));
  EXPECT_THAT(joined([](auto& h) { h.frequency_mhz = 1500; }), HasSubstr("OBSFREQ is 1500"));
  EXPECT_THAT(joined([](auto& h) { h.bandwidth_mhz = 3; }), HasSubstr("OBSBW is 3"));
  EXPECT_THAT(joined([](auto& h) { h.sample_seconds = 2e-6; }), HasSubstr("TBIN"));
  EXPECT_THAT(joined([](auto& h) { h.source = "3C147"; }), HasSubstr("SRC_NAME is 3C147"));
}

TEST_F(Guppi, SkippingLandsOnASample) {
  auto reader = guppi_reader(open(block(usual_guppi(), 0) + block(usual_guppi(), 2)));
  reader->skip(16);
  const auto bytes = all(*reader);
  EXPECT_EQ(bytes.size(), 3u * 8 * 4);
  EXPECT_EQ(bytes[0], value(0, 16));
  EXPECT_THAT(says([&] { reader->skip(8); }), HasSubstr("ends before"));
}

// 28 cards and END are 2320 bytes, not a multiple of 512; 31 and END are 2560 = 5 x 512 and get no padding.
TEST_F(Guppi, DirectIoPadsHeadersToMultiplesOf512Bytes) {
  std::string cards = guppi_cards(usual_guppi());
  EXPECT_EQ(cards.size() % 512, 0u);
  GuppiHeader plain = usual_guppi();
  plain.direct_io = false;
  std::string exact = guppi_cards(plain);
  exact.replace(exact.find("DIRECTIO= 0"), 11, "DIRECTIO= 1");
  const std::string end = exact.substr(exact.size() - 80);
  exact.resize(exact.size() - 80);
  for (int i = 0; exact.size() % 512 != 512 - 80; ++i) {
    std::string card = "FILL" + std::to_string(i);
    card.resize(8, ' ');
    card += "= 1";
    card.resize(80, ' ');
    exact += card;
  }
  exact += end;
  ASSERT_EQ(exact.size() % 512, 0u);
  auto reader = guppi_reader(open(exact + block(usual_guppi(), 0).substr(cards.size())));
  EXPECT_EQ(all(*reader)[0], value(0, 0));
}

TEST_F(Guppi, AWrongHeaderFieldIsNamed) {
  const auto lie = [&](const std::string& card) {
    std::string bytes = block(usual_guppi(), 0);
    const std::size_t at = bytes.find(card.substr(0, 9));
    EXPECT_NE(at, std::string::npos) << card;
    std::string line = card;
    line.resize(80, ' ');
    bytes.replace(at, 80, line);
    return says([&] {
      auto reader = guppi_reader(open(bytes));
      all(*reader);
    });
  };
  EXPECT_THAT(lie("BLOCSIZE= 0"), HasSubstr("BLOCSIZE is 0"));
  EXPECT_THAT(lie("BLOCSIZE= 121"), HasSubstr("BLOCSIZE is 121"));
  EXPECT_THAT(lie("BLOCSIZE= 99999999999999"), HasSubstr("BLOCSIZE"));
  EXPECT_THAT(lie("BLOCSIZE= many"), HasSubstr("BLOCSIZE is \"many\""));
  EXPECT_THAT(lie("BLOCSIZE= 240"), HasSubstr("BLOCSIZE of 240"));
  EXPECT_THAT(lie("OBSNCHAN= -3"), HasSubstr("OBSNCHAN is -3"));
  EXPECT_THAT(lie("NPOL    = 3"), HasSubstr("NPOL is 3"));
  EXPECT_THAT(lie("NBITS   = 5"), HasSubstr("NBITS is 5"));
  EXPECT_THAT(lie("OVERLAP = 10"), HasSubstr("OVERLAP is 10"));
  EXPECT_THAT(lie("TBIN    = fast"), HasSubstr("TBIN"));
  EXPECT_THAT(lie("PIPERBLK= 0"), HasSubstr("PIPERBLK is 0"));
  EXPECT_THAT(says([&] { guppi_reader(open(std::string(80 * 2000, 'A').replace(8, 1, "="))); }), HasSubstr("no value"));
  GuppiHeader other = usual_guppi();
  other.bits = 16;
  EXPECT_THAT(says([&] {
                auto r = guppi_reader(open(block(usual_guppi(), 0) + block(other, 1)));
                all(*r);
              }),
              HasSubstr("NBITS is 16"));
  EXPECT_THAT(says([&] {
                auto r = guppi_reader(open(block(usual_guppi(), 1) + block(usual_guppi(), 0)));
                all(*r);
              }),
              HasSubstr("PKTIDX"));
  EXPECT_THAT(says([&] {
                auto r = guppi_reader(open(block(usual_guppi(), 0) + block(usual_guppi(), std::size_t{1} << 40)));
                all(*r);
              }),
              HasSubstr("gap"));
}

TEST_F(Guppi, AMissingBlockAllocatesNoMemory) {
  GuppiHeader header = usual_guppi();
  header.block_bytes = 3600000000;
  auto reader = guppi_reader(open(guppi_cards(header) + std::string(120, 'x')));
  const std::size_t before = peak_memory();
  EXPECT_THAT(says([&] { all(*reader); }), HasSubstr("it ends 120 bytes into the BLOCSIZE of 3600000000"));
  EXPECT_LT(peak_memory() - before, std::size_t{256} << 20);
}

TEST_F(Guppi, Fuzz) {
  fuzz(block(usual_guppi(), 0) + block(usual_guppi(), 1), [](std::unique_ptr<InputStream> in) {
    auto reader = guppi_reader(std::move(in));
    all(*reader);
  });
}

}  // namespace
}  // namespace ridge::io::formats
