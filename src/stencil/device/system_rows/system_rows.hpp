// Systems of fields in two dimensions, marched through in registers.
#pragma once
#include <memory>
#include <string>

#include "stencil/device/system_rows/system_rows_kernel.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

// Reason why the grid or the device cannot use the method; empty if it can.
template <class T>
std::string system_rows_refusal(const Device& device, const Update<T>& update, const Layout& layout,
                                const SystemRowsOptions& options);
template <class T>
std::shared_ptr<const Variant<T>> system_rows_variant(const Device& device, const Update<T>& update,
                                                      const Layout& layout, const SystemRowsOptions& options);

}  // namespace ridge::stencil
