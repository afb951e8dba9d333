// The plain loops every variant is compared with.
#pragma once
#include <cstddef>

#include "transpose/layout.hpp"

namespace ridge::transpose {

// `in` and `out` are apart, also for a layout in place. What lies between the output's rows is left alone.
void reference(const Layout& layout, const std::byte* in, std::byte* out);

}  // namespace ridge::transpose
