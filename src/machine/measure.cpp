// Divides the time of a measurement among its steps, and runs them.
#include "machine/measure.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "machine/busy.hpp"
#include "machine/device/probes.hpp"
#include "machine/energy.hpp"
#include "machine/host/probes.hpp"
#include "machine/profile.hpp"
#include "machine/roofline/roofline.hpp"
#include "machine/trust.hpp"

namespace ridge::machine {

void Timetable::add(std::string what, double weight, Work work) {
  steps_.push_back({std::move(what), weight, std::move(work)});
}

void Timetable::run(double seconds, const Progress& progress) {
  double total = 0, done = 0;
  for (const auto& step : steps_) total += step.weight;
  const double deadline = base::now() + seconds;
  for (const auto& step : steps_) {
    const auto report = [&](double share) {
      if (progress) progress(std::min((done + share * step.weight) / total, 1.0), step.what);
    };
    report(0);
    const double left = std::max(deadline - base::now(), 0.0);
    // Minimum time with which a step can still measure something.
    step.work(std::max(left * step.weight / (total - done), 0.005 * step.weight), report);
    done += step.weight;
  }
  if (progress) progress(1, "done");
}

namespace {

// A device being measured.
struct Subject {
  Device device;
  DeviceProfile profile;
  std::unique_ptr<DeviceBench> bench;  // null on the host
  CopyShape copy_shape;                // shape of the fastest copy
  std::optional<std::string> failure;  // set: nothing more is measured on this device
};
using Subjects = std::vector<std::unique_ptr<Subject>>;

class Measurement {
 public:
  Measurement(const std::vector<Device>& devices, const MeasureOptions& options) : options_(options) {
    for (const Device& device : devices) add_subject(device);
    quick_ = options_.seconds / static_cast<double>(std::max<std::size_t>(subjects_.size(), 1)) < 5;
  }

  Profile run() {
    for (auto& subject : subjects_) add_ceilings(*subject);
    if (subjects_.size() > 1)
      for (auto& subject : subjects_) add_while_busy(*subject);
    for (auto& subject : subjects_) add_energy(*subject);
    for (auto& subject : subjects_) add_repetition(*subject);
    if (options_.studies)
      for (auto& subject : subjects_) add_studies(*subject);
    if (checking())
      base::warn("checking mode is on (RIDGE_CHECK): every launch is checked, so the measured rates are too low");

    Profile profile;
    const auto now = std::chrono::system_clock::now();
    profile.measured_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
    profile.hardware = hardware_key();
    profile.studies = options_.studies;
    const double start = base::now();
    const OtherLoad load;
    table_.run(std::max(options_.seconds, 0.0), options_.progress);
    const double others = load.cpus();
    profile.seconds_taken = base::now() - start;
    for (auto& subject : subjects_) {
      profile.devices.push_back(finished(*subject));
      const auto found = contradictions(profile.devices.back());
      profile.doubts.insert(profile.doubts.end(), found.begin(), found.end());
    }
    profile.doubts.insert(profile.doubts.end(), doubts_.begin(), doubts_.end());
    if (std::string text = load_text(others, base::allowed_cores().size()); !text.empty())
      profile.doubts.push_back(std::move(text));
    return profile;
  }

 private:
  void add_subject(const Device& device) {
    auto subject = std::make_unique<Subject>(Subject{device, {}, nullptr, {}, std::nullopt});
    subject->profile.id = device.id();
    subject->profile.name = device.info().name;
    subject->profile.fingerprint = device.info().fingerprint();
    subjects_.push_back(std::move(subject));
  }

  enum class Kind { needed, extra };

  // Adds a step of one device. A failure is reported and affects this device only: without a needed step it keeps its
  // estimates, without an extra step it lacks that figure.
  void add(Subject& subject, const char* what, double weight, Kind kind, Timetable::Work work) {
    table_.add(fmt::format("{}: {}", subject.device.id(), what), weight,
               [&subject, what, kind, work = std::move(work)](double seconds, const Tick& tick) {
                 if (subject.failure) return;
                 try {
                   work(seconds, tick);
                 } catch (const std::exception& error) {
                   base::warn(fmt::format("{} ({}): measuring {} failed: {}", subject.device.id(),
                                          subject.device.info().name, what, error.what()));
                   if (kind == Kind::needed) subject.failure = error.what();
                 }
               });
  }

  void add_ceilings(Subject& subject) {
    if (subject.device.is_host())
      add_host_ceilings(subject);
    else
      add_device_ceilings(subject);
  }

  void add_host_ceilings(Subject& subject) {
    Ceilings& c = subject.profile.ceilings;
    add(subject, "arithmetic", 1.2, Kind::needed, [&c](double seconds, const Tick&) {
      const std::size_t all = base::hardware_threads();
      c.flops_float_one = host_flops_float(1, seconds / 4);
      c.flops_double_one = host_flops_double(1, seconds / 4);
      c.flops_float = host_flops_float(all, seconds / 4);
      c.flops_double = host_flops_double(all, seconds / 4);
    });
    for (const Cache& cache : host_caches())
      add(subject, cache.level == 1 ? "nearest cache" : "caches", 0.7, Kind::needed,
          [this, &c, cache](double seconds, const Tick&) {
            c.levels.push_back(host_level(&cache, host_caches(), quick_, seconds));
          });
    add(subject, "main memory", 3, Kind::needed, [this, &c](double seconds, const Tick&) {
      c.levels.push_back(host_level(nullptr, host_caches(), quick_, seconds));
    });
    add(subject, "starting threads", 0.1, Kind::needed,
        [&c](double seconds, const Tick&) { c.launch_seconds = host_launch_seconds(seconds); });
  }

  void add_device_ceilings(Subject& subject) {
    Ceilings& c = subject.profile.ceilings;
    add(subject, "compiling probes", 1.5, Kind::needed, [this, &subject](double, const Tick&) {
      subject.bench = std::make_unique<DeviceBench>(subject.device, quick_);
      for (const char* name : {"empty", "copy_4", "fma_float"}) subject.bench->kernel(name);
    });
    add(subject, "arithmetic", 1.5, Kind::needed, [&c, &subject](double seconds, const Tick&) {
      c.flops_float = device_flops(*subject.bench, false, seconds);  // first, because it also raises a GPU's clocks
    });
    if (subject.device.limits().float64)
      add(subject, "arithmetic in double", 1, Kind::extra, [&c, &subject](double seconds, const Tick&) {
        c.flops_double = device_flops(*subject.bench, true, seconds);
      });
    auto memory = std::make_shared<Level>();
    memory->name = "memory";
    memory->capacity = subject.device.limits().memory;
    add(subject, "copying in its memory", 3, Kind::needed, [&c, &subject, memory](double seconds, const Tick&) {
      const auto tried = try_copies(*subject.bench, seconds * 0.85);
      const double driver = driver_copy(*subject.bench, seconds * 0.15);
      subject.copy_shape = tried.front().shape;
      memory->all.copy = tried.front().rate;
      for (const Tried& one : tried)
        if (one.shape.once) memory->all.copy_streaming = std::max(memory->all.copy_streaming, one.rate);
      c.sweeps.push_back(copy_sweep(tried, driver));
    });
    add(subject, "reading and writing its memory", 2, Kind::needed, [&subject, memory](double seconds, const Tick&) {
      memory->all.read = read_bandwidth(*subject.bench, seconds / 2);
      for (const Tried& one : try_writes(*subject.bench, seconds / 2)) {
        memory->all.write = std::max(memory->all.write, one.rate);
        if (one.shape.once) memory->all.write_streaming = std::max(memory->all.write_streaming, one.rate);
      }
    });
    add(subject, "caches and local memory", 3, Kind::extra, [&c, &subject, memory](double seconds, const Tick&) {
      Sweep sweep;
      c.levels = cache_levels(*subject.bench, memory->all.read, seconds, sweep);
      c.sweeps.push_back(std::move(sweep));
    });
    add(subject, "launches", 0.4, Kind::needed, [&c, &subject, memory](double seconds, const Tick&) {
      c.levels.push_back(*memory);
      Sweep sweep;
      c.launch_seconds = launch_seconds(*subject.bench, seconds, sweep);
      c.sweeps.push_back(std::move(sweep));
    });
    add(subject, "transfers", 2, Kind::extra,
        [&c, &subject](double seconds, const Tick&) { c.transfers = transfers(*subject.bench, seconds); });
  }

  // Rate of the copy with each shape, and of the driver's own copy.
  static Sweep copy_sweep(const std::vector<Tried>& tried, double driver) {
    Sweep sweep{
        .title = "Copy by launch shape", .x = "16-byte vectors in flight per work-item", .y = "bytes/s", .lines = {}};
    std::map<std::string, std::vector<std::pair<double, double>>> lines;
    for (const Tried& one : tried) {
      const auto name = fmt::format("{} items, {}{}", one.shape.items, one.shape.once ? "streaming" : "plain",
                                    one.shape.resident ? ", resident groups" : "");
      lines[name].emplace_back(one.shape.vectors, one.rate);
      lines["the driver's copy"].emplace_back(one.shape.vectors, driver);
    }
    for (auto& [name, points] : lines) {
      std::sort(points.begin(), points.end());
      points.erase(std::unique(points.begin(), points.end()), points.end());
      sweep.lines.push_back({name, points});
    }
    return sweep;
  }

  // The same GPU under OpenCL and CUDA is one device, not two devices that share memory.
  static bool same_hardware(const Device& a, const Device& b) {
    return !a.is_host() && !b.is_host() && a.info().backend != b.info().backend && a.info().name == b.info().name;
  }

  struct Loads {
    std::vector<std::unique_ptr<BusyDevice>> devices;
    std::unique_ptr<BusyHost> host;
    bool any() const { return host != nullptr || !devices.empty(); }
  };
  Loads others_busy(const Subject& subject, LoadKind kind) {
    Loads loads;
    for (auto& other : subjects_) {
      if (other.get() == &subject || same_hardware(other->device, subject.device) || other->failure) continue;
      if (other->device.is_host())
        loads.host = std::make_unique<BusyHost>(kind);
      else
        loads.devices.push_back(std::make_unique<BusyDevice>(*other->bench, kind));
    }
    return loads;
  }

  void add_while_busy(Subject& subject) {
    Ceilings& c = subject.profile.ceilings;
    add(subject, "arithmetic and copies while the other devices are busy", 1.5, Kind::extra,
        [this, &c, &subject](double seconds, const Tick&) {
          if (const Loads loads = others_busy(subject, LoadKind::copy); loads.any())
            c.copy_while_others_busy = copy_now(subject, seconds / 2);
          if (const Loads loads = others_busy(subject, LoadKind::arithmetic); loads.any())
            c.flops_float_while_others_busy = flops_now(subject, seconds / 2);
        });
  }

  double copy_now(Subject& subject, double seconds) {
    if (subject.device.is_host()) {
      const std::size_t threads = base::hardware_threads();
      HostPieces pieces(threads, host_memory_probe_bytes(host_caches(), quick_) / threads);
      return host_copy_bandwidth(pieces, seconds);
    }
    DeviceBench& bench = *subject.bench;
    const double time =
        bench.time([&] { launch_copy(bench, bench.queue(), subject.copy_shape, bench.large()); }, seconds);
    return 2 * static_cast<double>(bench.large()) / time;
  }

  double flops_now(Subject& subject, double seconds) {
    return subject.device.is_host() ? host_flops_float(base::hardware_threads(), seconds)
                                    : device_flops(*subject.bench, false, seconds);
  }

  void add_energy(Subject& subject) {
    auto counter = std::make_shared<EnergyCounter>(EnergyCounter::open(subject.device));
    Energy& energy = subject.profile.ceilings.energy;
    energy.counter = counter->counter();
    energy.why_not = counter->why_not();
    if (!counter->readable()) return;
    add(subject, "energy", 2.5, Kind::extra, [this, counter, &energy, &subject](double seconds, const Tick& tick) {
      const auto mean_watts = [&](const auto& work) {
        const double before = counter->joules(), start = base::now();
        work();
        return (counter->joules() - before) / (base::now() - start);
      };
      energy.idle_watts =
          mean_watts([&] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds * 0.4)); });
      tick(0.4);
      double flops = 0;
      flops_now(subject, seconds * 0.1);  // raises the clocks before the measurement
      energy.load_watts = mean_watts([&] { flops = flops_now(subject, seconds * 0.5); });
      energy.flops_per_watt = energy.load_watts > 0 ? flops / energy.load_watts : 0;
    });
  }

  // Measures the two figures of a roofline again at the end: a machine that is busy part of the time gives another
  // answer. A third run decides if they differ.
  void add_repetition(Subject& subject) {
    add(subject, "arithmetic and memory, repeated", 1.5, Kind::extra, [this, &subject](double seconds, const Tick&) {
      Ceilings& c = subject.profile.ceilings;
      repeat(subject, "peak, float", "FLOP/s", c.flops_float, [&] { return flops_now(subject, seconds / 4); });
      repeat(subject, "memory, copy", "B/s", c.levels.back().all.copy, [&] { return copy_now(subject, seconds / 4); });
    });
  }

  void repeat(const Subject& subject, const char* what, const char* unit, double& rate,
              const std::function<double()>& again) {
    std::vector<double> rates{rate, again()};
    if (!confirmed(rates)) rates.push_back(again());
    if (!confirmed(rates)) {
      std::string text;
      for (const double one : rates) text += (text.empty() ? "" : ", ") + base::human_rate(one, unit);
      doubts_.push_back(fmt::format("{} {}: runs differ: {}", subject.device.id(), what, text));
    }
    rate = *std::max_element(rates.begin(), rates.end());
  }

  void add_studies(Subject& subject) {
    const auto study = [&](const char* what, double weight, auto function) {
      add(subject, what, weight, Kind::extra, [&subject, function](double seconds, const Tick& tick) {
        auto sweeps = function(seconds, tick);
        auto& all = subject.profile.ceilings.sweeps;
        all.insert(all.end(), std::make_move_iterator(sweeps.begin()), std::make_move_iterator(sweeps.end()));
      });
    };
    const auto on_device = [&subject](auto function) {
      return [&subject, function](double seconds, const Tick& tick) { return function(*subject.bench, seconds, tick); };
    };
    if (subject.device.is_host()) {
      study("scaling by cores", 2, study_host_cores);
      return;
    }
    study("work-group sizes", 2, on_device(study_group_size));
    study("numbers of work-items", 2, on_device(study_items));
    study("scaling by compute units", 1.5, on_device(study_units));
    study("memory spaces", 5, on_device(study_access));
    study("concurrent kernels", 4, on_device(study_concurrency));
  }

  // A device that failed keeps the figures that need no measurement.
  static DeviceProfile finished(Subject& subject) {
    if (subject.failure) {
      auto energy = subject.profile.ceilings.energy;
      subject.profile.ceilings = estimate(subject.device.info(), host().info());
      subject.profile.ceilings.energy = std::move(energy);
      subject.profile.ceilings.measured = false;
    } else {
      subject.profile.ceilings.measured = true;
    }
    subject.bench.reset();
    return std::move(subject.profile);
  }

  const MeasureOptions& options_;
  bool quick_ = false;
  Subjects subjects_;
  Timetable table_;
  std::vector<std::string> doubts_;  // from repeated runs
};

}  // namespace

Profile measure_devices(const std::vector<Device>& devices, const MeasureOptions& options) {
  return Measurement(devices, options).run();
}

Profile measure(const MeasureOptions& options) {
  if (options.devices.empty()) return measure_devices(devices().devices, options);
  std::vector<Device> chosen;
  for (const auto& id : options.devices) chosen.push_back(ridge::device(id));
  return measure_devices(chosen, options);
}

}  // namespace ridge::machine
