// Runs the host's tiles on a grid in shared memory: candidates, boxes of the processes, readers of the whole grid.
#include "mpi/shared_grid.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "plan/selection.hpp"
#include "stencil/decomposition.hpp"
#include "stencil/host/host_variant.hpp"

namespace ridge::mpi {
namespace {

using namespace ridge::stencil;
using ridge::stencil::Box;

constexpr const char* kVariant = "overlapped_tiles";

// Maps all pages now. Otherwise a process faults on the pages of every tile that it has not computed before, which
// takes a sixth of a tile's time. Linux before 5.14 does not have the call.
void map_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  static_cast<void>(::madvise(memory, bytes, MADV_POPULATE_WRITE));
#endif
}

// The layout with the threads of all processes.
template <class T>
Layout layout_of(const Communicator& processes, const Update<T>& update, const Problem& problem) {
  Layout layout = resolve(update, problem);
  layout.threads = std::max<std::size_t>(problem.threads, 1) * processes.count();
  return layout;
}

template <class T>
std::vector<Entry<T>> entries_of(const Device& device, const Update<T>& update, const Layout& layout,
                                 const planner::Options& options) {
  std::vector<Entry<T>> entries = list_variants(device, update, layout);
  std::erase_if(entries, [&](const Entry<T>& entry) {
    const planner::Candidate& candidate = entry.candidate;
    return candidate.variant != kVariant || !candidate.refusal.empty() ||
           (!options.variant.empty() && !planner::is_called(candidate, options.variant));
  });
  return entries;
}

template <class T>
class SharedGrid final : public Domain<T> {
 public:
  SharedGrid(const Communicator& processes, const Device& device, const Update<T>& update, const Problem& problem,
             const DomainOptions& options)
      : processes_(processes), layout_(layout_of(processes, update, problem)) {
    const std::size_t bytes = Levels<T>::elements(layout_) * sizeof(T);
    const std::size_t each = (bytes + processes.count() - 1) / processes.count();
    for (Communicator::Shared& memory : memory_) memory = processes.share(each);
    const std::size_t tiles = Team::most_tiles(layout_.cells());
    using Done = std::atomic<std::uint32_t>;
    counters_ = processes.share(64 + tiles * sizeof(Done) / processes.count() + sizeof(Done));
    if (memory_[0].empty() || memory_[1].empty() || counters_.empty())
      throw Error(ErrorKind::out_of_memory, fmt::format("stencil: the processes cannot share two arrays of {}",
                                                        base::human_bytes(static_cast<double>(bytes))));
    team_ = {.rank = processes.rank(),
             .count = processes.count(),
             .threads = layout_.threads / processes.count(),
             .next = static_cast<std::atomic<std::uint64_t>*>(counters_.of(0)),
             .done = {reinterpret_cast<Done*>(static_cast<std::byte*>(counters_.of(0)) + 64), tiles},
             .barrier = [this] { meet(); }};
    levels_ = std::make_unique<Levels<T>>(layout_, team_, static_cast<T*>(memory_[0].of(0)),
                                          static_cast<T*>(memory_[1].of(0)));
    processes.publish(counters_);  // all memory is 0
    for (const Communicator::Shared& memory : memory_) map_pages(memory.of(0), bytes);
    choose(entries_of(device, update, layout_, options.planner));
  }

  bool root() const override { return processes_.root(); }
  std::size_t processes() const override { return processes_.count(); }

  void start(const InitialState<T>& initial) override {
    const Box mine = part();
    std::vector<T> cells(mine.cells() * layout_.fields);
    fill_initial<T>(initial, mine, layout_.fields, team_.threads, cells.data());
    put_part(cells);
  }
  void load(const SlabReader<T>& read) override {
    processes_.agree([&] {
      if (root()) load_all(read);
    });
    processes_.publish(counters_);
  }
  void run(std::size_t steps) override {
    const double before = base::now(), waited = waited_;
    variant_->steps(*levels_, steps);
    computed_ += base::now() - before - (waited_ - waited);
  }
  Box part() const override { return box_of_slabs(base::share(slabs(), processes_.rank(), processes_.count())); }
  void read_part(std::span<T> cells) override { levels_->get(part(), cells.data()); }
  void put_part(std::span<const T> cells) override {
    levels_->put(part(), cells.data());
    processes_.publish(counters_);
  }

  void show(const std::function<void(const SlabReader<T>&)>& use) override {
    double failed = 0;
    std::exception_ptr failure;
    if (root()) {
      try {
        use([&](std::size_t field, std::size_t begin, std::size_t end, T* cells) { read(field, begin, end, cells); });
      } catch (...) {
        failure = std::current_exception();
        failed = 1;
      }
    }
    processes_.broadcast(&failed, sizeof failed);
    if (failure) std::rethrow_exception(failure);
    if (failed != 0) throw Error(ErrorKind::io, "");
  }

  double from_root(double value) override {
    processes_.broadcast(&value, sizeof value);
    return value;
  }
  double largest(double value) override { return processes_.largest(value); }
  std::string explain() const override {
    return fmt::format("{} processes share one grid and take tiles from one counter: {}\n{}", processes_.count(), name_,
                       trials_);
  }
  std::string variant() const override { return name_; }
  std::string spent() override {
    const std::array<double, 2> mine{computed_, waited_};
    std::vector<std::array<double, 2>> all(processes_.count());
    processes_.gather(&mine, sizeof mine, all.data());
    const auto range = [&](std::size_t which) {
      const auto [least, most] = std::minmax_element(all.begin(), all.end(),
                                                     [&](const auto& a, const auto& b) { return a[which] < b[which]; });
      return fmt::format("{} to {}", base::human_seconds((*least)[which]), base::human_seconds((*most)[which]));
    };
    return fmt::format("per process: computed {}, waited {}", range(0), range(1));
  }

 private:
  void meet() {
    const double before = base::now();
    processes_.publish(counters_);
    waited_ += base::now() - before;
  }

  // Keeps the candidate whose sweep takes the least time in all processes together.
  void choose(const std::vector<Entry<T>>& entries) {
    double best = INFINITY;
    for (const Entry<T>& entry : entries) {
      const auto built = std::dynamic_pointer_cast<const HostVariant<T>>(entry.build());
      const std::size_t steps = std::max<std::size_t>(built->depth(), 1);
      double seconds = 0;
      for (int run = 0; entries.size() > 1 && run < 2; ++run) {  // the first is not counted
        const double before = base::now();
        built->steps(*levels_, steps);
        seconds = processes_.largest(base::now() - before) / static_cast<double>(steps);
      }
      trials_ += fmt::format("  {} per step: {}\n", base::human_seconds(seconds), entry.candidate.name());
      if (seconds >= best) continue;
      best = seconds;
      variant_ = built;
      name_ = entry.candidate.name();
    }
    waited_ = 0;
  }

  std::size_t slab_axis() const { return 3 - layout_.dimensions; }
  std::size_t slabs() const { return layout_.shape[slab_axis()]; }
  Box box_of_slabs(const base::Share& share) const {
    Box box{{0, 0, 0}, layout_.shape};
    box.begin[slab_axis()] = share.begin;
    box.extent[slab_axis()] = share.end - share.begin;
    return box;
  }
  void read(std::size_t field, std::size_t begin, std::size_t end, T* cells) const {
    const Box box = box_of_slabs({begin, end});
    std::vector<T> all(box.cells() * layout_.fields);
    levels_->get(box, all.data());
    std::copy_n(all.data() + field * box.cells(), box.cells(), cells);
  }
  void load_all(const SlabReader<T>& read) {
    for (std::size_t slab = 0; slab < slabs(); ++slab) {
      const Box box = box_of_slabs({slab, slab + 1});
      std::vector<T> cells(box.cells() * layout_.fields);
      for (std::size_t field = 0; field < layout_.fields; ++field)
        read(field, slab, slab + 1, cells.data() + field * box.cells());
      levels_->put(box, cells.data());
    }
  }

  const Communicator& processes_;
  Layout layout_;
  std::array<Communicator::Shared, 2> memory_{};
  Communicator::Shared counters_{};
  Team team_{};
  std::unique_ptr<Levels<T>> levels_{};
  std::shared_ptr<const HostVariant<T>> variant_{};
  std::string name_{}, trials_{};
  double computed_ = 0, waited_ = 0;
};

}  // namespace

template <class T>
std::string why_not_shared(const Communicator& processes, const Device& device, const Update<T>& update,
                           const Problem& problem, const DomainOptions& options) {
  if (!device.is_host()) return fmt::format("needs the device host, got {}", device.id());
  if (processes.machines() != 1) return fmt::format("needs a single machine, got {}", processes.machines());
  if (update.coefficients > 0) return "needs an update without coefficients";
  if (!update.layers.empty() || update.free_surface) return "needs a grid without absorbing layers and free surfaces";
  const Layout layout = layout_of(processes, update, problem);
  if (layout.dimensions == 1) return "needs a grid of two or three axes";
  if (layout.shape[3 - layout.dimensions] < processes.count()) return "needs as many slabs as processes";
  if (!options.processes.empty()) {
    const Counts counts = parse_processes(options.processes, layout, processes.count());
    if (counts[3 - layout.dimensions] != processes.count()) return "needs processes along the slowest axis only";
  }
  if (entries_of(device, update, layout, options.planner).empty()) return fmt::format("needs the variant {}", kVariant);
  return {};
}

template <class T>
std::unique_ptr<Domain<T>> shared_grid(const Communicator& processes, const Device& device, const Update<T>& update,
                                       const Problem& problem, const DomainOptions& options) {
  return std::make_unique<SharedGrid<T>>(processes, device, update, problem, options);
}

#define RIDGE_SHARED_GRID(T)                                                                                \
  template std::string why_not_shared(const Communicator&, const Device&, const Update<T>&, const Problem&, \
                                      const DomainOptions&);                                                \
  template std::unique_ptr<Domain<T>> shared_grid(const Communicator&, const Device&, const Update<T>&,     \
                                                  const Problem&, const DomainOptions&)
RIDGE_SHARED_GRID(float);
RIDGE_SHARED_GRID(double);
RIDGE_SHARED_GRID(std::int32_t);
RIDGE_SHARED_GRID(std::uint8_t);
#undef RIDGE_SHARED_GRID

}  // namespace ridge::mpi
