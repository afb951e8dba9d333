// Device limits, and the work-group shape for given loop lengths.
#include "place/criteria/sizes.hpp"

#include <algorithm>

namespace ridge::place::criteria {

const std::vector<Limits>& devices() {
  static const std::vector<Limits> all{
      {"NVIDIA", 32, {1024, 1024, 64}, 1024, {2147483647, 65535, 65535}, 2048, 32},
      {"AMD", 64, {1024, 1024, 1024}, 256, {2147483647, 65535, 65535}, 2048, 16},
      {"CPU", 8, {4096, 4096, 4096}, 4096, {2147483647, 65535, 65535}, 0, 1},
  };
  return all;
}

std::vector<int> group_shape(const std::vector<long>& iterations, bool full) {
  static const std::vector<int> usual[] = {{1, 1, 1}, {kItems, 1, 1}, {32, 8, 1}, {32, 4, 2}};
  const std::size_t axes = std::min<std::size_t>(iterations.size(), 3);
  std::vector<int> shape = usual[axes], most{kItems, kItems, 64};
  for (std::size_t a = 0; a < 3; ++a) {  // work-items without an iteration would be idle
    if (a >= axes) most[a] = 1;
    if (a < axes && iterations[a] > 0)
      while (most[a] / 2 >= iterations[a]) most[a] /= 2;
    shape[a] = std::min(shape[a], most[a]);
  }
  const auto all = [&] { return shape[0] * shape[1] * shape[2]; };
  for (std::size_t a = 0; a < axes; ++a)
    while (all() < kItems && shape[a] < most[a]) shape[a] *= 2;
  return full && all() != kItems ? usual[axes] : shape;
}

std::string exceeded_limit(const std::vector<int>& shape) {
  const int all = shape[0] * shape[1] * shape[2];
  for (const Limits& d : devices()) {
    const std::string of = std::string(d.name) + " devices allow ";
    for (std::size_t a = 0; a < 3; ++a)
      if (shape[a] > d.sides[a])
        return "its groups have " + std::to_string(shape[a]) + " work-items along axis " + std::to_string(a) + ": " +
               of + std::to_string(d.sides[a]);
    if (all > d.most) return "its groups have " + std::to_string(all) + " work-items: " + of + std::to_string(d.most);
  }
  return "";
}

}  // namespace ridge::place::criteria
