// Processes of one machine that compute a grid in shared memory together. Each takes tiles from a common counter, so
// that a slow core computes fewer of them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace ridge::stencil {

struct Team {
  std::size_t rank = 0, count = 1, threads = 1;  // this process, the processes, threads of each
  // In shared memory, 0 at first: the next tile, and the number of sweeps that each tile has completed.
  std::atomic<std::uint64_t>* next = nullptr;
  std::span<std::atomic<std::uint32_t>> done = {};
  std::function<void()> barrier = {};  // stores before it are visible to all processes after it

  // Tiles of a grid that `done` has room for.
  static std::size_t most_tiles(std::size_t cells) { return 4096 + cells / 1024; }
};

}  // namespace ridge::stencil
