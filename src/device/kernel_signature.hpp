// Parses the parameters of a kernel from its text, for drivers that fail when asked for one too many.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include <ridge/device.hpp>

namespace ridge::detail {

// Number of parameters of `kernel`. Nothing if the text is ambiguous: no such kernel, several with different numbers
// (one of them in an #if), or macros among the parameters other than TILE_MAP, which counts as two.
std::optional<std::size_t> parameter_count(const KernelSource& source, const std::string& kernel);

}  // namespace ridge::detail
