// All stencil variants, in the order in which they are listed.
#include <cmath>
#include <cstdint>
#include <limits>

#include "stencil/variant.hpp"

namespace ridge::stencil {

// One line per variant, defined in its file. A plain list: linkers drop self-registration from static libraries.
// clang-format off
template <class T>
std::vector<Entry<T>> list_variants(const Device& device, const Update<T>& update, const Layout& layout) {
  std::vector<Entry<T>> entries;
  const auto list = [&](const Listers& listers) {
    if (Lister<T>* const lister = listers.get<T>()) lister(device, update, layout, entries);
  };
  if (device.is_host()) {
    extern const Listers kHostBase; list(kHostBase);
    extern const Listers kHostRegisterBlocked; list(kHostRegisterBlocked);
    extern const Listers kHostCacheBlocked; list(kHostCacheBlocked);
    extern const Listers kHostStreaming; list(kHostStreaming);
    extern const Listers kHostInPlace; list(kHostInPlace);
    extern const Listers kHostTwoStages; list(kHostTwoStages);
    extern const Listers kHostDlt; list(kHostDlt);
    extern const Listers kHostOverlappedTiles; list(kHostOverlappedTiles);
  } else {
    extern const Listers kDeviceCells; list(kDeviceCells);
    extern const Listers kDeviceTiles; list(kDeviceTiles);
    extern const Listers kDeviceRowMarch; list(kDeviceRowMarch);
    extern const Listers kDevicePlaneMarch; list(kDevicePlaneMarch);
    extern const Listers kDeviceSystemRows; list(kDeviceSystemRows);
    extern const Listers kDeviceSystemPlanes; list(kDeviceSystemPlanes);
    extern const Listers kDeviceResidentTiles; list(kDeviceResidentTiles);
    extern const Listers kDeviceResidentRows; list(kDeviceResidentRows);
    extern const Listers kDeviceResidentPlanes; list(kDeviceResidentPlanes);
  }
  // Costs are per step; a launch or a fork of the thread pool is one per `depth` steps.
  for (Entry<T>& entry : entries) entry.candidate.cost.launches /= static_cast<double>(depth_of(entry.candidate));
  return entries;
}
// clang-format on

std::size_t depth_of(const planner::Candidate& candidate) {
  for (const auto& [name, value] : candidate.parameters) {
    if (name == "depth") return std::stoul(value);
  }
  return 1;
}

template <class T>
planner::Cost step_cost(const Update<T>& update, const Layout& layout, double accesses, double efficiency,
                        double redundancy) {
  const auto cells = static_cast<double>(layout.changing());
  const double values =
      static_cast<double>(layout.fields) * accesses + static_cast<double>(layout.coefficients) * accesses / 2;
  return {.flops = update.flops * cells * redundancy,
          .bytes = cells * values * static_cast<double>(sizeof(T)),
          .launches = 1,
          .efficiency = efficiency,
          .float64 = std::is_same_v<T, double>,
          .threads = layout.threads};
}

template <class T>
double change_between(const Grid<T>& before, const Grid<T>& after, Norm norm) {
  double largest = 0, squares = 0;
  const auto old = before.all(), fresh = after.all();
  for (std::size_t i = 0; i < old.size(); ++i) {
    const double difference = static_cast<double>(fresh[i]) - static_cast<double>(old[i]);
    largest = std::max(largest, std::fabs(difference));
    squares += difference * difference;
  }
  if (std::isnan(squares)) return std::numeric_limits<double>::quiet_NaN();
  return norm == Norm::max ? largest : std::sqrt(squares / static_cast<double>(old.size()));
}

template std::vector<Entry<float>> list_variants(const Device&, const Update<float>&, const Layout&);
template std::vector<Entry<double>> list_variants(const Device&, const Update<double>&, const Layout&);
template std::vector<Entry<std::int32_t>> list_variants(const Device&, const Update<std::int32_t>&, const Layout&);
template std::vector<Entry<std::uint8_t>> list_variants(const Device&, const Update<std::uint8_t>&, const Layout&);
template planner::Cost step_cost(const Update<float>&, const Layout&, double, double, double);
template planner::Cost step_cost(const Update<double>&, const Layout&, double, double, double);
template planner::Cost step_cost(const Update<std::int32_t>&, const Layout&, double, double, double);
template planner::Cost step_cost(const Update<std::uint8_t>&, const Layout&, double, double, double);
template double change_between(const Grid<float>&, const Grid<float>&, Norm);
template double change_between(const Grid<double>&, const Grid<double>&, Norm);
template double change_between(const Grid<std::int32_t>&, const Grid<std::int32_t>&, Norm);
template double change_between(const Grid<std::uint8_t>&, const Grid<std::uint8_t>&, Norm);

}  // namespace ridge::stencil
