// The texts of src/<module>/**/<name>.cl, which cmake/EmbedKernels.cmake puts into the library.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ridge::detail {

// Keyed by "<module>/<name>".
const std::map<std::string, std::string, std::less<>>& embedded_kernels();

// Error{internal} if there is no such file.
const std::string& kernel_text(std::string_view name);

}  // namespace ridge::detail
