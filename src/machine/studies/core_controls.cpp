// Studies of the host's cores under load, by the files of Linux under /sys.
#include "machine/studies/studies.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "machine/energy.hpp"

namespace ridge::machine {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return {};
  return line;
}

std::optional<long> number_in(const fs::path& file) {
  const auto line = first_line(file);
  long value = 0;
  if (!line || std::from_chars(line->data(), line->data() + line->size(), value).ec != std::errc()) return {};
  return value;
}

fs::path cpu_folder(const CoreStudy& study, int cpu) {
  return study.system / "devices/system/cpu" / fmt::format("cpu{}", cpu);
}

// The allowed CPUs of each core, by the core's list of threads ("0,4").
std::map<std::string, std::vector<int>> cores_of(const CoreStudy& study) {
  std::map<std::string, std::vector<int>> cores;
  for (const int cpu : study.allowed) {
    const auto siblings = first_line(cpu_folder(study, cpu) / "topology/thread_siblings_list");
    cores[siblings ? *siblings : fmt::format("cpu {}", cpu)].push_back(cpu);
  }
  return cores;
}

// One CPU per core, in ascending order.
std::vector<int> first_threads(const CoreStudy& study) {
  std::vector<int> cpus;
  for (const auto& core : cores_of(study)) cpus.push_back(core.second.front());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::string list(const std::vector<int>& cpus) { return fmt::format("{}", fmt::join(cpus, ",")); }

// Degrees Celsius of the hottest sensor.
std::optional<double> hottest(const fs::path& system) {
  std::optional<double> most;
  std::error_code failed;
  for (const auto& zone : fs::directory_iterator(system / "class/thermal", failed)) {
    if (zone.path().filename().string().rfind("thermal_zone", 0) != 0) continue;
    if (const auto milli = number_in(zone.path() / "temp"))
      most = std::max(most.value_or(-300), 1e-3 * static_cast<double>(*milli));
  }
  return most;
}

std::string degrees(const std::optional<double>& value) { return value ? fmt::format("{:.1f}", *value) : "-"; }

// Sets the upper limit of the clock of some CPUs; the destructor restores it.
class ClockLimit {
 public:
  ClockLimit(const CoreStudy& study, const std::vector<int>& cpus) {
    for (const int cpu : cpus) {
      const fs::path file = cpu_folder(study, cpu) / "cpufreq/scaling_max_freq";
      files_.emplace_back(file, number_in(file).value_or(0));
    }
  }
  ~ClockLimit() {
    for (const auto& [file, before] : files_) {
      if (before > 0) std::ofstream(file) << fmt::format("{}\n", before);  // never grouped in thousands
    }
  }
  ClockLimit(const ClockLimit&) = delete;
  ClockLimit& operator=(const ClockLimit&) = delete;
  bool set(long kilohertz) const {
    for (const auto& [file, before] : files_) {
      std::ofstream out(file);
      if (!(out << fmt::format("{}\n", kilohertz) << std::flush)) return false;
    }
    return true;
  }

 private:
  std::vector<std::pair<fs::path, long>> files_;
};

}  // namespace

std::string study_hyperthreads(const CoreStudy& study) {
  const auto cores = cores_of(study);
  if (cores.size() == study.allowed.size())
    return fmt::format("hyperthreads: not available: each of the {} CPUs is a core of its own\n", cores.size());
  const std::vector<int> one = first_threads(study);
  const double off = study.load(one), on = study.load(study.allowed);
  return base::table({{"hyperthreads", "CPUs", "GFLOP/s", "gain"},
                      {"off", list(one), fmt::format("{:.2f}", off), "1.00"},
                      {"on", list(study.allowed), fmt::format("{:.2f}", on), fmt::format("{:.2f}", on / off)}});
}

std::string study_far_cores(const CoreStudy& study) {
  const std::vector<int> cpus = first_threads(study);
  if (cpus.size() < 3)
    return fmt::format("far cores: not available: needs 3 cores, this process may use {}\n", cpus.size());
  std::vector<std::vector<std::string>> rows{{"two cores", "CPUs", "GFLOP/s", "degrees C"}};
  const std::vector<int> near{cpus[0], cpus[1]}, far{cpus.front(), cpus.back()};
  for (const auto& [name, pair] : {std::pair{"neighbours", near}, {"far apart", far}}) {
    const double rate = study.load(pair);
    rows.push_back({name, list(pair), fmt::format("{:.2f}", rate), degrees(hottest(study.system))});
  }
  return base::table(rows);
}

std::string study_temperature(const CoreStudy& study, std::size_t rounds) {
  if (!hottest(study.system)) return "temperature: not available: no sensor in /sys/class/thermal\n";
  auto counter = EnergyCounter::open(host(), study.system);
  std::vector<std::vector<std::string>> rows{{"round", "GFLOP/s", "degrees C", "watts"}};
  for (std::size_t i = 0; i < rounds; ++i) {
    const double rate = study.load(study.allowed);
    rows.push_back({std::to_string(i + 1), fmt::format("{:.2f}", rate), degrees(hottest(study.system)),
                    counter.readable() ? fmt::format("{:.1f}", counter.watts()) : "-"});
  }
  return base::table(rows);
}

std::string study_clock(const CoreStudy& study, std::size_t steps) {
  const fs::path folder = cpu_folder(study, study.allowed.front()) / "cpufreq";
  const auto low = number_in(folder / "cpuinfo_min_freq"), high = number_in(folder / "cpuinfo_max_freq");
  if (!low || !high || *low >= *high) return "clock: not available: Linux shows no cpufreq limits of this machine\n";
  const ClockLimit limit(study, study.allowed);
  std::vector<std::vector<std::string>> rows{{"clock limit", "GFLOP/s", "GFLOP/s per GHz"}};
  for (std::size_t i = 0; i < steps; ++i) {
    const long at =
        *low + (*high - *low) * static_cast<long>(i) / static_cast<long>(std::max<std::size_t>(1, steps - 1));
    if (!limit.set(at)) return "clock: not available: scaling_max_freq cannot be written (needs root)\n";
    const double rate = study.load(study.allowed), ghz = 1e-6 * static_cast<double>(at);
    rows.push_back({fmt::format("{:.2f} GHz", ghz), fmt::format("{:.2f}", rate), fmt::format("{:.2f}", rate / ghz)});
  }
  return base::table(rows);
}

}  // namespace ridge::machine
