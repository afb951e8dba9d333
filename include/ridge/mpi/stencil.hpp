// Stencils on a grid distributed over processes: each owns a box, and halos are exchanged while the interior is
// computed. Results are bit-identical to one process if the variant is exact (all host variants are).
//
//   ridge::mpi::stencil::Session<float> heat(all, ridge::host(), update, {.shape = {4096, 4096}});
//   heat.start([](const std::array<std::size_t, 3>& cell, float* value) { *value = cell[0] == 0 ? 1.0f : 0.0f; });
//   heat.run(1000);
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>
#include <ridge/stencil.hpp>

namespace ridge::mpi::stencil {

// Load balancing of the cuts between processes. fixed: as first made. moving: adjusted on the host as process speeds
// change, if the gain is several times the cost. every_block: moved after every block, for tests. After a move box()
// returns a different box.
enum class Cuts { fixed, moving, every_block };

struct Options {
  planner::Options planning = {};
  std::string processes = {};        // "2x2": processes along each axis, slowest first; empty: chosen
  std::size_t halo = 0;              // steps between exchanges; 0: chosen
  std::optional<bool> overlap = {};  // exchange while the interior is computed; unset: measured at run time
  // Relative speeds, one per process, the same list on all; box sizes are proportional to them. Empty: measured on the
  // host by plans that measure, and equal if the processes are alike.
  std::vector<double> speeds = {};
  Cuts cuts = Cuts::fixed;
  // One grid in memory that the processes of one machine share, instead of parts with halos: each process takes tiles
  // from a common counter, so that none waits for a slow core. Error if it is not available.
  bool shared = false;
};

// T: float, double, std::int32_t, std::uint8_t. Every call is collective.
template <class T>
class Session {
 public:
  Session(const Communicator& communicator, const Device& device, const ridge::stencil::Update<T>& update,
          const ridge::stencil::Problem& problem, const Options& options = {});
  Box box() const;  // this process's cells
  // Sets this process's cells: from a function of the cell's position in the whole grid that writes one value per
  // field, or from the cells of its box, field after field.
  void start(const std::function<void(const std::array<std::size_t, 3>& cell, T* values)>& initial);
  void start(std::span<const T> cells);
  void run(std::size_t steps);
  void read(std::span<T> cells) const;
  // Collective checkpoint: each process writes its own cells into one .npy file of fields x grid, which appears when it
  // is complete. load() starts from one, on any number of processes.
  void save(const std::string& path) const;
  void load(const std::string& path);
  // explain(): the decomposition, the bytes each process sends, the variant. spent(): breakdown of the time in run().
  std::string explain() const;
  std::string spent() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ridge::mpi::stencil
