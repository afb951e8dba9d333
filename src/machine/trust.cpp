// Compares the figures of a profile with each other and with second measurements, and reads the load of other
// processes.
#include "machine/trust.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"

namespace ridge::machine {
namespace {

constexpr double kTolerance = 1.25;       // allowed ratio between two measurements of one rate
constexpr double kLeastSeconds = 0.5;     // the kernel counts CPU time in ticks of up to 10 ms
constexpr double kOthersMayUse = 0.2;     // fraction of the CPUs
constexpr double kAllCoresAtLeast = 0.8;  // relative to one core's rate

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double own_cpu_seconds() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

std::string rate_text(double rate, const char* unit) { return base::human_rate(rate, unit); }

void compare_cores(const std::string& what, double all, double one, const char* unit, std::vector<std::string>& found) {
  if (one > 0 && all > 0 && !(all >= kAllCoresAtLeast * one))
    found.push_back(
        fmt::format("{}: {} with all cores, {} with one", what, rate_text(all, unit), rate_text(one, unit)));
}

void compare_while_busy(const std::string& what, double alone, double busy, const char* unit,
                        std::vector<std::string>& found) {
  if (alone > 0 && !(busy <= kTolerance * alone))
    found.push_back(fmt::format("{}: {} with the other devices idle, {} while they are busy", what,
                                rate_text(alone, unit), rate_text(busy, unit)));
}

}  // namespace

OtherLoad::OtherLoad(std::string stat_file) : stat_file_(std::move(stat_file)), start_(sample()) {}

OtherLoad::Sample OtherLoad::sample() const {
  Sample now;
  const double tick = 1.0 / static_cast<double>(std::max(sysconf(_SC_CLK_TCK), 1L));
  const std::vector<int>& allowed = base::allowed_cores();
  std::ifstream file(stat_file_);
  // Lines are "cpu3 user nice system idle iowait irq softirq steal ...", in ticks.
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
    if (!(words >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft)) continue;
    words >> stolen;  // absent in old kernels
    if (!name.starts_with("cpu") || name.size() == 3) continue;
    if (std::find(allowed.begin(), allowed.end(), std::atoi(name.c_str() + 3)) == allowed.end()) continue;
    now.everyone += tick * (user + nice + system + interrupts + soft + stolen);
    now.known = true;
  }
  now.own = own_cpu_seconds();
  now.wall = base::now();
  return now;
}

double OtherLoad::cpus() const {
  const Sample now = sample();
  const double wall = now.wall - start_.wall;
  if (!start_.known || !now.known || wall < kLeastSeconds) return 0;
  return std::max(((now.everyone - start_.everyone) - (now.own - start_.own)) / wall, 0.0);
}

bool confirmed(const std::vector<double>& rates) {
  if (rates.size() < 2) return true;
  std::vector<double> sorted = rates;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  return sorted[0] <= kTolerance * sorted[1];
}

std::vector<std::string> contradictions(const DeviceProfile& device) {
  std::vector<std::string> found;
  const Ceilings& c = device.ceilings;
  if (!c.measured) return found;
  const std::string& id = device.id;
  compare_cores(id + " peak, float", c.flops_float, c.flops_float_one, "FLOP/s", found);
  compare_cores(id + " peak, double", c.flops_double, c.flops_double_one, "FLOP/s", found);
  for (const Level& level : c.levels) {
    compare_cores(fmt::format("{} {}, read", id, level.name), level.all.read, level.one.read, "B/s", found);
    compare_cores(fmt::format("{} {}, copy", id, level.name), level.all.copy, level.one.copy, "B/s", found);
  }
  if (!(kTolerance * c.flops_float >= c.flops_double))
    found.push_back(fmt::format("{} peak: {} in float, {} in double", id, rate_text(c.flops_float, "FLOP/s"),
                                rate_text(c.flops_double, "FLOP/s")));
  if (!c.levels.empty())
    compare_while_busy(id + " memory, copy", c.memory().all.copy, c.copy_while_others_busy, "B/s", found);
  compare_while_busy(id + " peak, float", c.flops_float, c.flops_float_while_others_busy, "FLOP/s", found);
  return found;
}

std::string load_text(double others, std::size_t cpus) {
  if (!(others > kOthersMayUse * static_cast<double>(cpus))) return "";
  return fmt::format("other processes used {:.1f} of {} CPUs during the measurement", others, cpus);
}

}  // namespace ridge::machine
