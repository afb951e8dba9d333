// Synthetic samples: reproducible at any position of the stream, zero-mean noise, tones at their frequencies.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include <ridge/error.hpp>

#include "io/telescopes/signal.hpp"

namespace ridge::io {
namespace {

SampleInfo info_of(SampleType type) {
  SampleInfo info;
  info.type = type;
  info.streams = 3;
  info.block = 16;
  return info;
}

TEST(Signal, SamplesDoNotDependOnTheFirstOne) {
  for (const SampleType type : {SampleType::int4, SampleType::int8, SampleType::int16, SampleType::float32}) {
    std::vector<Tone> tones;
    if (type != SampleType::int4) tones.push_back({0.1, 0.2});
    const Signal signal(info_of(type), 7, tones);
    std::vector<std::byte> whole(8000), pieces(8000);
    signal.fill(0, whole);
    for (std::size_t at = 0; at < whole.size(); at += 800) signal.fill(at, std::span(pieces).subspan(at, 800));
    EXPECT_EQ(whole, pieces);
    signal.fill(8000, pieces);
    EXPECT_NE(whole, pieces) << "two ranges differ";
    const Signal other(info_of(type), 8, tones);
    other.fill(0, pieces);
    EXPECT_NE(whole, pieces) << "another seed";
  }
}

TEST(Signal, NoiseHasNoMeanAndFillsItsRange) {
  const Signal signal(info_of(SampleType::int8), 1, {});
  std::vector<std::int8_t> values(1 << 16);
  signal.fill(0, std::as_writable_bytes(std::span(values)));
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  EXPECT_NEAR(mean, 0, 0.2);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 31);
  EXPECT_GE(*std::max_element(values.begin(), values.end()), 29);
  EXPECT_LE(*std::min_element(values.begin(), values.end()), -29);
}

TEST(Signal, EveryStationSeesTheTone) {
  SampleInfo info = info_of(SampleType::float32);
  const double frequency = 0.13;
  const Signal signal(info, 1, {{frequency, 10.0}}), noise(info, 1, {});
  std::vector<float> with(2 * 2 * 3 * 16 * 5), without(with.size());
  signal.fill(0, std::as_writable_bytes(std::span(with)));
  noise.fill(0, std::as_writable_bytes(std::span(without)));
  for (std::size_t frame = 0; frame < 5; ++frame) {
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t p = 0; p < 2; ++p) {
          const std::size_t at = (((frame * 3 + s) * 16 + i) * 2 + p) * 2;
          const double turn = 2 * M_PI * frequency * static_cast<double>(frame * 16 + i);
          EXPECT_NEAR(with[at] - without[at], 10 * std::cos(turn), 1e-5);
          EXPECT_NEAR(with[at + 1] - without[at + 1], 10 * std::sin(turn), 1e-5);
        }
      }
    }
  }
  EXPECT_THROW(Signal(info_of(SampleType::int4), 1, {{0.1, 0.1}}), Error);
}

}  // namespace
}  // namespace ridge::io
