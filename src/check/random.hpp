// Random numbers and noise for drawing problems, the same for the same seed on every machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ridge::check {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  double uniform();  // [0, 1)
  bool chance(double probability) { return uniform() < probability; }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits() % count); }
  std::size_t between(std::size_t least, std::size_t most) { return least + below(most - least + 1); }
  // Uniform in the logarithm: small numbers are as frequent as large ones. 1 if `most` is less.
  std::size_t magnitude(std::size_t most);
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  // A length up to `most` of a difficult kind: small, a power of two or its neighbours, of small factors, prime, any.
  std::size_t length(std::size_t most);

 private:
  std::uint64_t state_;
};

enum class Values {
  bytes,    // uniform over all byte values
  float32,  // uniform in [-1, 1), like float64
  float64,
};
// Fills memory; bytes after the last whole number are unchanged.
void fill_values(std::span<std::byte> memory, Values values, std::uint64_t seed);

// Random input for the checks, independent of the library's own generators.

inline void fill_bits(std::span<std::byte> bytes, Random random) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = random.bits();
    std::memcpy(bytes.data() + at, &word, bytes.size() - at < 8 ? bytes.size() - at : 8);
  }
}

// Uniform in [-1, 1).
inline void fill_floats(std::span<std::byte> bytes, Random random) {
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    const auto value = static_cast<float>(2 * random.uniform() - 1);
    std::memcpy(bytes.data() + at, &value, 4);
  }
}

}  // namespace ridge::check
