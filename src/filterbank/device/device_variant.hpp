// What the device variants share: a stretch of a stream in host memory carried there, and its spectra back.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/variant.hpp"

namespace ridge::filterbank::on_device {

enum class Transfers {
  in_turn,     // copy there, compute, copy back
  overlapped,  // pieces over three queues, so that all of it goes on at once
  mapped,      // samples read by the kernel from page-locked memory of the host, and so written once only
};

// The kernels of a variant, on memory of the device.
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
  void enqueue(Queue& queue, const Resident& work, const Weights& weights) const override;

 private:
  // Bytes `from` .. `end` of a stream, in memory of the device.
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
    std::size_t sample_bytes = 0, spectrum_values = 0;  // of each slot
    std::vector<std::int32_t> shifts;
  };
  // Spectra of an output block that a job shares with another: they go through memory of their own.
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

// The least a device must do for one time, and what a variant moves beyond it.
planner::Cost device_cost(const Geometry& geometry, double efficiency, double passes = 0, double launches = 1);

}  // namespace ridge::filterbank::on_device
