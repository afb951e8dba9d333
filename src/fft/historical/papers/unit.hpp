// One FFT per unit, after Bergach's thesis: a transform is not spread over the chip but done by one compute unit, all
// in registers and local memory, and many run side by side.
//   in_register   a work-item a transform
//   simt          N/p work-items of p points each, p = 2, 4, 8, 16, which exchange through local memory
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "fft/device/step.hpp"
#include "fft/variant.hpp"

namespace ridge::fft::papers {

inline constexpr const char* kUnitFamily = "bergach";

// --- the capacity model ----------------------------------------------------------------------------------------------

// What a unit has, in the thesis's words.
struct UnitCapacity {
  std::size_t registers = 0;     // q: 32-bit registers of a unit
  std::size_t lanes = 1;         // v: work-items a hardware thread runs in step
  std::size_t threads = 1;       // th: hardware threads of a unit
  std::size_t local_memory = 0;  // Sh: bytes, of all units together
  std::size_t units = 1;
  std::size_t most_registers = 0;  // of a work-item; 0: no limit of its own
};

std::size_t registers_per_item(const UnitCapacity& unit);  // r = q / (v th)
// The largest power of two p < r / 4: out of place a complex point takes four floats, and a twiddle must fit too.
std::size_t points_per_item(const UnitCapacity& unit);
// The largest power of two N <= Sh / (8 units).
std::size_t longest_in_local_memory(const UnitCapacity& unit);

// Rcc: fused multiply-adds (six a radix-2 butterfly) for each word moved to or from local memory. Infinite where
// nothing is exchanged.
double compute_to_communication(int log_n, std::size_t passes);

// --- the kernels -----------------------------------------------------------------------------------------------------

enum class UnitTwiddles { table, constant };  // in global memory, in constant memory
const char* to_string(UnitTwiddles twiddles);

struct UnitDesign {
  std::size_t length = 1;
  std::size_t points = 1;  // p; the length itself: in registers
  std::vector<std::size_t> radices{};
  UnitTwiddles twiddles = UnitTwiddles::table;
  Direction direction = Direction::forward;
  double scale = 1;
  std::size_t units = 0;   // groups that share the lines; 0: a group for each
  std::size_t rounds = 1;  // lines a group does in one launch, where units are given
  std::size_t lines = 1;   // in_register: work-items, each with its own line, a group
  std::string refusal{};

  bool in_register() const { return points == length; }
  std::size_t items() const { return in_register() ? lines : length / points; }
  std::size_t local_bytes() const { return in_register() || radices.size() < 2 ? 0 : length * 8; }
  std::string variant() const;  // "in_register", "simt"
};

// p == 0: in registers. Refused with the reason where a limit is broken.
UnitDesign plan_unit(std::size_t length, std::size_t p, const Limits& limits);

// log2 N stages shared out over as few passes of at most radix p as can be: 8-8-4-4 for 1024 and p = 8.
std::vector<std::size_t> unit_radices(std::size_t length, std::size_t p);

inline constexpr const char* kUnitKernel = "one_per_unit";
KernelSource unit_text(const UnitDesign& design);

class CompiledUnit final : public on_device::CompiledStep {
 public:
  CompiledUnit(const Device& device, const UnitDesign& design);
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const override;
  const UnitDesign& design() const { return design_; }
  std::string describe() const override;

 private:
  UnitDesign design_;
  Kernel kernel_;
  Buffer twiddles_;
};

}  // namespace ridge::fft::papers
