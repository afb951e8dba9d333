// Shared part of the device variants: uploads samples from host memory, runs the kernels and downloads the spectra.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/variant.hpp"

namespace ridge::filterbank::on_device {

enum class Transfers {
  sequential,  // upload, compute, download, one after another
  overlapped,  // chunks over three queues, so that transfers and computation overlap
  mapped,      // the kernel reads samples from page-locked host memory, so they are copied only once
};

// The kernels of a variant, working on device memory.
class DeviceBank {
 public:
  virtual ~DeviceBank() = default;
  virtual std::shared_ptr<const DeviceWeights> prepare(std::span<const double> prototype) const = 0;
  virtual void enqueue(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const = 0;
};

class DeviceVariant final : public Variant {
 public:
  DeviceVariant(const Device& device, const Geometry& geometry, std::shared_ptr<const DeviceBank> bank,
                Transfers transfers);
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override;
  void run(const Job& job) const override;
  void enqueue(Queue& queue, const Resident& work, const Weights& weights, const ResidentDelays& delays) const override;
  // Overlapped transfers take the same time for all kernels; others are timed with them.
  const Device* resident_device() const override {
    return transfers_ == Transfers::overlapped && !device_.info().runs_on_host_cores ? &device_ : nullptr;
  }

 private:
  // Bytes `from` .. `end` of a stream, in device memory.
  struct Held {
    Buffer bytes;
    std::uint64_t from = 0, end = 0;
  };
  struct Slot {
    Buffer samples, spectra, shifts, phases;
    Event uploaded, computed, downloaded;
  };
  struct Scratch {
    std::mutex mutex;
    std::optional<Queue> up, compute, down;
    std::vector<Slot> slots;
    std::size_t sample_bytes = 0, spectrum_values = 0;  // per slot
    std::vector<std::int32_t> shifts;
    Buffer resident_shifts, resident_phases;  // of the latest enqueue()
  };
  // Spectra of an output block that two jobs write: they are downloaded to a separate buffer first.
  struct Shared {
    std::uint64_t first = 0;
    std::size_t count = 0;
    std::complex<float>* out = nullptr;
    std::vector<std::complex<float>> values{};
  };
  std::size_t piece(std::size_t spectra) const;
  void make_room(std::size_t spectra, std::size_t slots) const;
  void send(const RawView& raw, std::uint64_t from, std::uint64_t end, const Held& held, const Buffer& to) const;
  void send_delays(const Job& job, std::size_t done, std::size_t count, const Slot& slot) const;
  void receive(Queue& queue, const Slot& slot, std::uint64_t first, std::size_t count, std::complex<float>* out,
               std::vector<Shared>& shared) const;
  void hand_over(const Shared& shared) const;
  void keep(const Job& job, const Held& last) const;

  Device device_;
  Geometry geometry_;
  std::shared_ptr<const DeviceBank> bank_;
  Transfers transfers_;
  mutable Scratch scratch_;
};

// Appends a variant that cannot solve the problem, with the reason.
void refuse(const char* variant, const std::string& why, std::vector<Entry>& entries);

// Cost of one spectrum: the minimal arithmetic and traffic, and `passes` additional passes over the channels.
planner::Cost device_cost(const Geometry& geometry, double efficiency, double passes = 0, double launches = 1);

}  // namespace ridge::filterbank::on_device
