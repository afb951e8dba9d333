// The library's version, which is part of wisdom's keys. In a file of its own, because a file with a compile definition
// uses no precompiled header and belongs to no unit.
#include <string>

namespace ridge::wisdom {

std::string this_version() { return RIDGE_VERSION; }

}  // namespace ridge::wisdom
