// The machine model: measured performance limits of every device, saved to a file and used by every planner.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::machine {

// Bytes per second; each byte read or written counts once (a copy of n bytes counts 2n).
struct Bandwidth {
  double read = 0, write = 0, copy = 0;
  double write_streaming = 0, copy_streaming = 0;  // non-temporal stores; 0 if unavailable
};

// A level of the memory hierarchy, fastest first; the last is the device's main memory.
struct Level {
  std::string name{};        // "L1", "L2", "L3", "local", "memory"
  std::size_t capacity = 0;  // bytes, of all cores together
  Bandwidth all = {};        // all cores concurrently
  Bandwidth one = {};        // one core (host only)
};

struct Transfers {  // bytes per second between host and device; 0 on the host
  double upload_pageable = 0, download_pageable = 0;
  double upload_pinned = 0, download_pinned = 0;
  double upload_mapped = 0, download_mapped = 0;  // a kernel reading / writing host memory in place
};

struct Energy {
  std::string counter{};  // "RAPL package", "NVML", "hwmon …"; empty if none is readable
  std::string why_not{};  // the reason if no counter is readable
  double idle_watts = 0, load_watts = 0;
  double flops_per_watt = 0;  // float, under the FMA load
};

// A measured curve y(x) for reports: scaling with cores, work-group size, number of work-items, access patterns.
struct Sweep {
  std::string title{}, x{}, y{};
  struct Line {
    std::string name{};
    std::vector<std::pair<double, double>> points = {};
  };
  std::vector<Line> lines = {};
};

struct Ceilings {
  bool measured = false;                     // false: estimated from the device's limits, sufficient to rank candidates
  double flops_float = 0, flops_double = 0;  // per second, all cores
  double flops_float_one = 0, flops_double_one = 0;  // one core (host only)
  std::vector<Level> levels = {};
  double launch_seconds = 0;  // from enqueue to completion of an empty kernel; on the host a fork and join of the pool
  Transfers transfers = {};
  // Measured while every other device is busy, because devices may share memory; 0 if there is no other device.
  double copy_while_others_busy = 0, flops_float_while_others_busy = 0;
  Energy energy = {};
  std::vector<Sweep> sweeps = {};
  const Level& memory() const { return levels.back(); }
};

struct DeviceProfile {
  std::string id{}, name{}, fingerprint{};
  Ceilings ceilings = {};
};

struct Profile {
  std::string hardware{};  // identifies processor, memory, devices and drivers
  std::string measured_at{};
  double seconds_taken = 0;
  bool studies = true;  // false: a quick profile with ceilings only
  std::vector<DeviceProfile> devices = {};
  // Why the figures cannot be trusted, one sentence per reason: probes that contradict each other, repeated runs that
  // differ, other processes that used the CPUs. save() refuses such a profile. Empty in a saved one.
  std::vector<std::string> doubts = {};
  const DeviceProfile* find(const std::string& id) const;
};

using Progress = std::function<void(double share, const std::string& what)>;

struct MeasureOptions {
  std::vector<std::string> devices = {};  // ids; empty: all
  bool studies = true;                    // the sweeps, the memory-space and concurrency studies; false: ceilings only
  double seconds = 50;                    // approximate total time
  Progress progress = {};
};

Profile measure(const MeasureOptions& options = {});
std::optional<Profile> load();  // the saved profile of this hardware; empty if missing or damaged
// Writes to path() atomically and returns true on success. Prints a warning and returns false if the profile has
// doubts, the folder is not writable, or the file named by RIDGE_PROFILE is not a profile of this hardware.
bool save(const Profile& profile);
std::string path();  // RIDGE_PROFILE, or machine-<hash of the hardware>.json in the cache folder

// Ceilings of one device, from the saved profile or else estimated from its limits. Never measures; takes milliseconds.
Ceilings ceilings(const Device& device);

std::string to_json(const Profile& profile);
Profile from_json(const std::string& text);   // Error{io} if the text is not a profile
std::string to_text(const Profile& profile);  // for a terminal, about ten lines per device

// --- the roofline ---------------------------------------------------------------------------------------------------
struct Point {  // a workload in the roofline diagram
  std::string label{};
  double flops = 0, bytes = 0, seconds = 0;
};
struct Roofline {
  std::string device{};
  double peak_float = 0, peak_double = 0;                  // FLOP/s
  std::vector<std::pair<std::string, double>> roofs = {};  // name, bytes/s; fastest level first, main memory last
  std::vector<Point> points = {};
};
Roofline roofline(const DeviceProfile& device);
// Fraction of the attainable performance that a point reaches: attainable = min(peak, intensity x main memory
// bandwidth). Points without arithmetic are compared by bandwidth.
double roof_share(const Roofline& roofline, const Point& point);
std::string to_text(const Roofline& roofline);
std::string to_json(const Roofline& roofline);
std::string to_svg(const Roofline& roofline);

// --- the split solver -----------------------------------------------------------------------------------------------
// Divides a batch of equal items among workers that run concurrently. A worker is a group of cores or a device, with
// rates measured while the other workers run.
struct Worker {
  std::string name{};
  double seconds_per_item = 0;  // on one unit
  std::size_t units = 1;        // cores or compute units
  std::size_t units_cap = 0;    // use at most this many; 0: all
  double serial_seconds = 0;    // before its first item (a transpose, a transfer)
  std::uint64_t items_cap = 0;  // maximum items that fit its memory; 0: unlimited
};
struct Split {
  std::vector<std::uint64_t> items = {};  // one per worker, in the workers' order
  std::vector<double> finish_seconds = {};
  double seconds = 0;  // when the last worker finishes
};
// The integer split with the shortest time. Error if the caps cannot hold the batch.
Split split(const std::vector<Worker>& workers, std::uint64_t items);
// Number of machines with these workers that sustain `frames_per_second` frames of `items_per_frame` items.
std::uint64_t machines_needed(const std::vector<Worker>& workers, std::uint64_t items_per_frame,
                              double frames_per_second);

}  // namespace ridge::machine
