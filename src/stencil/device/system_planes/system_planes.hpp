// 3D systems of fields, computed plane by plane.
#pragma once
#include <memory>
#include <string>

#include "stencil/device/system_planes/system_planes_kernel.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

// Reason why the method does not support the grid or the device; empty if it does.
template <class T>
std::string system_planes_refusal(const Device& device, const Update<T>& update, const Layout& layout,
                                  const SystemPlanesOptions& options);
// Builds the variant. If all sides are fixed, it works in place: pairs of time levels exchange roles in one buffer.
template <class T>
std::shared_ptr<const Variant<T>> system_planes_variant(const Device& device, const Update<T>& update,
                                                        const Layout& layout, const SystemPlanesOptions& options);

}  // namespace ridge::stencil
