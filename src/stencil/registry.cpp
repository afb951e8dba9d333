#include "stencil/registry.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ridge::stencil {
namespace {

// One line a variant. A plain table, because self-registration is dropped by linkers from static libraries.
template <class T>
constexpr std::array kHostVariants{
    Lister<T>{list_host_base<T>},
    Lister<T>{list_host_register_blocked<T>},
    Lister<T>{list_host_cache_blocked<T>},
    Lister<T>{list_host_streaming<T>},
    Lister<T>{list_host_in_place<T>},
    Lister<T>{list_host_dlt<T>},
    Lister<T>{list_host_overlapped_tiles<T>},
};
// Integers have no variants that sum in another order.
template <class T>
std::vector<Lister<T>> device_variants() {
  std::vector<Lister<T>> listers{list_device_cells<T>, list_device_tiles<T>};
  if constexpr (std::is_floating_point_v<T>) {
    listers.push_back(list_device_row_march<T>);
    listers.push_back(list_device_plane_march<T>);
    listers.push_back(list_device_system_rows<T>);
    listers.push_back(list_device_system_planes<T>);
  }
  return listers;
}

}  // namespace

template <class T>
std::vector<Entry<T>> list_variants(const Device& device, const Update<T>& update, const Layout& layout) {
  std::vector<Entry<T>> entries;
  const auto list = [&](const auto& listers) {
    for (const Lister<T> lister : listers) lister(device, update, layout, entries);
  };
  if (device.is_host()) {
    list(kHostVariants<T>);
  } else {
    list(device_variants<T>());
  }
  return entries;
}

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
