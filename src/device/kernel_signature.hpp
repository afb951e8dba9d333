// What a kernel's text says of its parameters, for drivers that are best not asked for one too many.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include <ridge/device.hpp>

namespace ridge::detail {

// How many parameters `kernel` has. Nothing where the text does not say it plainly: no such kernel, several with
// different numbers (one of them behind an #if), or macros among the parameters other than TILE_MAP, which stands for
// two.
std::optional<std::size_t> parameter_count(const KernelSource& source, const std::string& kernel);

}  // namespace ridge::detail
