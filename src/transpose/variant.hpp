// What a variant of the transpose brings. Adding one: a file with a lister, and its line in registry.cpp.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/device.hpp>

#include "plan/choose.hpp"
#include "transpose/layout.hpp"

namespace ridge::transpose {

// A variant built for one layout on one device: compiled, ready, unchanging. Callers have checked sizes and overlap.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual void run(const std::byte* in, std::byte* out) const = 0;  // host memory; done when it returns
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const = 0;
};

using Entry = planner::Entry<Variant>;

// A variant's file defines one and registry.cpp names it: appends the variant with each set of parameters worth trying,
// refusals included.
using Lister = void(const Device& device, const Layout& layout, std::vector<Entry>& entries);

// Every variant for the device, in the registry's order.
std::vector<Entry> list_variants(const Device& device, const Layout& layout);

}  // namespace ridge::transpose
