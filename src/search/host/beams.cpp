// Beams on the host, tile of times by tile.
#include "search/beam_state.hpp"

#include <cmath>

#include "search/beam_rounding.hpp"
#include "search/host/beam_tiles.hpp"
#include "search/host/rows.hpp"

namespace ridge::search {
namespace {

using Value = std::complex<float>;

struct FloatTile {
  explicit FloatTile(std::size_t stations) : real(stations * kBeamTile), imaginary(stations * kBeamTile) {}
  std::vector<float> real, imaginary;  // stations x kBeamTile
};

struct ByteTile {
  explicit ByteTile(std::size_t stations) : quads((stations + 1) / 2 * kBeamTile * 4) {}
  std::vector<std::uint8_t> quads;  // as byte_power() reads them
};

// Fills a tile with rounded voltages, and with zeros after `count` times.
void load_floats(const BeamProblem& p, const Value* from, FloatTile& tile, std::size_t channel, std::size_t t0,
                 std::size_t count) {
  const Value* x = from + (channel * p.times + t0) * p.stations;
  for (std::size_t s = 0; s < p.stations; ++s) {
    float *real = tile.real.data() + s * kBeamTile, *imaginary = tile.imaginary.data() + s * kBeamTile;
    for (std::size_t t = 0; t < count; ++t) {
      const Value value = x[t * p.stations + s];
      const bool exact = p.arithmetic == BeamArithmetic::float32;
      const Value stored = exact ? value : rounded(value, p.scale, p.arithmetic);
      real[t] = stored.real(), imaginary[t] = stored.imag();
    }
    std::fill(real + count, real + kBeamTile, 0.0F);
    std::fill(imaginary + count, imaginary + kBeamTile, 0.0F);
  }
}

// Fills a tile of bytes. `pair(i)`: the voltage i as two signed bytes.
template <class Pair>
void load_bytes(const BeamProblem& p, const Pair& pair, ByteTile& tile, std::size_t channel, std::size_t t0,
                std::size_t count) {
  constexpr std::uint8_t kZero = 128;
  std::fill(tile.quads.begin(), tile.quads.end(), kZero);
  const std::size_t first = (channel * p.times + t0) * p.stations;
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t s = 0; s < p.stations; ++s) {
      const std::array<std::int8_t, 2> parts = pair(first + t * p.stations + s);
      std::uint8_t* to = tile.quads.data() + (s / 2 * kBeamTile + t) * 4 + s % 2 * 2;
      to[0] = static_cast<std::uint8_t>(parts[0] + 128), to[1] = static_cast<std::uint8_t>(parts[1] + 128);
    }
  }
}

std::vector<ByteFactors> byte_factors(const BeamProblem& p, const std::vector<Value>& weights) {
  const std::size_t pairs = (p.stations + 1) / 2, beams = p.channels * p.beams;
  std::vector<ByteFactors> factors(beams * pairs);
  const auto integer = [](float value, std::uint32_t mask) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value)) & mask;
  };
  const auto words = [&](float low, float high) {
    return static_cast<std::int32_t>(integer(low, 0xffff) | integer(high, 0xffff) << 16);
  };
  const auto bytes = [&](float a, float b, float c, float d) {
    return static_cast<std::int32_t>(integer(a, 255) | integer(b, 255) << 8 | integer(c, 255) << 16 |
                                     integer(d, 255) << 24);
  };
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::size_t beam = i / pairs, station = i % pairs * 2;
    const Value a = weights[beam * p.stations + station];
    const Value b = station + 1 < p.stations ? weights[beam * p.stations + station + 1] : Value();
    factors[i] = {.real = words(a.real(), b.real()),
                  .imaginary = words(a.imag(), b.imag()),
                  .negative = words(-a.imag(), -b.imag()),
                  .real_bytes = bytes(a.real(), -a.imag(), b.real(), -b.imag()),
                  .imaginary_bytes = bytes(a.imag(), a.real(), b.imag(), b.real())};
  }
  return factors;
}

void scale_powers(const BeamState& state, float voltage_scale, float* to) {
  const double own = 1 / std::pow(static_cast<double>(voltage_scale), 2);
  const double beam = own / std::pow(static_cast<double>(state.weight_scale), 2);
  const std::size_t rows = state.rows(), bins = state.bins();
  if (own == 1 && beam == 1) return;
  for (std::size_t row = 0; row < state.problem.channels * rows; ++row) {
    const double factor = row % rows < state.problem.beams ? beam : own;
    for (std::size_t i = 0; i < bins; ++i) to[row * bins + i] = static_cast<float>(to[row * bins + i] * factor);
  }
}

template <class Pair>
void byte_power_on_host(const BeamState& state, const Pair& pair, float* to) {
  const BeamProblem& p = state.problem;
  const std::size_t pairs = (p.stations + 1) / 2;
  const BytePower sums = byte_power();
  std::fill(to, to + p.channels * state.rows() * state.bins(), 0.0F);
  const auto load = [&](ByteTile& tile, std::size_t channel, std::size_t t0, std::size_t count) {
    load_bytes(p, pair, tile, channel, t0, count);
  };
  each_tile<ByteTile>(p, load, [&](const ByteTile& tile, std::size_t channel, std::size_t t0, std::size_t count) {
    float power[kBeamTile];
    float* row = to + channel * state.rows() * state.bins();
    for (std::size_t b = 0; b < p.beams; ++b, row += state.bins()) {
      sums(tile.quads.data(), state.factors.data() + (channel * p.beams + b) * pairs, pairs, power);
      add_powers(power, t0, count, p.integrate, row);
    }
    if (!p.incoherent) return;
    for (std::size_t t = 0; t < count; ++t) {
      std::int64_t own = 0;
      for (std::size_t s = 0; s < 4 * pairs; ++s) {
        const int part = tile.quads[(s / 4 * kBeamTile + t) * 4 + s % 4] - 128;
        own += part * part;
      }
      power[t] = static_cast<float>(own);
    }
    add_powers(power, t0, count, p.integrate, row);
  });
}

}  // namespace

void BeamState::set_byte_factors() { factors = byte_factors(problem, weights); }

void BeamState::power_on_host(const Value* from, float* to) const {
  if (problem.arithmetic == BeamArithmetic::int8) {
    const auto part = [&](float value) {
      return static_cast<std::int8_t>(rounded(value * problem.scale, BeamArithmetic::int8));
    };
    byte_power_on_host(
        *this,
        [&](std::size_t i) {
          return std::array{part(from[i].real()), part(from[i].imag())};
        },
        to);
    return scale_powers(*this, problem.scale, to);
  }
  const std::size_t n = problem.stations;
  std::fill(to, to + problem.channels * rows() * bins(), 0.0F);
  const auto load = [&](FloatTile& tile, std::size_t channel, std::size_t t0, std::size_t count) {
    load_floats(problem, from, tile, channel, t0, count);
  };
  each_tile<FloatTile>(problem, load,
                       [&](const FloatTile& tile, std::size_t channel, std::size_t t0, std::size_t count) {
                         float sum_real[kBeamTile], sum_imaginary[kBeamTile];
                         float* row = to + channel * rows() * bins();
                         for (std::size_t b = 0; b < problem.beams; ++b, row += bins()) {
                           beam_sums()(tile.real.data(), tile.imaginary.data(),
                                       weights.data() + (channel * problem.beams + b) * n, n, sum_real, sum_imaginary);
                           for (std::size_t t = 0; t < kBeamTile; ++t)
                             sum_real[t] = sum_real[t] * sum_real[t] + sum_imaginary[t] * sum_imaginary[t];
                           add_powers(sum_real, t0, count, problem.integrate, row);
                         }
                         if (!problem.incoherent) return;
                         for (std::size_t t = 0; t < count; ++t) {
                           float own = 0;
                           for (std::size_t s = 0; s < n; ++s) {
                             const float a = tile.real[s * kBeamTile + t], b = tile.imaginary[s * kBeamTile + t];
                             own += a * a + b * b;
                           }
                           sum_real[t] = own;
                         }
                         add_powers(sum_real, t0, count, problem.integrate, row);
                       });
  scale_powers(*this, problem.arithmetic == BeamArithmetic::float32 ? 1 : problem.scale, to);
}

void BeamState::bytes_on_host(const std::int8_t* from, float* to) const {
  byte_power_on_host(
      *this,
      [&](std::size_t i) {
        return std::array{from[2 * i], from[2 * i + 1]};
      },
      to);
  scale_powers(*this, 1, to);
}

void BeamState::voltages_on_host(const Value* from, Value* to) const {
  const auto load = [&](FloatTile& tile, std::size_t channel, std::size_t t0, std::size_t count) {
    load_floats(problem, from, tile, channel, t0, count);
  };
  each_tile<FloatTile>(
      problem, load, [&](const FloatTile& tile, std::size_t channel, std::size_t t0, std::size_t count) {
        float sum_real[kBeamTile], sum_imaginary[kBeamTile];
        for (std::size_t b = 0; b < problem.beams; ++b) {
          const std::size_t beam = channel * problem.beams + b;
          beam_sums()(tile.real.data(), tile.imaginary.data(), weights.data() + beam * problem.stations,
                      problem.stations, sum_real, sum_imaginary);
          for (std::size_t t = 0; t < count; ++t) to[beam * problem.times + t0 + t] = {sum_real[t], sum_imaginary[t]};
        }
      });
}

}  // namespace ridge::search
