// Generates the random numbers of the checks, the same on every machine.
#include "check/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ridge::check {
namespace {

bool is_prime(std::size_t n) {
  for (std::size_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return false;
  }
  return n > 1;
}

}  // namespace

std::uint64_t Random::bits() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

std::size_t Random::magnitude(std::size_t most) {
  const double chosen = std::exp(uniform() * std::log(static_cast<double>(std::max<std::size_t>(most, 1)) + 0.999));
  return std::clamp<std::size_t>(static_cast<std::size_t>(chosen), 1, std::max<std::size_t>(most, 1));
}

std::size_t Random::length(std::size_t most) {
  const std::size_t kind = below(6), any = magnitude(most);
  std::size_t power = 1;
  while (2 * power <= any) power *= 2;
  std::size_t chosen = any;
  switch (kind) {
    case 0:
      chosen = 1 + below(16);
      break;
    case 1:
      chosen = power;
      break;
    case 2:
      chosen = below(2) == 0 ? power + 1 : power - 1;
      break;
    case 3:  // product of small factors
      chosen = 1;
      for (const std::size_t factors[] = {2, 3, 5, 7, 11, 13}; chosen * 2 <= any;) {
        const std::size_t next = chosen * factors[below(6)];
        if (next > any) break;
        chosen = next;
      }
      break;
    case 4:
      while (chosen > 2 && !is_prime(chosen)) --chosen;
      break;
    default:
      break;
  }
  return std::clamp<std::size_t>(chosen, 1, std::max<std::size_t>(most, 1));
}

void fill_values(std::span<std::byte> memory, Values values, std::uint64_t seed) {
  Random random(seed);
  const auto fill = [&]<class T>(T) {
    for (std::size_t at = 0; at + sizeof(T) <= memory.size(); at += sizeof(T)) {
      T number{};
      if constexpr (std::is_floating_point_v<T>) {
        // As many bits as T holds exactly, so that rounding never gives 1.
        constexpr int kBits = std::numeric_limits<T>::digits;
        constexpr T kUnit = T(1) / T(std::int64_t{1} << kBits);
        number = static_cast<T>(static_cast<std::int64_t>(random.bits()) >> (63 - kBits)) * kUnit;
      } else {
        number = static_cast<T>(random.bits());
      }
      std::memcpy(memory.data() + at, &number, sizeof(T));
    }
  };
  if (values == Values::float32) return fill(float{});
  if (values == Values::float64) return fill(double{});
  fill(std::uint8_t{});
}

}  // namespace ridge::check
