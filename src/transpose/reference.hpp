// Reference implementation that every variant is compared with.
#pragma once
#include <cstddef>

#include "transpose/layout.hpp"

namespace ridge::transpose {

// `in` and `out` must not overlap, also for an in-place layout. Gaps between the output's rows are not written.
void reference(const Layout& layout, const std::byte* in, std::byte* out);

}  // namespace ridge::transpose
