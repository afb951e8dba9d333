// Tests of beamforming against plain loops in double, on the host and on devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <ridge/search/beams.hpp>

#include "search/device/byte_beams.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::search {
namespace {

using Value = std::complex<float>;
using Wide = std::complex<double>;
using testing::HasSubstr;

std::vector<Value> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Value> values(count);
  for (Value& value : values) value = {normal(random), normal(random)};
  return values;
}

Wide exact_beam(const BeamProblem& p, const std::vector<Value>& in, const std::vector<Value>& weights,
                std::size_t channel, std::size_t beam, std::size_t time) {
  Wide sum = 0;
  for (std::size_t s = 0; s < p.stations; ++s) {
    sum += Wide(weights[(channel * p.beams + beam) * p.stations + s]) *
           Wide(in[(channel * p.times + time) * p.stations + s]);
  }
  return sum;
}

void expect_power(const Device& device, const BeamProblem& p) {
  SCOPED_TRACE(device.id() + " " + std::to_string(p.stations) + " stations, " + std::to_string(p.beams) + " beams, " +
               std::to_string(p.times) + " times by " + std::to_string(p.integrate));
  Beamformer former(device, p);
  const auto in = random_values(p.channels * p.times * p.stations, 1),
             weights = random_values(p.channels * p.beams * p.stations, 2);
  former.set_weights(weights);
  std::vector<float> out(p.channels * former.rows() * former.bins(), std::numeric_limits<float>::quiet_NaN());
  former.power(in, out);
  const double scale = static_cast<double>(4 * p.stations * p.integrate);  // the mean power
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t bin = i % former.bins(), beam = i / former.bins() % former.rows(),
                      channel = i / former.bins() / former.rows();
    double power = 0;
    for (std::size_t t = bin * p.integrate; t < (bin + 1) * p.integrate; ++t) {
      if (beam < p.beams) {
        power += std::norm(exact_beam(p, in, weights, channel, beam, t));
      } else {
        for (std::size_t s = 0; s < p.stations; ++s)
          power += std::norm(Wide(in[(channel * p.times + t) * p.stations + s]));
      }
    }
    ASSERT_NEAR(out[i] / scale, power / scale, 2e-5) << "channel " << channel << ", beam " << beam << ", bin " << bin;
  }
}

const std::vector<BeamProblem> kProblems{
    {.stations = 1, .beams = 1, .times = 1},
    {.stations = 3, .beams = 2, .times = 67, .channels = 2, .integrate = 5, .incoherent = true},
    {.stations = 17, .beams = 65, .times = 130, .integrate = 130, .incoherent = true},
    {.stations = 64, .beams = 5, .times = 200, .channels = 3, .integrate = 1, .threads = 2},
    {.stations = 600, .beams = 64, .times = 9, .integrate = 2, .incoherent = true}};

TEST(SearchBeams, PowerOnTheHost) {
  for (const BeamProblem& problem : kProblems) expect_power(host(), problem);
}

class SearchBeamsDevice : public test::NeedsAccelerator<> {};
TEST_F(SearchBeamsDevice, Power) {
  test::compile_quickly();
  for (const Device& device : test::accelerators()) {
    for (const BeamProblem& problem : kProblems) expect_power(device, problem);
  }
}

TEST(SearchBeams, VoltagesAreTheSums) {
  const BeamProblem p{.stations = 7, .beams = 3, .times = 101, .channels = 2};
  Beamformer former(host(), p);
  const auto in = random_values(2 * 101 * 7, 3), weights = random_values(2 * 3 * 7, 4);
  former.set_weights(weights);
  std::vector<Value> out(2 * 3 * 101);
  former.voltages(in, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Wide exact = exact_beam(p, in, weights, i / 303, i / 101 % 3, i % 101);
    ASSERT_LT(std::abs(Wide(out[i]) - exact), 1e-4) << i;
  }
}

TEST(SearchBeams, WeightsNeedUnitVectorsAndFrequencies) {
  const std::vector<std::array<double, 3>> positions{{0, 0, 0}, {10, 0, 0}}, zenith{{0, 0, 1}};
  const std::vector<double> mhz{1400};
  EXPECT_NO_THROW(beam_weights(positions, zenith, mhz));
  for (const double length : {0.0, 9.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(beam_weights(positions, std::vector<std::array<double, 3>>{{0, 0, length}}, mhz), Error) << length;
  for (const double wrong : {0.0, -600.0, std::numeric_limits<double>::infinity()})
    EXPECT_THROW(beam_weights(positions, zenith, std::vector<double>{1400, wrong}), Error) << wrong;
  EXPECT_THROW(beam_weights(std::vector<std::array<double, 3>>{{0, NAN, 0}}, zenith, mhz), Error);
}

// A plane wave in noise: the beam towards it has the wave's full power, and noise of 1 / stations.
TEST(SearchBeams, WeightsAddUpAPlaneWave) {
  std::vector<std::array<double, 3>> positions;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> metres(-100, 100);
  for (int s = 0; s < 32; ++s) positions.push_back({metres(random), metres(random), metres(random) / 10});
  const double slant = 0.01, mhz = 1400;
  const std::vector<std::array<double, 3>> directions{{0, 0, 1}, {slant, 0, std::sqrt(1 - slant * slant)}};
  const BeamProblem p{.stations = 32, .beams = 2, .times = 4000, .integrate = 4000};
  Beamformer former(host(), p);
  former.set_weights(beam_weights(positions, directions, std::vector<double>{mhz}));
  std::vector<Value> in = random_values(4000 * 32, 9);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto& at = positions[i % 32];
    const double path = at[0] * directions[1][0] + at[2] * directions[1][2];
    in[i] += Value(std::polar(2.0, 2 * std::numbers::pi * mhz * 1e6 * path / 299792458.0));
  }
  std::vector<float> power(2);
  former.power(in, power);
  EXPECT_NEAR(power[1] / 4000, 4 + 2.0 / 32, 0.05);
  EXPECT_LT(power[0] / 4000, 1);
}

TEST(SearchBeams, RefusesImpossibleProblems) {
  const auto refused = [](const std::function<void()>& call) {
    return ridge::test::error_of(call, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refused([] { Beamformer(host(), {}); }), HasSubstr("at least one station"));
  EXPECT_THAT(refused([] { Beamformer(host(), {.stations = 1, .beams = 1, .times = 3, .integrate = 4}); }),
              HasSubstr("exceed the 3 times"));
  Beamformer former(host(), {.stations = 2, .beams = 3, .times = 4});
  std::vector<Value> in(8);
  std::vector<float> out(12);
  EXPECT_THAT(refused([&] { former.power(in, out); }), HasSubstr("set_weights"));
  EXPECT_THAT(refused([&] { former.set_weights(in); }), HasSubstr("1 x 3 x 2 weights"));
}

// Packs bytes and compares with `packed`, of floats that round to these bytes.
void expect_pack_of_bytes(const ByteBeams& chain, const ByteBeamProblem& p, Queue& queue, const Buffer& packed) {
  const auto spectra = random_values(p.times * p.polarizations * p.stations * p.channels, 3);
  std::vector<std::int8_t> bytes;
  for (const Value& value : spectra) {
    for (const float part : {value.real(), value.imag()})
      bytes.push_back(static_cast<std::int8_t>(std::rint(std::clamp(part * 40, -127.0F, 127.0F))));
  }
  const Buffer in = queue.device().buffer(bytes.size(), {.name = "spectra of bytes"});
  const Buffer out = queue.device().buffer(packed.size(), {.name = "packed bytes"});
  std::vector<std::byte> expected(packed.size()), found(packed.size());
  queue.upload(std::span<const std::int8_t>(bytes), in);
  chain.pack(queue, in, out);
  queue.download(packed, std::span(expected));
  queue.download(out, std::span(found));
  queue.finish();
  EXPECT_EQ(found, expected);
}

// The chain of byte beams, stage by stage, against plain loops over the rounded values.
void expect_byte_beams(const Device& device, const ByteBeamProblem& p, std::size_t bins, std::size_t first,
                       bool warp_groups = false) {
  SCOPED_TRACE(device.id() + " " + std::to_string(p.stations) + " stations, " + std::to_string(p.beams) + " beams");
  const ByteBeams chain(device, p, warp_groups);
  const auto spectra = random_values(p.times * p.polarizations * p.stations * p.channels, 3);
  const auto weights = random_values(p.channels * p.polarizations * p.beams * p.stations, 4);
  const std::vector<std::byte> table = chain.weights(weights, 50);
  const auto buffer = [&](std::size_t bytes) { return device.buffer(bytes, {.name = "byte beams"}); };
  const Buffer in = buffer(spectra.size() * sizeof(Value)), packed = buffer(p.packed_bytes()),
               factors = buffer(p.weight_bytes()), plane = buffer(p.channels * (bins + 5));
  std::vector<float> power(p.beams * p.channels * bins, 0);
  const Buffer out = buffer(power.size() * sizeof(float));
  Queue queue = device.queue();
  queue.upload(std::span<const Value>(spectra), in);
  queue.upload(std::span<const std::byte>(table), factors);
  queue.fill(out, std::byte{0});
  chain.pack(queue, in, 40, packed);
  if (p.channels % 2 == 0) expect_pack_of_bytes(chain, p, queue, packed);
  chain.power(queue, packed, factors, out, bins, first);
  queue.download(out, std::span(power));
  const std::size_t beam = p.beams - 1;
  std::vector<std::uint8_t> bytes(p.channels * (bins + 5));
  const std::vector<Buffer> planes{buffer(plane.size()), plane};
  chain.bytes(queue, out, beam - 1, bins, 2, planes, bins + 5, 3);
  queue.download(plane, std::span(bytes));
  queue.finish();
  const auto rounded = [](Value value, float scale) {
    const auto part = [&](float x) { return std::rint(std::clamp<double>(x * scale, -127, 127)); };
    return Wide(part(value.real()), part(value.imag()));
  };
  for (std::size_t i = 0; i < power.size(); ++i) {
    const std::size_t bin = i % bins, channel = i / bins % p.channels, b = i / bins / p.channels;
    double expected = 0;
    for (std::size_t k = 0; bin >= first && k < 8 * p.polarizations; ++k) {
      const std::size_t t = 8 * (bin - first) + k / p.polarizations, pol = k % p.polarizations;
      if (t >= p.times) break;
      Wide sum = 0;
      for (std::size_t s = 0; s < p.stations; ++s) {
        const std::size_t from = ((t * p.polarizations + pol) * p.stations + s) * p.channels + p.channels - 1 - channel;
        sum += rounded(spectra[from], 40) *
               rounded(weights[((channel * p.polarizations + pol) * p.beams + b) * p.stations + s], 50);
      }
      expected += std::norm(sum);
    }
    ASSERT_NEAR(power[i], expected, 1e-6 * expected) << "bin " << bin << ", channel " << channel << ", beam " << b;
  }
  for (std::size_t c = 0; c < p.channels; ++c) {
    std::vector<double> sums;
    for (std::size_t i = 0; i < bins / 2; ++i) {
      sums.push_back(0);
      for (std::size_t k = 0; k < 2; ++k) sums.back() += power[(beam * p.channels + c) * bins + 2 * i + k];
    }
    double mean = 0, square = 0;
    for (const double one : sums) mean += one / static_cast<double>(sums.size());
    for (const double one : sums) square += (one - mean) * (one - mean) / static_cast<double>(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double level = std::clamp(60 + 10 * (sums[i] - mean) / std::sqrt(square), 0.0, 255.0);
      ASSERT_NEAR(bytes[c * (bins + 5) + 3 + i], level, 0.501) << "channel " << c << ", sample " << i;
    }
  }
}

TEST_F(SearchBeamsDevice, BytesOnTheMatrixUnitsAreExact) {
  test::compile_quickly();
  for (const Device& device : test::accelerators()) {
    expect_byte_beams(device, {.stations = 3, .beams = 5, .channels = 3, .times = 256}, 36, 2);
    expect_byte_beams(device, {.stations = 37, .beams = 70, .channels = 2, .polarizations = 1, .times = 128}, 16, 0);
    if (device.info().runs_on_host_cores) continue;
    expect_byte_beams(device, {.stations = 64, .beams = 200, .channels = 35, .times = 512}, 64, 0);
    const ByteBeamProblem wide{.stations = 128, .beams = 130, .channels = 5, .times = 384};
    if (ByteBeams::refusal(device, wide).empty()) expect_byte_beams(device, wide, 48, 0);  // OpenCL of NVIDIA: 48 KiB
  }
}

// CUDA on Hopper only: nothing emulates these products.
TEST_F(SearchBeamsDevice, BytesByWarpGroups) {
  const ByteBeamProblem some{.stations = 64, .beams = 200, .channels = 12, .times = 512};
  const ByteBeamProblem others{.stations = 37, .beams = 65, .channels = 3, .times = 128};
  std::size_t ran = 0;
  for (const Device& device : test::accelerators()) {
    if (!ByteBeams::warp_group_refusal(device, some).empty()) continue;
    expect_byte_beams(device, some, 64, 0, true);
    expect_byte_beams(device, others, 20, 2, true);
    // One polarization: rows of 128 and of 256 bytes.
    expect_byte_beams(device, {.stations = 60, .beams = 70, .channels = 2, .polarizations = 1, .times = 256}, 32, 0,
                      true);
    expect_byte_beams(device, {.stations = 100, .beams = 129, .channels = 2, .polarizations = 1, .times = 256}, 32, 0,
                      true);
    ++ran;
  }
  if (ran == 0) GTEST_SKIP() << "no device has products of warp groups";
}

TEST(SearchBeams, ByteBeamsRefuseWhatTheyCannotDo) {
  EXPECT_THAT(ByteBeams::refusal(host(), {.stations = 4, .beams = 4, .times = 128}), HasSubstr("needs a device"));
  for (const Device& device : test::accelerators()) {
    EXPECT_THAT(ByteBeams::refusal(device, {.stations = 4, .beams = 4, .times = 100}), HasSubstr("multiple of 64"));
    EXPECT_THAT(ByteBeams::refusal(device, {.stations = 129, .beams = 4, .times = 128}), HasSubstr("128 stations"));
    EXPECT_THAT(ByteBeams::refusal(device, {.stations = 4, .beams = 0, .times = 128}), HasSubstr("at least one"));
  }
}

}  // namespace
}  // namespace ridge::search
