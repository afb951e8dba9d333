// Random numbers for drawing problems, the same for the same seed on every machine.
#pragma once
#include <cstddef>
#include <cstdint>
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

}  // namespace ridge::check
