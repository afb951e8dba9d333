// Describes the criteria's decisions about a kernel, and estimates its iterations.
#include "place/emit/kernel_summary.hpp"

#include <cstdio>

namespace ridge::place::emit {

std::string criteria_text(const Nest& nest, const Kernel& kernel) {
  std::string chain, shape, room, memory = kernel.memory.empty() ? "" : "// arrays that are only read\n";
  for (const std::string& line : kernel.memory) memory += "//    " + line + "\n";
  long all = 1;
  for (const int l : kernel.chain) chain += (chain.empty() ? "" : ", ") + nest.loops[l].id;
  for (const std::string& side : kernel.items) {
    shape += (shape.empty() ? "" : " x ") + side;
    all *= std::stol(side);
  }
  for (const KernelArray& a : kernel.arrays) {
    const Variable& v = nest.variables[a.variable];
    const std::string size = "return ";
    const auto at = a.sized ? kernel.functions.find(" " + a.size.name + "(") : std::string::npos;
    const auto from = at == std::string::npos ? at : kernel.functions.find(size, at);
    room +=
        "//    " + v.host + ": " + std::to_string(v.bytes) + " bytes times " +
        (from == std::string::npos
             ? "its number of elements"
             : kernel.functions.substr(from + size.size(), kernel.functions.find(";\n", from) - from - size.size())) +
        "\n";
  }
  return "// 1. loops on the grid: " + chain + "\n// 2. work-groups of " + shape + ", " + std::to_string(all) +
         " work-items\n// 3. tested before each launch: these arrays fit into 7/8 of the device's memory\n" + room +
         memory;
}

bool few_iterations(const Kernel& kernel) {
  double all = 1;
  for (const HostCall& call : kernel.iterations) {
    const auto at = kernel.functions.find(" " + call.name + "(");
    const auto from = kernel.functions.find("return ", at);
    const auto to = kernel.functions.find(";\n", from);
    if (at == std::string::npos || from == std::string::npos) return false;
    const std::string body = kernel.functions.substr(from + 7, to - from - 7);
    long low = 0, high = 0;
    if (std::sscanf(body.c_str(), "(1) ? (%ld) - (%ld) + 1", &high, &low) != 2) return false;
    all *= static_cast<double>(high - low + 1);
  }
  return all < 64;
}

}  // namespace ridge::place::emit
