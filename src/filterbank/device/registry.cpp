// All device variants of the filter bank and all FIR methods of the fused kernels.
#include <algorithm>

#include <fmt/format.h>

#include "filterbank/device/fir/fir.hpp"
#include "filterbank/variant.hpp"

namespace ridge::filterbank::on_device {

// One line per variant and per method. Explicit lists, because linkers drop self-registering objects from static
// libraries.
// clang-format off
void list_all(const Device& device, const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  const auto list = [&](Lister& lister) { lister(device, problem, geometry, entries); };
  Lister list_fused; list(list_fused);
  Lister list_separate; list(list_separate);
}

std::span<const Fir* const> fir_methods() {
  static const std::vector<const Fir*> all = [] {
    std::vector<const Fir*> list;
    extern const Fir kAlternatingFir; list.push_back(&kAlternatingFir);
    extern const Fir kWarpSpecializedFir; list.push_back(&kWarpSpecializedFir);
    extern const Fir kMatrixFir; list.push_back(&kMatrixFir);
    extern const Fir kStackedFir; list.push_back(&kStackedFir);
    extern const Fir kBlocksFir; list.push_back(&kBlocksFir);
    extern const Fir kRegistersFir; list.push_back(&kRegistersFir);
    extern const Fir kGatherFir; list.push_back(&kGatherFir);
    return list;
  }();
  return all;
}
// clang-format on

const Fir* fir_named(std::string_view name) {
  const auto methods = fir_methods();
  const auto found = std::ranges::find_if(methods, [&](const Fir* fir) { return name == fir->name; });
  if (found == methods.end()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("filterbank: no FIR method is named '{}'", name));
  }
  return *found;
}

}  // namespace ridge::filterbank::on_device
