// Plans, compiles and runs transforms that stay in one compute unit.
#include "papers/fft/device/unit.hpp"

#include <algorithm>
#include <bit>
#include <complex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "base/text.hpp"
#include "fft/host/power2/tables.hpp"

namespace ridge::fft::papers {
namespace {

constexpr std::size_t kMostRegisters = 255;  // per work-item, if the device reports registers
constexpr std::size_t kInRegisterItems = 64;
constexpr std::size_t kShortestInVectors = 64, kLongestInVectors = 1024;
constexpr std::size_t kLongestInRegister = 32;  // 4 * 32 floats and the twiddle of a butterfly; 64 would exceed 255

UnitDesign refused(UnitDesign design, std::string reason) {
  design.refusal = std::move(reason);
  return design;
}

// r of the capacity model for a group of `items` work-items; 0 if the device does not report registers.
std::size_t registers_for(const Limits& limits, std::size_t items) {
  if (limits.registers == 0) return 0;
  const std::size_t lanes = std::max<std::size_t>(limits.sub_group, 1);
  return registers_per_item({.registers = limits.registers,
                             .lanes = lanes,
                             .threads = (items + lanes - 1) / lanes,
                             .most_registers = kMostRegisters});
}

}  // namespace

const char* to_string(UnitTwiddles twiddles) {
  return twiddles == UnitTwiddles::table ? "table" : twiddles == UnitTwiddles::constant ? "constant" : "quarter";
}

std::string UnitDesign::variant() const { return vectors ? "one_item" : in_register() ? "in_register" : "simt"; }

std::vector<std::size_t> unit_radices(std::size_t length, std::size_t p) {
  const int stages = std::countr_zero(length), most = std::countr_zero(p);
  const int passes = std::max(1, (stages + most - 1) / most);
  std::vector<std::size_t> radices;
  for (int i = 0; i < passes; ++i) {
    const int left = stages - stages / passes * passes;  // the first passes have one stage more
    radices.push_back(std::size_t{1} << (stages / passes + (i < left ? 1 : 0)));
  }
  return radices;
}

UnitDesign plan_vector_unit(std::size_t length, const Device& device) {
  UnitDesign design{.length = length, .points = length, .vectors = true};
  design.lines = std::min<std::size_t>(8, device.limits().work_group);
  if (!std::has_single_bit(length) || length < kShortestInVectors || length > kLongestInVectors) {
    return refused(design, fmt::format("needs a power of two from {} to {} points, got {}", kShortestInVectors,
                                       kLongestInVectors, length));
  }
  if (device.info().backend != Backend::opencl)
    return refused(design, "needs OpenCL: CUDA has no vectors of 16 floats");
  design.radices.assign(static_cast<std::size_t>(std::countr_zero(length)), 2);
  return design;
}

UnitDesign plan_unit(std::size_t length, std::size_t p, const Limits& limits) {
  UnitDesign design{.length = length, .points = p == 0 ? length : p};
  const std::size_t group = std::min(limits.work_group, limits.work_group_sides[0]);
  if (!std::has_single_bit(length)) return refused(design, fmt::format("needs a power of two, got {}", length));
  if (p == 0) {
    design.radices = {length};
    design.lines = std::min(kInRegisterItems, std::bit_floor(group));
    if (length <= kLongestInRegister) return design;
    return refused(design, fmt::format("{} points need {} registers and those of a twiddle, a work-item has at most {}",
                                       length, 4 * length, kMostRegisters));
  }
  if (length <= p)
    return refused(design, fmt::format("needs more points than the {1} of one work-item, got {0}", length, p));
  design.radices = unit_radices(length, p);
  const std::size_t items = design.items();
  if (items > group) {
    return refused(design, fmt::format("needs a group of {} work-items, the device allows {}", items, group));
  }
  if (design.local_bytes() > limits.local_memory) {
    return refused(design, fmt::format("needs {} of local memory, the device has {}",
                                       base::human_bytes(static_cast<double>(design.local_bytes())),
                                       base::human_bytes(static_cast<double>(limits.local_memory))));
  }
  if (const std::size_t registers = registers_for(limits, items); registers > 0 && 4 * p >= registers) {
    return refused(design, fmt::format("{} points need more than {} registers, each of {} work-items has {}", p, 4 * p,
                                       items, registers));
  }
  return design;
}

CompiledUnit::CompiledUnit(const Device& device, const UnitDesign& design) : design_(design) {
  if (!design.refusal.empty()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{}/{}: {}", kUnitFamily, design.variant(), design.refusal));
  }
  kernel_ = device.compile(unit_text(design)).kernel(kUnitKernel);
  twiddles_ = unit_twiddles(device, design);
}

Buffer unit_twiddles(const Device& device, const UnitDesign& design) {
  const power2::Roots<float> exact(design.length);
  const std::size_t n = design.length;
  std::vector<float> table(2);
  if (design.vectors) {  // per stage and butterfly: N / 2 real parts, then N / 2 imaginary parts
    table.clear();
    for (std::size_t rest = n / 2; rest >= 1; rest /= 2) {
      for (std::size_t i = 0; i < n / 2; ++i) table.push_back(exact.at(i / rest * rest).real());
      for (std::size_t i = 0; i < n / 2; ++i) table.push_back(exact.at(i / rest * rest).imag());
    }
  } else if (design.twiddles == UnitTwiddles::quarter) {
    table.clear();
    for (std::size_t k = 0; k <= n / 4; ++k) table.push_back(exact.at(k).real());
  } else if (design.twiddles == UnitTwiddles::table) {
    table.clear();
    for (std::size_t k = 0; k < n; ++k) table.insert(table.end(), {exact.at(k).real(), exact.at(k).imag()});
  }
  const Buffer buffer = device.buffer(table.size() * sizeof(float), {.name = "fft twiddles"});
  Queue queue = device.queue();
  queue.upload(std::span<const float>(table), buffer);
  queue.finish();
  return buffer;
}

void CompiledUnit::enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                           std::uint64_t out_offset, std::uint64_t lines) const {
  const std::uint64_t all_at_once =
      design_.in_register() || design_.units == 0 ? lines : design_.units * design_.rounds;
  for (std::uint64_t first = 0; first < lines; first += all_at_once) {
    const std::uint64_t count = std::min(all_at_once, lines - first);
    std::uint64_t groups = count;
    if (design_.in_register()) groups = (count + design_.lines - 1) / design_.lines;
    if (design_.units > 0 && !design_.in_register()) groups = std::min<std::uint64_t>(design_.units, count);
    queue.launch(kernel_, {.groups = {groups}, .items = {design_.items()}, .local_bytes = design_.local_bytes()},
                 {in, out, twiddles_, in_offset + first * design_.length, out_offset + first * design_.length,
                  static_cast<std::uint32_t>(count)});
  }
}

std::string CompiledUnit::describe() const {
  std::string text = fmt::format("{} points by {}, {} work-items of {} points", design_.length,
                                 fmt::join(design_.radices, "*"), design_.length / design_.points, design_.points);
  if (design_.units > 0) text += fmt::format(", {} units of {} lines each", design_.units, design_.rounds);
  if (kernel_.registers() > 0) text += fmt::format(", {} registers", kernel_.registers());
  if (kernel_.private_bytes() > 0) text += fmt::format(", {} bytes spilled", kernel_.private_bytes());
  return text;
}

}  // namespace ridge::fft::papers
