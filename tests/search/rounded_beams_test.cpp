// Beams of voltages rounded to bytes and 16-bit floats, against plain loops in double over the rounded values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include <ridge/search/beams.hpp>

#include "search/host/rows.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::search {
namespace {

using Value = std::complex<float>;
using Wide = std::complex<double>;
using testing::HasSubstr;

std::vector<Value> normal_values(std::size_t count, std::uint64_t seed, float scale) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<Value> values(count);
  for (Value& value : values) value = {scale * normal(random), scale * normal(random)};
  return values;
}

// The nearest byte, or the nearest number with 11 significant bits that is a multiple of 2^-24.
double nearest(double value, BeamArithmetic arithmetic) {
  if (arithmetic == BeamArithmetic::int8)
    return std::isnan(value) ? 0 : std::nearbyint(std::clamp(value, -127.0, 127.0));
  value = std::clamp(value, -65504.0, 65504.0);
  if (value == 0) return 0;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(value) - 10, -24));
  return std::nearbyint(value / unit) * unit;
}

std::vector<Wide> nearest(const std::vector<Value>& values, double scale, BeamArithmetic arithmetic) {
  std::vector<Wide> all;
  for (const Value& value : values) {
    const auto part = [&](float x) { return nearest(static_cast<float>(x * static_cast<float>(scale)), arithmetic); };
    all.emplace_back(part(value.real()), part(value.imag()));
  }
  return all;
}

double weight_scale(const std::vector<Value>& weights, BeamArithmetic arithmetic) {
  float largest = 0;
  for (const Value& w : weights) largest = std::max({largest, std::abs(w.real()), std::abs(w.imag())});
  return arithmetic == BeamArithmetic::int8 ? 127 / largest : std::ldexp(1.0, -std::ilogb(largest));
}

// Powers in the order of Beamformer::power().
std::vector<double> exact_powers(const BeamProblem& p, const std::vector<Wide>& in, const std::vector<Wide>& weights) {
  std::vector<double> all;
  const std::size_t rows = p.beams + (p.incoherent ? 1 : 0), bins = p.times / p.integrate;
  for (std::size_t i = 0; i < p.channels * rows * bins; ++i) {
    const std::size_t bin = i % bins, beam = i / bins % rows, channel = i / bins / rows;
    all.push_back(0);
    for (std::size_t t = bin * p.integrate; t < (bin + 1) * p.integrate; ++t) {
      Wide sum = 0;
      for (std::size_t s = 0; s < p.stations; ++s) {
        const Wide x = in[(channel * p.times + t) * p.stations + s];
        if (beam == p.beams) all.back() += std::norm(x);
        if (beam < p.beams) sum += x * weights[(channel * p.beams + beam) * p.stations + s];
      }
      all.back() += std::norm(sum);
    }
  }
  return all;
}

void expect_rounded_beams(const Device& device, BeamProblem p) {
  SCOPED_TRACE(device.id() + (p.arithmetic == BeamArithmetic::int8 ? " int8, " : " float16, ") +
               std::to_string(p.stations) + " stations, " + std::to_string(p.beams) + " beams, " +
               std::to_string(p.times) + " times by " + std::to_string(p.integrate));
  p.incoherent = true, p.scale = 24;
  std::vector<Value> in = normal_values(p.channels * p.times * p.stations, 1, 1);
  const std::vector<Value> weights = normal_values(p.channels * p.beams * p.stations, 2, 0.01F);
  in.front() = {1e6F, -1e6F};  // limited
  Beamformer former(device, p);
  former.set_weights(weights);
  std::vector<float> out(p.channels * former.rows() * former.bins(), std::numeric_limits<float>::quiet_NaN());
  former.power(in, out);
  const double by = weight_scale(weights, p.arithmetic);
  const std::vector<Wide> x = nearest(in, p.scale, p.arithmetic), w = nearest(weights, by, p.arithmetic);
  std::vector<double> expected = exact_powers(p, x, w);
  // Sums of bytes are exact. A sum of 16-bit products has the errors of single precision.
  double magnitude = 0;
  for (const double power : expected) magnitude = std::max(magnitude, power);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool own = i / former.bins() % former.rows() == p.beams;
    const double unit = 1 / (24.0 * 24.0 * (own ? 1 : by * by));
    const double allowed = p.arithmetic == BeamArithmetic::int8 || own
                               ? 2e-6 * expected[i]
                               : 2e-6 * expected[i] + 1e-6 * std::sqrt(expected[i] * magnitude);
    ASSERT_NEAR(out[i], expected[i] * unit, allowed * unit) << "power " << i;
  }
}

std::vector<BeamProblem> rounded_problems(BeamArithmetic arithmetic) {
  return {{.stations = 1, .beams = 1, .times = 1, .arithmetic = arithmetic},
          {.stations = 3, .beams = 2, .times = 67, .channels = 2, .integrate = 5, .arithmetic = arithmetic},
          {.stations = 17, .beams = 65, .times = 130, .integrate = 130, .arithmetic = arithmetic},
          {.stations = 64, .beams = 5, .times = 200, .channels = 3, .threads = 2, .arithmetic = arithmetic},
          {.stations = 128, .beams = 20, .times = 70, .integrate = 16, .arithmetic = arithmetic},
          {.stations = 50, .beams = 130, .times = 300, .channels = 2, .integrate = 12, .arithmetic = arithmetic}};
}

TEST(SearchRoundedBeams, PowerOnTheHost) {
  for (const BeamArithmetic arithmetic : {BeamArithmetic::int8, BeamArithmetic::float16}) {
    for (const BeamProblem& problem : rounded_problems(arithmetic)) expect_rounded_beams(host(), problem);
    expect_rounded_beams(host(), {.stations = 301, .beams = 3, .times = 40, .integrate = 3, .arithmetic = arithmetic});
  }
}

class SearchRoundedBeamsDevice : public test::NeedsAccelerator<> {};
bool is_int8(BeamArithmetic arithmetic) { return arithmetic == BeamArithmetic::int8; }
TEST_F(SearchRoundedBeamsDevice, Power) {
  test::compile_quickly();
  for (const Device& device : test::accelerators()) {
    for (const BeamArithmetic arithmetic : {BeamArithmetic::int8, BeamArithmetic::float16}) {
      for (const BeamProblem& problem : rounded_problems(arithmetic)) {
        if (device.info().runs_on_host_cores && problem.stations == 64) continue;  // seconds of emulated products
        if (problem.stations == 128 && device.limits().local_memory < (std::size_t{96} << 10) && !is_int8(arithmetic)) {
          EXPECT_THAT(test::error_of([&] { expect_rounded_beams(device, problem); }, ErrorKind::invalid_argument),
                      HasSubstr("of local memory"));
          continue;
        }
        expect_rounded_beams(device, problem);
      }
    }
  }
}

// With and without the byte instructions of AVX-512.
TEST(SearchRoundedBeams, SumsOfBytesAreExact) {
  std::mt19937_64 random(11);
  for (const std::size_t pairs : {1, 2, 33, 500}) {
    std::vector<std::uint8_t> quads(pairs * kBeamTile * 4);
    for (std::uint8_t& part : quads) part = static_cast<std::uint8_t>(random());
    std::vector<ByteFactors> factors(pairs);
    std::vector<int> real, imaginary;
    const auto word = [](int low, int high) { return static_cast<std::int32_t>((low & 0xffff) | high * 65536); };
    const auto four = [](int a, int b, int c, int d) {
      return static_cast<std::int32_t>((a & 255) | (b & 255) << 8 | (c & 255) << 16 | d * (1 << 24));
    };
    for (ByteFactors& f : factors) {
      int part[4];
      for (int& one : part) one = static_cast<int>(random() % 255) - 127;
      const auto [ar, ai, br, bi] = part;
      f = {word(ar, br), word(ai, bi), word(-ai, -bi), four(ar, -ai, br, -bi), four(ai, ar, bi, br)};
      real.insert(real.end(), {ar, br}), imaginary.insert(imaginary.end(), {ai, bi});
    }
    for (const BytePower power : {byte_power(), byte_power_of_words()}) {
      std::vector<float> found(kBeamTile);
      power(quads.data(), factors.data(), pairs, found.data());
      for (std::size_t t = 0; t < kBeamTile; ++t) {
        double x = 0, y = 0;
        for (std::size_t s = 0; s < 2 * pairs; ++s) {
          const std::uint8_t* at = quads.data() + (s / 2 * kBeamTile + t) * 4 + s % 2 * 2;
          const int a = at[0] - 128, b = at[1] - 128;
          x += a * real[s] - b * imaginary[s], y += a * imaginary[s] + b * real[s];
        }
        ASSERT_NEAR(found[t], x * x + y * y, 3e-7 * (x * x + y * y)) << pairs << " pairs, time " << t;
      }
    }
  }
}

// Bytes are used as they are, also -128, at which the sums are largest.
void expect_beams_of_bytes(const Device& device) {
  BeamProblem p{.stations = 128, .beams = 3, .times = 24, .integrate = 3, .arithmetic = BeamArithmetic::int8};
  p.incoherent = true;
  std::mt19937_64 random(7);
  std::vector<std::int8_t> bytes(2 * p.times * p.stations);
  std::vector<Wide> in;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = i < 4 * p.stations ? std::int8_t{-128} : static_cast<std::int8_t>(random() % 256 - 128);
  for (std::size_t i = 0; i < bytes.size(); i += 2) in.emplace_back(bytes[i], bytes[i + 1]);
  std::vector<Value> weights;
  for (std::size_t i = 0; i < p.beams * p.stations; ++i)
    weights.emplace_back(i < p.stations ? 1.0F : static_cast<float>(i % 5) / 4, i < p.stations ? -1.0F : 0.25F);
  Beamformer former(device, p);
  former.set_weights(weights);
  std::vector<float> out(former.rows() * former.bins());
  former.power(bytes, out);
  const std::vector<double> expected =
      exact_powers(p, in, nearest(weights, weight_scale(weights, p.arithmetic), p.arithmetic));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double unit = i / former.bins() == p.beams ? 1 : 1 / (127.0 * 127.0);
    ASSERT_NEAR(out[i], expected[i] * unit, 2e-6 * expected[i] * unit) << device.id() << ", power " << i;
  }
}

TEST(SearchRoundedBeams, BytesAreUsedAsTheyAre) { expect_beams_of_bytes(host()); }
TEST_F(SearchRoundedBeamsDevice, BytesAreUsedAsTheyAre) {
  test::compile_quickly();
  for (const Device& device : test::accelerators()) expect_beams_of_bytes(device);
}

// Scales whose squares, or the squares of whose products, a float does not hold.
void expect_far_scales(const Device& device, BeamArithmetic arithmetic, float voltages, float weights) {
  SCOPED_TRACE(device.id() + (arithmetic == BeamArithmetic::int8 ? " int8, " : " float16, ") +
               std::to_string(voltages));
  const BeamProblem p{.stations = 64,
                      .beams = 3,
                      .times = 128,
                      .integrate = 64,
                      .incoherent = true,
                      .arithmetic = arithmetic,
                      .scale = 30 / voltages};
  const auto in = normal_values(p.times * p.stations, 6, voltages), w = normal_values(p.beams * p.stations, 7, weights);
  Beamformer former(device, p);
  former.set_weights(w);
  std::vector<float> out(former.rows() * former.bins(), std::numeric_limits<float>::quiet_NaN());
  former.power(in, out);
  const std::vector<double> expected =
      exact_powers(p, std::vector<Wide>(in.begin(), in.end()), std::vector<Wide>(w.begin(), w.end()));
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i] / expected[i], 1, 0.03) << "power " << i;
  former.power(std::vector<Value>(in.size()), out);
  for (const float power : out) ASSERT_EQ(power, 0);
}

void expect_far_scales(const Device& device) {
  for (const BeamArithmetic arithmetic : {BeamArithmetic::int8, BeamArithmetic::float16}) {
    expect_far_scales(device, arithmetic, 1e17F, 1e-21F);  // the scale of the weights exceeds 1e20
    expect_far_scales(device, arithmetic, 1e-21F, 1e17F);  // that of the voltages
    expect_far_scales(device, arithmetic, 3e-20F, 3e-1F);  // the powers are about 1e-36
    expect_far_scales(device, arithmetic, 1e16F, 1e-1F);   // about 1e36
  }
}
TEST(SearchRoundedBeams, ScalesMayHaveAnySize) { expect_far_scales(host()); }
TEST_F(SearchRoundedBeamsDevice, ScalesMayHaveAnySize) {
  test::compile_quickly();
  for (const Device& device : test::accelerators()) expect_far_scales(device);
}

// Rounding adds noise, but no error of the mean: 1 / 12 of a level per part of a voltage, and the weights' own.
TEST(SearchRoundedBeams, RoundingErrorIsSmall) {
  const std::size_t stations = 32, times = 4096;
  const std::vector<Value> in = normal_values(times * stations, 5, 3), weights = normal_values(2 * stations, 6, 1);
  const auto power = [&](BeamArithmetic arithmetic, float scale) {
    Beamformer former(host(), {.stations = stations,
                               .beams = 2,
                               .times = times,
                               .integrate = times,
                               .arithmetic = arithmetic,
                               .scale = scale});
    former.set_weights(weights);
    std::vector<float> out(2);
    former.power(in, out);
    return out;
  };
  const std::vector<float> exact = power(BeamArithmetic::float32, 1);
  for (std::size_t b = 0; b < 2; ++b) {
    EXPECT_NEAR(power(BeamArithmetic::int8, 8)[b] / exact[b], 1, 0.01);
    EXPECT_NEAR(power(BeamArithmetic::float16, 1)[b] / exact[b], 1, 1e-3);
  }
}

TEST(SearchRoundedBeams, RefusesImpossibleProblems) {
  const auto refused = [](const std::function<void()>& call) {
    return ridge::test::error_of(call, ErrorKind::invalid_argument);
  };
  const BeamArithmetic int8 = BeamArithmetic::int8;
  EXPECT_THAT(refused([] { Beamformer(host(), {.stations = 1, .beams = 1, .times = 1, .scale = 2}); }),
              HasSubstr("1 for float32"));
  EXPECT_THAT(
      refused([&] { Beamformer(host(), {.stations = 1, .beams = 1, .times = 1, .arithmetic = int8, .scale = 0}); }),
      HasSubstr("must be above 0"));
  EXPECT_THAT(refused([&] { Beamformer(host(), {.stations = 30001, .beams = 1, .times = 1, .arithmetic = int8}); }),
              HasSubstr("at most 30000 stations"));
  std::vector<Value> in(2), weights(2), out(2);
  std::vector<float> power(1);
  std::vector<std::int8_t> bytes(4);
  Beamformer plain(host(), {.stations = 2, .beams = 1, .times = 1});
  plain.set_weights(weights);
  EXPECT_THAT(refused([&] { plain.power(bytes, power); }), HasSubstr("need the arithmetic int8"));
  Beamformer former(host(), {.stations = 2, .beams = 1, .times = 1, .arithmetic = int8});
  EXPECT_THAT(refused([&] { former.power(bytes, power); }), HasSubstr("set_weights"));
  former.set_weights(weights);
  bytes.resize(3);
  EXPECT_THAT(refused([&] { former.power(bytes, power); }), HasSubstr("input"));
  EXPECT_THAT(refused([&] { former.voltages(in, out); }), HasSubstr("need the arithmetic float32"));
  weights[1] = {0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THAT(refused([&] { former.set_weights(weights); }), HasSubstr("finite weights"));
  weights[1] = {0, std::numeric_limits<float>::denorm_min()};
  EXPECT_THAT(refused([&] { former.set_weights(weights); }), HasSubstr("larger weights"));
  for (const Device& device : test::accelerators()) {
    Beamformer wide(device, {.stations = 200, .beams = 1, .times = 1, .arithmetic = int8});
    wide.set_weights(std::vector<Value>(200));
    const std::vector<Value> many(200);
    EXPECT_THAT(refused([&] { wide.power(many, power); }), HasSubstr("use float32 or the host"));
  }
}

}  // namespace
}  // namespace ridge::search
