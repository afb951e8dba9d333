// Computes noise and tones at any position of a stream.
#include "io/telescopes/signal.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <type_traits>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

// Pseudo-random bits for each position (splitmix64).
std::uint64_t random_at(std::uint64_t place) {
  std::uint64_t z = place * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Sums of two uniform numbers in every lane of a word, minus their mean: a triangular distribution over half the range
// of the type.
template <class Lane>
std::uint64_t triangles(std::uint64_t a, std::uint64_t b, std::uint64_t mask, Lane mean) {
  std::uint64_t sums = (a & mask) + (b & mask);
  Lane lanes[8 / sizeof(Lane)];
  std::memcpy(lanes, &sums, 8);
  for (Lane& lane : lanes) lane = static_cast<Lane>(lane - mean);
  std::memcpy(&sums, lanes, 8);
  return sums;
}

std::uint64_t noise_word(SampleType type, std::uint64_t place) {
  const std::uint64_t a = random_at(place);
  switch (type) {
    case SampleType::int4:
      return a;
    case SampleType::int8:
      return triangles<std::int8_t>(a, a >> 1 ^ a << 7, 0x1f1f1f1f1f1f1f1fu, 31);
    case SampleType::int16:
      return triangles<std::int16_t>(a, a >> 3 ^ a << 13, 0x1fff1fff1fff1fffu, 8191);
    default: {
      std::uint32_t parts[2] = {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32)};
      float values[2];
      for (int i = 0; i < 2; ++i) values[i] = static_cast<float>(parts[i] >> 8) / 16777216.0f - 0.5f;
      std::uint64_t word = 0;
      std::memcpy(&word, values, 8);
      return word;
    }
  }
}

template <class T>
void add_to(std::byte* at, double re, double im, double least, double most) {
  T parts[2];
  std::memcpy(parts, at, sizeof parts);
  const auto sum = [&](T part, double more) {
    const double value = std::clamp(static_cast<double>(part) + more, least, most);
    return static_cast<T>(std::is_integral_v<T> ? std::nearbyint(value) : value);
  };
  parts[0] = sum(parts[0], re);
  parts[1] = sum(parts[1], im);
  std::memcpy(at, parts, sizeof parts);
}

}  // namespace

Signal::Signal(const SampleInfo& info, std::uint64_t seed, std::vector<Tone> tones)
    : info_(info), seed_(random_at(seed + 1)), tones_(std::move(tones)) {
  if (!tones_.empty() && info.type == SampleType::int4) {
    throw Error(ErrorKind::invalid_argument, "int4 samples support noise only: remove the tones");
  }
}

void Signal::fill(std::uint64_t at, std::span<std::byte> to) const {
  std::uint64_t place = seed_ + at / 8;
  std::size_t from = static_cast<std::size_t>(at % 8);  // byte offset in the first word
  for (std::size_t i = 0; i < to.size(); from = 0, ++place) {
    const std::uint64_t word = noise_word(info_.type, place);
    const std::size_t now = std::min(to.size() - i, 8 - from);
    std::memcpy(to.data() + i, reinterpret_cast<const std::byte*>(&word) + from, now);
    i += now;
  }
  if (!tones_.empty()) add_tones(at, to);
}

void Signal::add_tones(std::uint64_t at, std::span<std::byte> to) const {
  const std::size_t each = complex_bytes(info_.type);
  const std::uint64_t frame = info_.block * info_.sample_bytes();
  for (std::size_t i = 0; i + each <= to.size(); i += each) {
    const std::uint64_t position = at + i;
    const std::uint64_t within = position % frame % (frame / info_.streams);
    const std::uint64_t sample = position / frame * info_.block + within / (each * info_.polarizations);
    double re = 0, im = 0;
    for (const Tone& tone : tones_) {
      const double turns = std::fmod(tone.frequency * static_cast<double>(sample), 1.0);
      re += tone.amplitude * std::cos(2 * std::numbers::pi * turns);
      im += tone.amplitude * std::sin(2 * std::numbers::pi * turns);
    }
    switch (info_.type) {
      case SampleType::int8:
        add_to<std::int8_t>(to.data() + i, 127 * re, 127 * im, -128, 127);
        break;
      case SampleType::int16:
        add_to<std::int16_t>(to.data() + i, 32767 * re, 32767 * im, -32768, 32767);
        break;
      default:
        add_to<float>(to.data() + i, re, im, -1e30, 1e30);
        break;
    }
  }
}

}  // namespace ridge::io
