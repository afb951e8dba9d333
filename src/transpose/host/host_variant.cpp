// Cost estimate and thread counts that all host variants share.
#include "transpose/host/host_variant.hpp"

namespace ridge::transpose {

void HostVariant::enqueue(Queue&, const Buffer& in, const Buffer& out) const {
  run(reinterpret_cast<const std::byte*>(in.native()), reinterpret_cast<std::byte*>(out.native()));
}

std::vector<std::size_t> thread_counts(const Layout& layout) {
  if (layout.threads == 1) return {1};
  return {layout.threads, 1};
}

planner::Cost host_cost(const Layout& layout, std::size_t threads, double efficiency) {
  return {.flops = 0,
          .bytes = 2.0 * static_cast<double>(layout.elements() * layout.element_bytes),
          .launches = threads > 1 ? 1.0 : 0.0,
          .efficiency = efficiency,
          .float64 = false,
          .threads = threads};
}

}  // namespace ridge::transpose
