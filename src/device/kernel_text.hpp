// Texts of kernels: those of src/<module>/**/<name>.cl, which cmake/EmbedKernels.cmake puts into the library, and the
// number of parameters of a kernel in a text.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <ridge/device.hpp>

namespace ridge::detail {

// Keyed by "<module>/<name>".
const std::map<std::string, std::string, std::less<>>& embedded_kernels();

// Error{internal} if there is no such file.
const std::string& kernel_text(std::string_view name);

// Parses the parameters of a kernel from its text, for drivers that fail if one too many is queried.
// Number of parameters of `kernel`. Nothing if the text is ambiguous: no such kernel, several with different numbers
// (one of them in an #if), or macros among the parameters other than TILE_MAP, which counts as two.
std::optional<std::size_t> parameter_count(const KernelSource& source, const std::string& kernel);

}  // namespace ridge::detail
