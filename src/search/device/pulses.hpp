// Single pulses on a device: from normalized bytes to detections without copying the series to the host.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <ridge/search.hpp>

#include "search/detections.hpp"

namespace ridge::search {

// The trials of a segment; counts are samples of the series.
struct PulseJob {
  std::span<const std::uint32_t> starts{};   // per trial: boxcars that begin here are searched
  std::span<const std::uint32_t> lengths{};  // per trial: valid samples
  std::uint64_t first = 0;                   // input sample of the first sample
  std::size_t factor = 1, first_trial = 0, segment = 0;
};

class DevicePulses {
 public:
  // `plan` is on the device; `times` samples per series.
  DevicePulses(const Plan& plan, std::span<const std::size_t> widths, std::span<const float> limits);
  static std::string refusal(const Device& device, std::size_t widest);  // empty: this device can do it
  static KernelSource source(std::size_t widest);

  // Dedisperses `plane` and appends detections in the order of find_boxcars() for one trial after another; `normals`
  // gets one element per trial. Returns false if there are more detections than the list holds; then nothing is
  // appended and series() has the data.
  bool find(std::span<const std::uint8_t> plane, const PulseJob& job, std::span<Normal> normals,
            std::vector<Detection>& found);
  // The same with a plane in device memory, which no other queue writes any more.
  bool find(const Buffer& plane, const PulseJob& job, std::span<Normal> normals, std::vector<Detection>& found);
  // find() in two steps: up to two jobs may have begun, and end() returns the results of the oldest one. The spans of
  // `job` are read by begin() only.
  void begin(const Buffer& plane, const PulseJob& job);
  bool end(std::span<Normal> normals, std::vector<Detection>& found);
  void series(std::span<float> to);  // of the last job

 private:
  struct Slot {
    Buffer normals, count, places, snrs;
    PulseJob job;
    Event done;
  };
  void send(std::span<const std::uint32_t> values, std::vector<std::uint32_t>& sent, const Buffer& to);

  Plan plan_;
  std::vector<std::size_t> widths_;
  Queue queue_, results_;
  Kernel normal_, boxcars_;
  std::size_t trials_, times_;
  Buffer in_, series_, starts_, lengths_, widths_on_device_, limits_;
  std::vector<std::uint32_t> sent_starts_, sent_lengths_;
  std::array<Slot, 2> slots_;
  std::size_t begun_ = 0, ended_ = 0;
};

}  // namespace ridge::search
