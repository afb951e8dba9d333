// Times memory spaces under two access functions: cyclic (tid mod s) * c and blocked floor(tid / s) * c, one byte read
// and one written per work-item, with the caches overwritten before every run. After the GPU placement thesis,
// section 5.1.
#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "machine/device/kernels.hpp"
#include "machine/host/caches.hpp"
#include "machine/studies/studies.hpp"

namespace ridge::machine {
namespace {

constexpr std::size_t kAccessMega = 1u << 20;
constexpr double kPictureGroups = 2025;  // groups of 1024 work-items: a full-HD picture, the thesis' unit of work

struct Space {
  const char* name;
  const char* kernel;
  bool from;     // takes the table as its first argument
  bool indexed;  // takes mask, shift and stride
};
constexpr Space kSpaces[] = {{"registers", "access_registers", false, false},
                             {"global", "access_global", true, true},
                             {"constant", "access_constant", false, true},
                             {"read-only", "access_cached", true, true},
                             {"local", "access_local", true, true}};

class AccessStudy {
 public:
  explicit AccessStudy(DeviceBench& bench) : bench_(bench) {
    const auto bytes = access_table();
    table_ = bench.device().buffer(bytes.size(), {.name = "access table"});
    bench.queue().upload(bytes.data(), table_, bytes.size());
    bench.queue().finish();
    // On a large GPU one picture is too short for the clock: runs several and divides the time.
    const std::size_t pictures = bench.modest() ? 1 : std::max<std::size_t>(bench.limits().compute_units / 8, 1);
    groups_ = static_cast<std::size_t>(kPictureGroups) * pictures;
    groups_ = std::min(groups_, bench.to().size() / kAccessItems);
    const std::size_t poison =
        bench.device().info().shares_host_memory ? host_caches().back().size * 5 / 4 : 256 * kAccessMega;
    poison_vectors_ = static_cast<std::uint32_t>(std::min(bench.from().size(), poison) / 16);
  }

  bool runs(const Space& space) {
    const bool fits = bench_.limits().local_memory >= kAccessBytes || std::string(space.name) != "local";
    const bool constant = bench_.limits().constant_memory >= kAccessBytes || std::string(space.name) != "constant";
    return fits && constant && bench_.most_items(bench_.kernel(space.kernel)) >= items();
  }

  std::size_t items() const { return std::min<std::size_t>(kAccessItems, bench_.limits().work_group); }

  // Seconds per picture; the least of `repeats`.
  double time(const Space& space, std::uint32_t mask, std::uint32_t shift, std::uint32_t stride, int repeats) {
    const Kernel kernel = bench_.kernel(space.kernel), poison = bench_.kernel("poison");
    Queue& queue = bench_.queue();
    std::vector<Argument> arguments;
    if (space.from) arguments.emplace_back(table_);
    arguments.emplace_back(bench_.to());
    if (space.indexed) {
      for (const std::uint32_t value : {mask, shift, stride}) arguments.emplace_back(value);
    }
    const std::size_t poison_items = std::min<std::size_t>(256, bench_.most_items(poison));
    double best = 1e30;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      queue.launch(poison, {.groups = {bench_.resident_groups(poison_items)}, .items = {poison_items}},
                   {bench_.from(), poison_vectors_, 0x3c3c3c3cu});
      const Event first = queue.record();
      queue.launch(kernel, {.groups = {groups_}, .items = {items()}}, arguments);
      const Event last = queue.record();
      best = std::min(best, seconds_between(first, last));
    }
    const double accesses = static_cast<double>(groups_ * items());
    return best * kPictureGroups * kAccessItems / accesses;
  }

 private:
  DeviceBench& bench_;
  Buffer table_;
  std::size_t groups_ = 1;
  std::uint32_t poison_vectors_ = 0;
};

}  // namespace

std::vector<Sweep> study_access(DeviceBench& bench, double seconds, const Tick& tick) {
  AccessStudy study(bench);
  const double deadline = base::now() + seconds;
  std::vector<Sweep> sweeps;
  constexpr int kSteps = 11;  // s = 1, 2, ... 1024
  const double lines = 2.0 * 2.0 * static_cast<double>(std::size(kSpaces));
  double done = 0;
  // If one run of each takes far too long, skips every other s.
  const double start_of_all = base::now();
  study.time(kSpaces[1], ~0u, 0, 1, 2);
  const int stride_of_s = (base::now() - start_of_all) / 2 * kSteps * lines > 1.5 * seconds ? 2 : 1;
  for (const bool blocked : {false, true}) {
    Sweep sweep{.title = blocked ? "Memory spaces, blocked access floor(tid / s) * c"
                                 : "Memory spaces, cyclic access (tid mod s) * c",
                .x = "s",
                .y = "seconds for 2025 groups of 1024 items",
                .lines = {}};
    for (const std::uint32_t stride : {1u, 16u}) {
      for (const Space& space : kSpaces) {
        if (!study.runs(space)) continue;
        Sweep::Line line{.name = fmt::format("{}, c = {}", space.name, stride), .points = {}};
        study.time(space, 0, 0, 0, 1);  // compiles and warms up
        for (int step = 0; step < kSteps; step += stride_of_s) {
          const std::uint32_t s = 1u << step;
          // The remaining time divided by the remaining runs; a run takes about as long as the previous one.
          const double left = (deadline - base::now()) / (kSteps * (lines - done) - step);
          const double start = base::now();
          double best =
              study.time(space, blocked ? ~0u : s - 1, blocked ? static_cast<std::uint32_t>(step) : 0u, stride, 1);
          const double took = std::max(base::now() - start, 1e-6);
          const int more = static_cast<int>(std::clamp(left / took - 1, 0.0, 9.0));
          if (more > 0)
            best = std::min(best, study.time(space, blocked ? ~0u : s - 1,
                                             blocked ? static_cast<std::uint32_t>(step) : 0u, stride, more));
          line.points.emplace_back(s, best);
          if (!space.indexed) break;  // a register has one owner: s has no effect
        }
        if (!space.indexed)
          for (int step = stride_of_s; step < kSteps; step += stride_of_s)
            line.points.emplace_back(1u << step, line.points[0].second);
        sweep.lines.push_back(std::move(line));
        tick(++done / lines);
      }
    }
    sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

}  // namespace ridge::machine
