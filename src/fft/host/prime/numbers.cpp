// Finds generators, powers modulo a prime, and smooth lengths of low cost.
#include "fft/host/prime/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ridge::fft::prime {

std::vector<std::size_t> prime_factors(std::size_t n) {
  std::vector<std::size_t> factors;
  for (std::size_t p = 2; p * p <= n; p += p == 2 ? 1 : 2) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);
  return factors;
}

bool is_prime(std::size_t n) {
  if (n < 2) return false;
  for (std::size_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return false;
  }
  return true;
}

std::size_t power_modulo(std::size_t base, std::size_t exponent, std::size_t modulus) {
  std::uint64_t result = 1 % modulus, square = base % modulus;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * square % modulus;
    square = square * square % modulus;
  }
  return result;
}

std::size_t primitive_root(std::size_t p) {
  if (p == 2) return 1;
  std::vector<std::size_t> factors = prime_factors(p - 1);
  factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
  for (std::size_t g = 2;; ++g) {
    const auto too_short = [&](std::size_t q) { return power_modulo(g, (p - 1) / q, p) == 1; };
    if (std::none_of(factors.begin(), factors.end(), too_short)) return g;
  }
}

double transform_cost(std::size_t n) {
  double weighted = 0;  // per pass: log2 of its radix, times its slowdown relative to powers of two
  std::size_t odd = n >> std::countr_zero(n);
  weighted += std::countr_zero(n);
  const double factor[] = {1.25, 1.35, 1.6, 2.1, 2.3};
  const std::size_t primes[] = {3, 5, 7, 11, 13};
  for (int i = 0; i < 5; ++i) {
    for (; odd % primes[i] == 0; odd /= primes[i]) weighted += factor[i] * std::log2(static_cast<double>(primes[i]));
  }
  // Lengths with few factors of two leave vectors partly empty.
  const double layout = std::has_single_bit(n) ? 1.0 : n % 16 == 0 ? 1.15 : 1.5;
  return layout * 5 * static_cast<double>(n) * weighted;
}

// Considers every number 2^a 3^b 5^c 7^d 11^e in [at_least, next power of two] with at most one 11.
std::size_t smooth_length(std::size_t at_least) {
  const std::size_t limit = std::bit_ceil(at_least);
  std::size_t best = limit;
  double least = transform_cost(limit);
  for (std::size_t e = 1; e <= 11; e += 10) {
    for (std::size_t d = e; d < limit; d *= 7) {
      for (std::size_t c = d; c < limit; c *= 5) {
        for (std::size_t odd = c; odd < limit; odd *= 3) {
          std::size_t n = odd;
          while (n < at_least) n *= 2;
          if (n < limit && transform_cost(n) < least) best = n, least = transform_cost(n);
        }
      }
    }
  }
  return best;
}

}  // namespace ridge::fft::prime
