// Shared by the variants whose kernel keeps a grid in registers for many steps: their entries, and marks in kernel
// texts.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/pass.hpp"

namespace ridge::stencil {

using Parameters = decltype(planner::Candidate::parameters);

// Entry of a design. `cycles`: of a compute unit per step. A trial has `timed_steps` steps, so that it hides the
// launch.
template <class T, class Kernel, class PassOf>
Entry<T> resident_entry(const char* variant, const Device& device, const Update<T>& update, const Layout& layout,
                        const Kernel& kernel, const Parameters& parameters, double cycles, std::size_t timed_steps,
                        const PassOf& pass_of) {
  Entry<T> entry;
  // The peak counts two operations per lane and cycle.
  const double per_cycle = (sizeof(T) == 8 ? 128.0 : 256.0) * static_cast<double>(device.limits().compute_units);
  entry.candidate = {
      .variant = variant, .parameters = parameters, .refusal = {}, .cost = step_cost(update, layout, 0, 1)};
  entry.candidate.cost.flops = cycles * per_cycle;
  entry.candidate.cost.launches = 0;
  entry.kernels = [device, kernel] { return std::vector{kernel.source(), service_source<T>(device)}; };
  entry.build = [=] {
    return device_variant<T>(device, layout, kernel.place, {timed_steps},
                             [=](std::size_t) { return pass_of(device, kernel); });
  };
  return entry;
}

// Appends an entry per design of a kernel, or a refused one if there is none.
template <class T, class Kernel, class Options, class EntryOf>
void append_designs(const char* variant, const Update<T>& update, const Layout& layout, Kernel kernel,
                    const std::vector<Options>& designs, const std::string& refusal, const EntryOf& entry_of,
                    std::vector<Entry<T>>& entries) {
  for (const Options& options : designs) {
    kernel.options = options;
    entries.push_back(entry_of(kernel));
  }
  if (!designs.empty()) return;
  Entry<T> none;
  none.candidate = {.variant = variant, .parameters = {}, .refusal = refusal, .cost = step_cost(update, layout, 2, 1)};
  entries.push_back(std::move(none));
}

// Replaces the next mark, a line "//MARK" of a kernel's text.
inline void replace_mark(std::string& code, const std::string& mark, const std::string& with) {
  const std::string line = "//" + mark + "\n";
  code.replace(code.find(line), line.size(), with);
}

}  // namespace ridge::stencil
