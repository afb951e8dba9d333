// States of interrupted runs as bytes: numbers and arrays one after another, read back in the same order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <ridge/error.hpp>

namespace ridge::stencil {

inline constexpr std::size_t kSavedRecord = 1, kSavedGradient = 2, kSavedPlanGradient = 3;

class SavedRun {
 public:
  // `what` identifies the run: its kind, steps and sizes. The continued run must have the same.
  explicit SavedRun(const std::vector<std::size_t>& what) {
    for (const std::size_t number : what) add(std::uint64_t{number});
  }
  void add(std::uint64_t number) { add(&number, 1); }
  template <class Value>
  void add(const Value* values, std::size_t count) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + count * sizeof(Value));
    if (count > 0) std::memcpy(bytes_.data() + before, values, count * sizeof(Value));
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_{};
};

// Error{invalid_argument} if the bytes are those of another run.
class SavedRunReader {
 public:
  SavedRunReader(std::span<const std::byte> bytes, const std::vector<std::size_t>& what) : rest_(bytes) {
    for (const std::size_t number : what) {
      if (word() != number) refuse();
    }
  }
  std::uint64_t word() {
    std::uint64_t number = 0;
    get(&number, 1);
    return number;
  }
  template <class Value>
  void get(Value* values, std::size_t count) {
    if (count > rest_.size() / sizeof(Value)) refuse();
    if (count > 0) std::memcpy(values, rest_.data(), count * sizeof(Value));
    rest_ = rest_.subspan(count * sizeof(Value));
  }

  std::size_t left() const { return rest_.size(); }
  [[noreturn]] static void refuse() {
    throw Error(ErrorKind::invalid_argument,
                "stencil: the saved state is that of another run: it needs the same problem, shots, steps and device");
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace ridge::stencil
