// A file of its own, because a file with definitions of its own uses no precompiled header and belongs to no unit.
#include <string>

namespace ridge::wisdom {

std::string this_version() { return RIDGE_VERSION; }

}  // namespace ridge::wisdom
