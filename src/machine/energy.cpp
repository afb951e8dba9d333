// Opens RAPL, NVML, a power sensor or the battery, and reads joules from them.
#include "machine/energy.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "machine/device/nvml.hpp"

namespace ridge::machine {
namespace {

namespace fs = std::filesystem;
using Opened = std::unique_ptr<EnergyCounter::Source>;

std::optional<std::string> read_line(const fs::path& path) {
  try {
    const auto text = base::read_file(path, 4096);
    if (!text) return std::nullopt;
    return text->substr(0, text->find('\n'));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<double> read_number(const fs::path& path) {
  const auto text = read_line(path);
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end == text->data() || !(value >= 0 && value < 1e18)) return std::nullopt;
  return value;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

// Power from an energy counter: the difference over a short time.
template <class Joules>
double watts_by_difference(const Joules& joules) {
  const double before = joules(), start = base::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return (joules() - before) / (base::now() - start);
}

// The processor's energy counters in microjoules, which wrap at a range that the system reports.
class Rapl : public EnergyCounter::Source {
 public:
  void add(const fs::path& zone, double now) {
    const double range = read_number(zone / "max_energy_range_uj").value_or(0);
    zones_.push_back({zone / "energy_uj", now, range});
  }
  bool empty() const { return zones_.empty(); }
  double joules() override {
    for (auto& zone : zones_) {
      const auto now = read_number(zone.file);
      if (!now) continue;  // the next reading includes the energy of a failed one
      total_ += *now >= zone.last ? *now - zone.last : *now + zone.range - zone.last;
      zone.last = *now;
    }
    return total_ * 1e-6;
  }
  double watts() override {
    return watts_by_difference([this] { return joules(); });
  }

 private:
  struct Zone {
    fs::path file;
    double last, range;
  };
  std::vector<Zone> zones_;
  double total_ = 0;
};

// A sensor that reports power only: a thread reads it fifty times per second and integrates.
class PowerSensor : public EnergyCounter::Source {
 public:
  explicit PowerSensor(std::function<std::optional<double>()> watts)
      : read_(std::move(watts)), last_(read_().value_or(0)), at_(base::now()), thread_([this] { run(); }) {}
  ~PowerSensor() override {
    {
      std::lock_guard guard(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  double joules() override {
    std::lock_guard guard(mutex_);
    sample();
    return total_;
  }
  double watts() override {
    std::lock_guard guard(mutex_);
    sample();
    return last_;
  }

 private:
  void sample() {
    const double power = read_().value_or(last_), now = base::now();
    total_ += 0.5 * (power + last_) * (now - at_);
    last_ = power;
    at_ = now;
  }
  void run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(20), [this] { return stop_; })) sample();
  }

  std::function<std::optional<double>()> read_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  double last_, at_, total_ = 0;
  std::thread thread_;
};

class NvmlEnergy : public EnergyCounter::Source {
 public:
  NvmlEnergy(const NvmlReader& reader, double start) : reader_(reader), start_(start) {}
  double joules() override { return reader_.joules().value_or(start_) - start_; }
  double watts() override { return reader_.watts(); }

 private:
  NvmlReader reader_;
  double start_;
};

Opened open_rapl(const fs::path& system, std::string& name, std::string& why_not) {
  const fs::path powercap = system / "class" / "powercap";
  auto source = std::make_unique<Rapl>();
  bool there = false, dram = false;
  for (const auto& zone : entries(powercap)) {
    if (zone.filename().string().rfind("intel-rapl:", 0) != 0) continue;
    const std::string label = read_line(zone / "name").value_or("");
    if (label.rfind("package", 0) != 0 && label != "dram") continue;
    there = true;
    if (const auto now = read_number(zone / "energy_uj")) {
      source->add(zone, *now);
      dram = dram || label == "dram";
    }
  }
  if (!source->empty()) {
    name = dram ? "RAPL package and memory" : "RAPL package";
    return source;
  }
  why_not = there ? fmt::format("no RAPL: {}/intel-rapl:*/energy_uj may be read by root only", powercap.string())
                  : fmt::format("no RAPL: {} has no intel-rapl (not an x86 host, or hidden by the hypervisor)",
                                powercap.string());
  return nullptr;
}

Opened open_hwmon(const fs::path& system, std::string& name, std::string& why_not) {
  const fs::path folder = system / "class" / "hwmon";
  for (const auto& chip : entries(folder)) {
    const std::string label = read_line(chip / "name").value_or("");
    const bool graphics = label == "amdgpu" || label == "nouveau" || label == "i915" || label == "xe";
    if (graphics) continue;
    for (const char* file : {"power1_average", "power1_input"}) {
      const fs::path path = chip / file;
      if (!read_number(path)) continue;
      name = fmt::format("hwmon {}", label.empty() ? chip.filename().string() : label);
      return std::make_unique<PowerSensor>([path]() -> std::optional<double> {
        const auto microwatts = read_number(path);
        return microwatts ? std::optional(*microwatts * 1e-6) : std::nullopt;
      });
    }
  }
  why_not = fmt::format("no power sensor in {}", folder.string());
  return nullptr;
}

Opened open_battery(const fs::path& system, std::string& name, std::string& why_not) {
  for (const auto& supply : entries(system / "class" / "power_supply")) {
    if (read_line(supply / "status").value_or("") != "Discharging") continue;
    const auto watts = [supply]() -> std::optional<double> {
      if (const auto power = read_number(supply / "power_now")) return *power * 1e-6;
      const auto current = read_number(supply / "current_now"), voltage = read_number(supply / "voltage_now");
      if (!current || !voltage) return std::nullopt;
      return *current * *voltage * 1e-12;
    };
    if (!watts()) continue;
    name = fmt::format("battery {}, the whole machine", supply.filename().string());
    return std::make_unique<PowerSensor>(watts);
  }
  why_not = "no discharging battery";
  return nullptr;
}

// NVML identifies devices by PCI address. If OpenCL does not report it, takes that of the CUDA device with the same
// name.
std::string bus_of(const DeviceInfo& info) {
  if (!info.bus.empty()) return info.bus;
  for (const Device& other : devices().devices)
    if (other.info().backend == Backend::cuda && other.info().name == info.name) return other.info().bus;
  return "";
}

Opened open_nvml(const DeviceInfo& info, std::string& name, std::string& why_not) {
  const std::string bus = bus_of(info);
  if (bus.empty()) {
    why_not = fmt::format("no power counter is known for {} ({})", info.id, info.name);
    return nullptr;
  }
  auto reader = NvmlReader::open(bus, why_not);
  if (!reader) return nullptr;
  name = "NVML";
  if (const auto start = reader->joules()) return std::make_unique<NvmlEnergy>(*reader, *start);
  return std::make_unique<PowerSensor>([r = *reader] { return std::optional(r.watts()); });
}

}  // namespace

EnergyCounter EnergyCounter::open(const Device& device, const std::filesystem::path& system) {
  EnergyCounter result;
  const DeviceInfo& info = device.info();
  const bool runs_on_host = info.backend == Backend::host || (info.shares_host_memory && info.bus.empty());
  if (!runs_on_host) {
    result.source_ = open_nvml(info, result.counter_, result.why_not_);
    return result;
  }
  for (const auto open_one : {open_rapl, open_hwmon, open_battery}) {
    std::string why_not;
    result.source_ = open_one(system, result.counter_, why_not);
    if (result.source_) {
      result.why_not_.clear();
      return result;
    }
    result.why_not_ += (result.why_not_.empty() ? "" : "; ") + why_not;
  }
  return result;
}

double EnergyCounter::joules() { return source_ ? source_->joules() : 0; }
double EnergyCounter::watts() { return source_ ? source_->watts() : 0; }

std::string power_text(EnergyCounter& counter, const std::function<void()>& run, double flops, double seconds) {
  if (!counter.readable()) return "no energy counter: " + counter.why_not();
  run();
  const double before = counter.joules(), begun = base::now();
  std::size_t runs = 0;
  do {
    run();
    ++runs;
  } while (base::now() - begun < seconds);
  const double joules = counter.joules() - before, taken = base::now() - begun;
  if (!(joules > 0)) return fmt::format("{} has not changed during {:.2g} s", counter.counter(), taken);
  const double each = joules / static_cast<double>(runs);
  return fmt::format("{:.3g} W by {}, {:.3g} GFLOP/s per watt, {:.3g} mJ per run", joules / taken, counter.counter(),
                     flops / each * 1e-9, each * 1e3);
}

}  // namespace ridge::machine
