// A grid that runs, in one process or spread over many: what a driver works with.
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

// The state at the start: the cell (z, y, x) of the whole grid, a value a field.
template <class T>
using InitialState = std::function<void(const std::array<std::size_t, 3>& cell, T* values)>;

template <class T>
class Domain {
 public:
  virtual ~Domain() = default;
  // The one process that talks and writes files.
  virtual bool root() const = 0;
  virtual std::size_t processes() const = 0;
  // Both must be called by all processes; `read` is only used by the root.
  virtual void start(const InitialState<T>& initial) = 0;
  virtual void load(const SlabReader<T>& read) = 0;
  virtual void run(std::size_t steps) = 0;  // waits
  // What this process owns of the whole grid, and its cells, a field after the other. put_part() starts anew.
  virtual Box part() const = 0;
  virtual void read_part(std::span<T> cells) = 0;
  virtual void put_part(std::span<const T> cells) = 0;
  // Compiles what so many steps will need, so that running is all that run() does.
  virtual void prepare(std::size_t /*steps*/) {}
  virtual std::size_t leaps_from() const { return 0; }  // steps that are leapt over at once; 0: never
  virtual void steady();                                // what ever more steps would lead to
  virtual double step_seconds() const { return 0; }     // as planned; 0: unknown
  virtual double moving_seconds() const { return 0; }   // so far, of grids to where they run and back; 0: unknown
  // Root: calls `use` with a reader of the whole grid. The others lend their parts meanwhile. An exception of `use`
  // is thrown by every process, by the others as Error{io} without a text.
  virtual void show(const std::function<void(const SlabReader<T>&)>& use) = 0;
  // The root's number, for all; the largest of all.
  virtual double from_root(double value) = 0;
  virtual double largest(double value) = 0;
  virtual std::string explain() const = 0;  // the plan, and how the grid is spread
  virtual std::string variant() const = 0;  // what runs
  // By all processes: where the time of run() went since the start; empty where there is nobody to wait for.
  virtual std::string spent() { return {}; }
};

template <class T>
void Domain<T>::steady() {
  throw Error(ErrorKind::invalid_argument, "stencil: the steady state is found in one process only");
}

// Where the cuts between processes lie while it runs: as they were made; moved as processes become slower and faster,
// where that gains several times what it takes; moved after every block, whatever it gains.
enum class Cuts { fixed, moving, restless };

struct DomainWishes {
  planner::Options planner = {};
  std::string processes = {};        // "2x2": how many along each axis, slowest first; empty: chosen
  std::size_t depth = 0;             // steps between exchanges of halos; 0: chosen
  std::optional<bool> overlap = {};  // exchange while the interior is computed; nothing: measured
  // A process each, the same on all: parts as large as processes are fast. None: measured where planning measures, and
  // equal where that finds them alike.
  std::vector<double> speeds = {};
  Cuts cuts = Cuts::fixed;
};

// All of it in this process.
template <class T>
std::unique_ptr<Domain<T>> local_domain(const Device& device, const Update<T>& update, const Problem& problem,
                                        const DomainWishes& wishes);

// Fills a part of the whole grid, all its fields, with all threads.
template <class T>
void fill_initial(const InitialState<T>& initial, const Box& part, std::size_t fields, std::size_t threads, T* cells);

}  // namespace ridge::stencil
