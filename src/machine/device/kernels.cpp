// Writes the kernels of the device probes for each vector width and access.
#include "machine/device/kernels.hpp"

#include <fmt/format.h>

#include "device/kernel_template.hpp"
#include "device/kernel_text.hpp"

namespace ridge::machine {
namespace {

// Lines of a kernel, one per vector k.
template <class Line>
std::string lines(int count, const Line& line) {
  std::string text;
  for (int k = 0; k < count; ++k) text += line(k);
  return text;
}

std::string copy_kernel(int vectors, bool once) {
  const auto load = [&](int k) {
    return once ? fmt::format("    const float4 v{0} = LOAD_ONCE(from + start + {0}u * items);\n", k)
                : fmt::format("    const float4 v{0} = from[start + {0}u * items];\n", k);
  };
  const auto store = [&](int k) {
    return once ? fmt::format("    STORE_ONCE(to + start + {0}u * items, v{0});\n", k)
                : fmt::format("    to[start + {0}u * items] = v{0};\n", k);
  };
  return "\n" + ridge::detail::fill_kernel_text("machine/copy_tiles", {{"vectors", std::to_string(vectors)},
                                                                       {"once", once ? "_once" : ""},
                                                                       {"loads", lines(vectors, load)},
                                                                       {"stores", lines(vectors, store)}});
}

std::string write_kernel(int vectors, bool once) {
  const auto store = [&](int k) {
    return once ? fmt::format("    STORE_ONCE(to + start + {}u * items, v);\n", k)
                : fmt::format("    to[start + {}u * items] = v;\n", k);
  };
  return "\n" + ridge::detail::fill_kernel_text("machine/write_tiles", {{"vectors", std::to_string(vectors)},
                                                                        {"once", once ? "_once" : ""},
                                                                        {"stores", lines(vectors, store)}});
}

enum class Window { read, read_l2, write, copy };

std::string window_kernel(Window kind) {
  const bool sums = kind == Window::read || kind == Window::read_l2;
  const bool reads = kind != Window::write, writes = !sums;
  std::string accesses = lines(reads ? kWindowVectors : 0, [&](int k) {
    // Written data are in L2, so a copy reads from there too.
    return kind == Window::read ? fmt::format("    const uint4 v{0} = from[start + {0}u * items];\n", k)
                                : fmt::format("    const uint4 v{0} = LOAD_L2(from + start + {0}u * items);\n", k);
  });
  accesses += lines(kWindowVectors, [&](int k) {
    return sums ? fmt::format("    sum{0} += v{0}.x + v{0}.y + v{0}.z + v{0}.w;\n", k)
           : kind == Window::copy
               ? fmt::format("    to[start + {0}u * items] = v{0};\n", k)
               : fmt::format("    to[start + {0}u * items] = make_uint4(round, {0}u, base, at);\n", k);
  });
  std::string result;
  if (sums)
    result = "  out[GLOBAL_ID(0)] = sum0" +
             lines(kWindowVectors - 1, [](int k) { return fmt::format(" + sum{}", k + 1); }) + ";\n";
  return "\n" +
         ridge::detail::fill_kernel_text(
             "machine/access_window",
             {{"kind", kind == Window::read      ? "read"
                       : kind == Window::read_l2 ? "read_l2"
                       : kind == Window::write   ? "write"
                                                 : "copy"},
              {"arrays", std::string(reads ? "GLOBAL const uint4* RESTRICT from, " : "") +
                             (writes ? "GLOBAL uint4* RESTRICT to, " : "GLOBAL uint* RESTRICT out, ")},
              {"vectors", std::to_string(kWindowVectors)},
              {"sums", lines(sums ? kWindowVectors : 0, [](int k) { return fmt::format("  uint sum{} = 0u;\n", k); })},
              {"accesses", accesses},
              {"result", result}});
}

}  // namespace

KernelSource memory_kernels() {
  std::string text = "// Main memory: whole tiles in flight, 16 bytes per access.\n";
  for (const int vectors : kVectors)
    for (const bool once : {false, true}) text += copy_kernel(vectors, once) + write_kernel(vectors, once);
  return {.name = "memory_probe", .text = text, .defines = {}};
}

KernelSource cache_kernels() {
  std::string text = "// Caches, local memory and an empty kernel.\n";
  text += window_kernel(Window::read) + window_kernel(Window::read_l2) + window_kernel(Window::write) +
          window_kernel(Window::copy);
  text += ridge::detail::kernel_text("machine/local_memory");
  text += ridge::detail::kernel_text("machine/empty");
  return {.name = "cache_probe",
          .text = text,
          .defines = {{"LOCAL_VECTORS", fmt::format("{}u", kLocalVectors)},
                      {"LOCAL_VISITS", fmt::format("{}u", kLocalVisits)}}};
}

KernelSource fma_kernels(bool in_double) {
  const std::string type = in_double ? "double" : "float";
  const auto chains = [](const auto& line) { return lines(kFmaChains, line); };
  return {.name = "fma_" + type + "_probe",
          .text = ridge::detail::fill_kernel_text(
              "machine/fma_chains",
              {{"type", type},
               {"chains", chains([&](int k) { return fmt::format("  {0} a{1} = start + ({0}){1};\n", type, k); })},
               {"links", std::to_string(kFmaUnrolled)},
               {"products", chains([](int k) { return fmt::format("      a{0} = FMA(b, c, a{0});\n", k); })},
               {"stores", chains([](int k) {
                  return fmt::format("  out[(ulong)item * {0}u + {1}u] = a{1};\n", kFmaChains, k);
                })}}),
          .defines = {}};
}

std::vector<std::uint8_t> access_table() {
  std::vector<std::uint8_t> table(kAccessBytes);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return table;
}

KernelSource access_kernels(std::size_t items) {
  std::string text =
      "// One read and one write per work-item, from each memory space.\nCONSTANT_TABLE uchar constant_table[" +
      std::to_string(kAccessBytes) + "] = {";
  const auto table = access_table();
  for (std::size_t i = 0; i < table.size(); ++i) text += fmt::format("{}{},", i % 64 == 0 ? "\n" : "", table[i]);
  text += "};\n" + ridge::detail::kernel_text("machine/access");
  return {.name = "access_probe",
          .text = text,
          .defines = {{"ACCESS_ITEMS", std::to_string(items)}, {"ACCESS_BYTES", std::to_string(kAccessBytes)}}};
}

KernelSource spin_kernels() {
  return {.name = "spin_probe", .text = ridge::detail::kernel_text("machine/spin"), .defines = {}};
}

std::uint32_t spin_value(std::uint32_t item, std::uint32_t rounds) {
  std::uint32_t x = item;
  for (std::uint32_t round = 0; round < rounds; ++round) x = (x ^ (x >> 7)) * 1664525u + 1013904223u;
  return x;
}

std::vector<KernelSource> all_probe_kernels() {
  return {memory_kernels(), cache_kernels(), fma_kernels(false), fma_kernels(true), access_kernels(kAccessItems),
          spin_kernels()};
}

}  // namespace ridge::machine
