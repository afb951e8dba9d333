// Problems by chance, the same for the same seed on every machine.
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
  // As many small numbers as large ones: uniform in the logarithm. 1 where `most` is less.
  std::size_t magnitude(std::size_t most);
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  // A length nobody likes, up to `most`: small, a power of two or its neighbours, of small factors, prime, any.
  std::size_t length(std::size_t most);

 private:
  std::uint64_t state_;
};

enum class Values {
  bytes,    // any
  float32,  // uniform in [-1, 1), as are doubles
  float64,
};
// Fills memory; bytes behind the last whole number are left alone.
void fill_values(std::span<std::byte> memory, Values values, std::uint64_t seed);

}  // namespace ridge::check
