// One FFT per compute unit, after Bergach's thesis: each transform is done by one compute unit, entirely in registers
// and local memory, and many run concurrently.
//   in_register   one work-item per transform, up to 32 points
//   one_item      one work-item per transform, up to 1024 points in private memory, with OpenCL's vector types
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

// Resources of a compute unit, with the symbols of the thesis.
struct UnitCapacity {
  std::size_t registers = 0;     // q: 32-bit registers per unit
  std::size_t lanes = 1;         // v: work-items that a hardware thread runs in lockstep
  std::size_t threads = 1;       // th: hardware threads per unit
  std::size_t local_memory = 0;  // Sh: bytes, of all units together
  std::size_t units = 1;
  std::size_t most_registers = 0;  // per work-item; 0: no separate limit
};

std::size_t registers_per_item(const UnitCapacity& unit);  // r = q / (v th)
// The largest power of two p < r / 4: out of place a complex point takes four floats, and a twiddle must fit too.
std::size_t points_per_item(const UnitCapacity& unit);
// The largest power of two N <= Sh / (8 units).
std::size_t longest_in_local_memory(const UnitCapacity& unit);

// Sw = Sh wg / (v th units), equation 4.6: local memory that the device sets aside for a group of wg work-items,
// whether it needs that much or not. Larger groups of fewer points waste it.
std::size_t local_memory_share(const UnitCapacity& unit, std::size_t group);

// Rcc: fused multiply-adds (six per radix-2 butterfly) per word moved to or from local memory. Infinite if nothing is
// exchanged.
double compute_to_communication(int log_n, std::size_t passes);

// --- the kernels -----------------------------------------------------------------------------------------------------

// Parts of a kernel, for figure 5.7: each one contains those before it. Kernels without twiddles do not transform.
enum class UnitPhases { memory, exchanges, butterflies, all };

// In global memory; in constant memory; a quarter of the cosine's period in global memory, the rest by symmetry.
enum class UnitTwiddles { table, constant, quarter };
const char* to_string(UnitTwiddles twiddles);

struct UnitDesign {
  std::size_t length = 1;
  std::size_t points = 1;  // p; equal to the length: all in registers
  std::vector<std::size_t> radices{};
  UnitTwiddles twiddles = UnitTwiddles::table;
  Direction direction = Direction::forward;
  double scale = 1;
  std::size_t units = 0;   // groups that share the lines; 0: one group per line
  std::size_t rounds = 1;  // lines per group in one launch, if units are given
  std::size_t lines = 1;   // in_register: work-items per group, each with its own line
  std::string refusal{};
  bool vectors = false;                 // one_item
  UnitPhases phases = UnitPhases::all;  // simt only

  bool in_register() const { return points == length; }
  std::size_t items() const { return in_register() ? lines : length / points; }
  std::size_t local_bytes() const { return in_register() || radices.size() < 2 ? 0 : length * 8; }
  std::string variant() const;  // "in_register", "one_item", "simt"
};

// p == 0: in registers. Refused with the reason if a limit is exceeded.
UnitDesign plan_unit(std::size_t length, std::size_t p, const Limits& limits);

// One work-item per transform with vectors of 16 floats: 64 to 1024 points, OpenCL only.
UnitDesign plan_vector_unit(std::size_t length, const Device& device);

// log2 N stages divided over as few passes of at most radix p as possible: 8-8-4-4 for 1024 and p = 8.
std::vector<std::size_t> unit_radices(std::size_t length, std::size_t p);

inline constexpr const char* kUnitKernel = "one_per_unit";
KernelSource unit_text(const UnitDesign& design);
KernelSource vector_unit_text(const UnitDesign& design);
// A kernel that repeats the pass of one radix after `before` points, so that the pass can be timed alone.
inline constexpr const char* kPassKernel = "one_pass";
KernelSource pass_text(const UnitDesign& design, std::size_t before, std::size_t radix);

// The table that the kernels of a design read, on the device.
Buffer unit_twiddles(const Device& device, const UnitDesign& design);

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
