// Registry of the variants of the nonuniform transform.
#include "nufft/variant.hpp"

namespace ridge::nufft {

template <class T>
void list_host_tiles(const Device&, const Layout&, const planner::Options&, std::vector<Entry<T>>&);
template <class T>
void list_on_device(const Device&, const Layout&, const planner::Options&, std::vector<Entry<T>>&);

// One line per variant.
// clang-format off
template <class T>
std::vector<Entry<T>> list_variants(const Device& device, const Layout& layout, const planner::Options& options) {
  std::vector<Entry<T>> entries;
  const auto list = [&](Lister<T>& lister) { lister(device, layout, options, entries); };
  if (device.is_host()) {
    list(list_host_tiles<T>);
  } else {
    list(list_on_device<T>);
  }
  return entries;
}
// clang-format on

template std::vector<Entry<float>> list_variants(const Device&, const Layout&, const planner::Options&);
template std::vector<Entry<double>> list_variants(const Device&, const Layout&, const planner::Options&);

}  // namespace ridge::nufft
