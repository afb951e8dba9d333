// Interface of a running grid, in one process or distributed over several.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <ridge/error.hpp>
#include <ridge/stencil.hpp>

namespace ridge::stencil {

// Slabs [begin, end) of the slowest axis of one field of the whole grid, packed.
template <class T>
using SlabReader = std::function<void(std::size_t field, std::size_t begin, std::size_t end, T* cells)>;

// Initial state: one value per field for cell (z, y, x) of the whole grid.
template <class T>
using InitialState = std::function<void(const std::array<std::size_t, 3>& cell, T* values)>;

template <class T>
class Domain {
 public:
  virtual ~Domain() = default;
  // True for the process that prints and writes files.
  virtual bool root() const = 0;
  virtual std::size_t processes() const = 0;
  // Both must be called by all processes; only the root uses `read`.
  virtual void start(const InitialState<T>& initial) = 0;
  virtual void load(const SlabReader<T>& read) = 0;
  virtual void run(std::size_t steps) = 0;  // blocks until done
  // The box of the whole grid that this process owns, and its cells, one field after another. put_part() restarts.
  virtual Box part() const = 0;
  virtual void read_part(std::span<T> cells) = 0;
  virtual void put_part(std::span<const T> cells) = 0;
  // Compiles what run(steps) will need, so that run() only computes.
  virtual void prepare(std::size_t /*steps*/) {}
  virtual std::size_t leaps_from() const {
    return 0;
  }                       // number of steps from which they are computed at once by a leap; 0: never
  virtual void steady();  // computes the steady state
  virtual double step_seconds() const { return 0; }  // as planned; 0: unknown
  virtual double moving_seconds() const {
    return 0;
  }  // so far, for transfers of grids to and from the device; 0: unknown
  // Root: calls `use` with a reader of the whole grid; the other processes serve their parts. An exception of `use` is
  // thrown in every process, in the others as Error{io} without a text.
  virtual void show(const std::function<void(const SlabReader<T>&)>& use) = 0;
  // The root's number, for all processes; the largest of all.
  virtual double from_root(double value) = 0;
  virtual double largest(double value) = 0;
  virtual std::string explain() const = 0;  // the plan, and how the grid is distributed
  virtual std::string variant() const = 0;  // name of the chosen variant
  // Called by all processes: where the time of run() went since the start; empty if there is only one process.
  virtual std::string spent() { return {}; }
};

template <class T>
void Domain<T>::steady() {
  throw Error(ErrorKind::invalid_argument,
              "stencil: the steady state needs a run in one process: start it without mpirun");
}

// Policy for the cuts between processes: fixed; moved as process speeds change, if that gains several times its cost;
// moved after every block.
enum class Cuts { fixed, moving, every_block };

struct DomainOptions {
  planner::Options planner = {};
  std::string processes = {};        // "2x2": processes along each axis, slowest first; empty: chosen
  std::size_t depth = 0;             // steps between exchanges of halos; 0: chosen
  std::optional<bool> overlap = {};  // exchange while the interior is computed; unset: measured
  // One speed per process, the same list on all: parts are proportional. Empty: measured if planning measures, and
  // equal if the speeds are alike.
  std::vector<double> speeds = {};
  Cuts cuts = Cuts::fixed;
  bool shared = false;  // one grid in memory that the processes of one machine share, instead of parts with halos
};

// The whole grid in this process.
template <class T>
std::unique_ptr<Domain<T>> local_domain(const Device& device, const Update<T>& update, const Problem& problem,
                                        const DomainOptions& options);

// Fills a part of the whole grid, all fields, with all threads.
template <class T>
void fill_initial(const InitialState<T>& initial, const Box& part, std::size_t fields, std::size_t threads, T* cells);

}  // namespace ridge::stencil
