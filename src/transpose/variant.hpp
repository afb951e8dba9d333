// Interface of a transpose variant. To add one, write a file with a lister and add its line to registry.cpp.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/device.hpp>

#include "plan/choose.hpp"
#include "plan/lister.hpp"
#include "transpose/layout.hpp"

namespace ridge::transpose {

// A variant built for one layout on one device: compiled and immutable. Callers have checked sizes and overlap.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual void run(const std::byte* in, std::byte* out) const = 0;  // host memory; returns when done
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const = 0;
};

using Entry = planner::Entry<Variant>;

// Appends the variant with each set of parameters to try, including refused ones. A variant's file defines one;
// registry.cpp names it.
using Lister = planner::Lister<Entry, Layout>;

// Every variant for the device, in the registry's order.
std::vector<Entry> list_variants(const Device& device, const Layout& layout);

}  // namespace ridge::transpose
