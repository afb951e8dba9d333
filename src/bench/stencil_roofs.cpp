// Measures or loads copy bandwidth and peak arithmetic for the stencil benchmark.
#include "bench/stencil_roofs.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/text.hpp"
#include "machine/host/caches.hpp"

namespace ridge::cli {

StencilRoofs::StencilRoofs(const Device& device, std::size_t threads, bool float64, double seconds)
    : device_(device),
      threads_(threads == 0 ? device.info().limits.compute_units : threads),
      float64_(float64),
      seconds_(seconds) {
  const machine::Ceilings ceilings = machine::ceilings(device);
  if (device.is_host() && !ceilings.measured) return;
  const bool one = device.is_host() && threads_ == 1;
  if (device.is_host() && !one && threads_ != device.info().limits.compute_units) return;
  const machine::Bandwidth& memory = one ? ceilings.memory().one : ceilings.memory().all;
  copy_ = std::max(memory.copy, memory.copy_streaming);
  peak_ = float64 ? (one ? ceilings.flops_double_one : ceilings.flops_double)
                  : (one ? ceilings.flops_float_one : ceilings.flops_float);
}

void StencilRoofs::probe() {
  if (!device_.is_host()) return;
  probe_copy(seconds_);
  run_peak_ = std::max(run_peak_, float64_ ? machine::host_flops_double(threads_, seconds_ / 4)
                                           : machine::host_flops_float(threads_, seconds_ / 4));
}

void StencilRoofs::probe_copy(double seconds) {
  if (!pieces_) {
    const std::size_t bytes = machine::host_memory_probe_bytes(machine::host_caches(), seconds_ < 0.1);
    pieces_.emplace(threads_, bytes / threads_);
  }
  run_copy_ = std::max(run_copy_, machine::host_copy_bandwidth(*pieces_, seconds));
}

double StencilRoofs::copy() const { return std::max(copy_, run_copy_); }
double StencilRoofs::peak() const { return std::max(peak_, run_peak_); }

std::string StencilRoofs::note() const {
  if (!device_.is_host()) return "";
  const auto rates = [](double bytes, double flops) {
    return fmt::format("copy {}, peak {}", base::human_rate(bytes, "B/s"), base::human_rate(flops, "FLOP/s"));
  };
  return fmt::format("{} threads in this run: {}{}", threads_, rates(run_copy_, run_peak_),
                     copy_ > 0 ? "; in the saved profile: " + rates(copy_, peak_) : "");
}

}  // namespace ridge::cli
