// A FIR method of the device filter bank. Each folder of fir/ defines one, and registry.cpp lists it.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/filterbank.hpp>

#include "filterbank/device/design.hpp"

namespace ridge::filterbank::on_device {

// Weights in the layout that a kernel reads.
struct FirWeights {
  std::vector<std::uint32_t> words{};         // bit patterns of float, or pairs of float16
  std::vector<std::complex<float>> tables{};  // twiddle factors, if their scale depends on the weights
};
FirWeights float_weights(const KernelDesign& design, std::span<const double> prototype);

struct Fir {
  const char* name;  // users see it in `fir=`
  // Appends the designs of a fused kernel for a problem that fit the device, the most promising first.
  void (*list)(const Device& device, const Problem& problem, const Geometry& geometry, std::vector<KernelDesign>& all);
  KernelText (*text)(const KernelDesign& design);
  // Twiddle factors in the order in which the kernel reads them; null if weights() returns them.
  std::vector<std::complex<float>> (*tables)(const KernelDesign& design) = nullptr;
  FirWeights (*weights)(const KernelDesign& design, std::span<const double> prototype) = float_weights;
  // Sets `summed` and `unit` for power rows whose sums divide `times`. Returns false if the kernel cannot write such
  // rows; null: it writes spectra only.
  bool (*sum_power)(KernelDesign& design, std::size_t times) = nullptr;
  // Sums of squares per work-item that are kept in local memory, as far as they fit, because of few free registers;
  // null: none.
  std::size_t (*local_squares)(const KernelDesign& design) = nullptr;
  // True if a later design of the method is faster with power; null: never.
  bool (*slower_power)(const KernelDesign& design) = nullptr;
  // Spectra per iteration of the kernel's loop; null: `steps`.
  std::size_t (*iteration)(const KernelDesign& design) = nullptr;
  std::size_t start_multiple = 1;     // groups start at multiples of this number of spectra
  bool writes_bytes = true;           // as_bytes()
  bool splits_polarizations = false;  // with two parts, a group has one polarization
  double idle_blocks = 0;             // start-up and wind-down of a group, in blocks of `steps`; 0: about 4 spectra
  double efficiency = 1;              // expected speed, relative to the other methods
};

// All methods, in the order in which their designs are listed (registry.cpp).
std::span<const Fir* const> fir_methods();
const Fir* fir_named(std::string_view name);  // throws Error if there is none

// The designs of all methods for a fused kernel.
std::vector<KernelDesign> fused_designs(const Device& device, const Problem& problem, const Geometry& geometry);

// The same design with power output, summed over divisors of `times`; empty if its kernel cannot write such rows.
std::optional<KernelDesign> as_power(KernelDesign design, Products products, std::size_t times);

// The same design with spectra as pairs of signed bytes; empty if its kernel cannot write them.
std::optional<KernelDesign> as_bytes(KernelDesign design);

// --- for listers ---------------------------------------------------------------------------------------------------

Factors factors_of(const Problem& problem, const Geometry& geometry);

// Iterations of a loop over time that is a compile-time constant; 0: the number is given at launch.
std::size_t fixed_rounds(const Device& device, std::size_t period);

// Local memory that one kernel may use: NVIDIA's OpenCL allows 48 KiB, whatever it reports.
std::size_t local_memory(const Device& device);

struct GroupSize {
  std::size_t items, steps;
};
// Appends a design with the first of the sizes whose local memory fits the device.
void add_first_fitting(const Device& device, const Problem& problem, const Geometry& geometry, const Fir& fir,
                       const std::vector<GroupSize>& sizes, std::vector<KernelDesign>& all);

// --- for kernel text -----------------------------------------------------------------------------------------------

// Macros that the dialect lacks: bit reinterpretation, byte permutation, and the conversion of the raw type to float.
std::string conversion_text(Samples samples, std::size_t parts);

// Twiddle factors of `blocks` and `alternating`.
std::vector<std::complex<float>> block_tables(const KernelDesign& design);

}  // namespace ridge::filterbank::on_device
