// Interface of a dedispersion variant. To add one, write a file with a lister and add its line to registry.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ridge/device.hpp>

#include "plan/choose.hpp"
#include "plan/lister.hpp"
#include "search/layout.hpp"

namespace ridge::search {

// Built for one layout on one device; safe for concurrent use. Callers have checked sizes and overlap.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual void run(const std::uint8_t* in, float* out) const = 0;
  virtual void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const = 0;
  // Delays per channel that this variant applies to a trial.
  virtual std::vector<std::int32_t> delays(std::size_t trial) const = 0;
  // 0: delays are whole samples. Otherwise delays are exact, by periodic band-limited interpolation with this period.
  virtual std::size_t interpolates() const { return 0; }
};

using Entry = planner::Entry<Variant>;

using Lister = planner::Lister<Entry, Layout>;

std::vector<Entry> list_variants(const Device& device, const Layout& layout);

// Delays rounded to the nearest sample.
std::vector<std::int32_t> nearest_delays(const Layout& layout, std::size_t trial);

}  // namespace ridge::search
