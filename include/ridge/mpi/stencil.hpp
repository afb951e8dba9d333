// A stencil's grid spread over processes: each owns a box, and halos travel while the interior is computed. The same
// bits as one process finds, where the variant is exact (all of the host's are).
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

// Where the cuts between processes lie while it runs: as they were made; moved on the host as processes become slower
// and faster, where that gains several times what it takes; moved after every block, for tests. Where they move, box()
// is another one after run().
enum class Cuts { fixed, moving, restless };

struct Options {
  planner::Options planning = {};
  std::string processes = {};        // "2x2": how many along each axis, slowest first; empty: chosen
  std::size_t halo = 0;              // steps between exchanges; 0: chosen
  std::optional<bool> overlap = {};  // exchange while the interior is computed; nothing: measured while it runs
  // One a process, the same on all: boxes as large as processes are fast. None: measured by a plan that measures, on
  // the host, and equal where they are alike.
  std::vector<double> speeds = {};
  Cuts cuts = Cuts::fixed;
};

// T: float, double, std::int32_t, std::uint8_t. Every call is made by all processes.
template <class T>
class Session {
 public:
  Session(const Communicator& communicator, const Device& device, const ridge::stencil::Update<T>& update,
          const ridge::stencil::Problem& problem, const Options& options = {});
  Box box() const;  // this process's cells
  // Each process's own cells: a function of the cell's place in the whole grid, a value a field; or the cells of its
  // box, a field after the other.
  void start(const std::function<void(const std::array<std::size_t, 3>& cell, T* values)>& initial);
  void start(std::span<const T> cells);
  void run(std::size_t steps);
  void read(std::span<T> cells) const;
  // A checkpoint by all: each process writes its own cells into one .npy file of fields x grid, which appears when all
  // have. load() starts from one, on any number of processes.
  void save(const std::string& path) const;
  void load(const std::string& path);
  // How the grid is cut, what each process sends, what runs; and where the time of run() went.
  std::string explain() const;
  std::string spent() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ridge::mpi::stencil
