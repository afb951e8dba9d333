// Systems of fields in three dimensions, marched through plane by plane.
#pragma once
#include <memory>
#include <string>

#include "stencil/device/system_planes_kernel.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

// What keeps the method from the grid, or from the device, in words; empty where nothing does.
template <class T>
std::string system_planes_refusal(const Device& device, const Update<T>& update, const Layout& layout,
                                  const SystemPlanesOptions& options);
// Pairs of time levels change their places in one buffer where all sides are fixed.
template <class T>
std::shared_ptr<const Variant<T>> system_planes_variant(const Device& device, const Update<T>& update,
                                                        const Layout& layout, const SystemPlanesOptions& options);

}  // namespace ridge::stencil
