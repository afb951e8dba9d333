// Writes and launches the kernels that pad lines with zeros or copy a part of them out.
#include "fft/device/boxes/box_copy.hpp"

#include <fmt/format.h>

#include "codegen/text.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kCopyItems = 256;
constexpr const char* kCopyKernel = "fft_box";

std::string line_start_text(const BoxCopy& copy, const Address& at) {
  std::string sum = "0";
  std::uint64_t divided = 1;
  for (std::size_t dimension = 0; dimension < at.line.size(); ++dimension) {
    std::string value = fmt::format("line / {}ul", divided);
    if (dimension + 1 < at.line.size()) value = fmt::format("{} % {}ul", value, copy.counts[dimension]);
    if (at.line[dimension] != 0) sum += fmt::format(" + ({}) * {}ul", value, at.line[dimension]);
    divided *= copy.counts[dimension];
  }
  return sum;
}

std::size_t written(const BoxCopy& copy) { return copy.pads ? copy.length : copy.box.count; }

class CompiledCopy final : public CompiledStep {
 public:
  CompiledCopy(const Device& device, const BoxCopy& copy)
      : points_(written(copy)), kernel_(device.compile(box_copy_text(copy)).kernel(kCopyKernel)) {}
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const override {
    const std::uint64_t work = lines * points_;
    queue.launch(kernel_, {.groups = {(work + kCopyItems - 1) / kCopyItems}, .items = {kCopyItems}},
                 {in, out, in_offset, out_offset, lines});
  }
  std::string describe() const override { return "copy between a box and whole lines"; }

 private:
  std::uint64_t points_;
  Kernel kernel_;
};

class CopyStep final : public StepDesign {
 public:
  explicit CopyStep(const BoxCopy& copy) : copy_(copy) {}
  std::vector<KernelSource> kernels() const override { return {box_copy_text(copy_)}; }
  std::unique_ptr<const CompiledStep> compile(const Device& device, const Step& /*step*/) const override {
    return std::make_unique<CompiledCopy>(device, copy_);
  }
  double groups(double lines) const override { return lines * static_cast<double>(written(copy_)) / kCopyItems; }

 private:
  BoxCopy copy_;
};

}  // namespace

KernelSource box_copy_text(const BoxCopy& copy) {
  const std::string type = copy.type + (copy.reals ? "" : "2");
  const std::size_t first = copy.box.first, n = copy.length;
  codegen::Text text;
  text.open(
      "KERNEL WORK_GROUP({0}, 1, 1) void {1}(GLOBAL const {2}* RESTRICT in, GLOBAL {2}* RESTRICT out, ulong in_offset, "
      "ulong out_offset, ulong lines)",
      kCopyItems, kCopyKernel, type);
  text.line("const ulong number = (ulong)GROUP_ID(0) * {}ul + (ulong)LOCAL_ID(0);", kCopyItems);
  text.line("const ulong line = number / {0}ul, k = number % {0}ul;", written(copy));
  text.line("if (line >= lines) return;");
  text.line("GLOBAL const {}* const from = in + in_offset + {};", type, line_start_text(copy, copy.in));
  text.line("GLOBAL {}* const to = out + out_offset + {};", type, line_start_text(copy, copy.out));
  if (copy.pads) {
    text.line("const ulong q = k < {0}ul ? k + {1}ul : k - {0}ul;", first, n - first);
    text.line("{} value{};", type, copy.reals ? " = 0" : "; value.x = 0; value.y = 0");
    text.line("if (q < {}ul) value = from[q * {}ul];", copy.box.count, copy.in.point);
    text.line("to[k * {}ul] = value;", copy.out.point);
  } else {
    text.line("const ulong p = k + {0}ul < {1}ul ? k + {0}ul : k + {0}ul - {1}ul;", first, n);
    text.line("to[k * {}ul] = from[p * {}ul];", copy.out.point, copy.in.point);
  }
  text.close();
  return {.name = "fft box", .text = text.str()};
}

Route box_copy_route(const BoxCopy& copy) {
  Route route;
  route.candidate.variant = "box_copy";
  route.outer = copy.counts.back();
  std::uint64_t inner = 1;
  for (std::size_t i = 0; i + 1 < copy.counts.size(); ++i) inner *= copy.counts[i];
  route.steps.push_back({.design = std::make_shared<const CopyStep>(copy),
                         .lines = inner,
                         .from_stride = copy.in.line.back(),
                         .to_stride = copy.out.line.back()});
  return route;
}

PaddedAxis padded_axis(const AxisProblem& boxed, const BoxAxis& axis) {
  const bool forward = boxed.direction == Direction::forward, real = boxed.kind == Kind::real;
  const std::size_t half = axis.length / 2 + 1;
  const std::string plain = boxed.float64 ? "double" : "float";
  const auto type = [&](Storage storage, Samples samples) {
    if (storage != Storage::same) return std::string("ushort");
    return samples == Samples::int8 ? "char" : samples == Samples::int16 ? "short" : plain;
  };
  PaddedAxis result{.pad = BoxCopy{.type = type(boxed.load_storage, boxed.samples),
                                   .reals = real && forward,
                                   .counts = boxed.counts,
                                   .in = boxed.in,
                                   .pads = true,
                                   .length = real && !forward ? half : axis.length,
                                   .box = axis.read},
                    .crop = {.type = type(boxed.store_storage, Samples::same),
                             .reals = real && !forward,
                             .counts = boxed.counts,
                             .out = boxed.out,
                             .pads = false,
                             .length = real && forward ? half : axis.length,
                             .box = axis.written}};
  auto from = axis.from, to = axis.to;
  from[axis.axis] = result.pad.length;
  to[axis.axis] = result.crop.length;
  result.from = packed_side(from);
  result.to = packed_side(to);
  // The same order of the batch dimensions as in the problem: other axes from the last to the first, then the batch.
  const auto address = [&](const Side& side) {
    Address at{.point = side.strides[axis.axis], .line = {}};
    const std::size_t axes = boxed.counts.size();
    for (std::size_t other = axes; other-- > 0;) {
      if (other != axis.axis) at.line.push_back(side.strides[other]);
    }
    at.line.push_back(side.batch);
    return at;
  };
  result.pad.out = address(result.from);
  result.crop.in = address(result.to);
  return result;
}

FactorTable padded_factors(const FactorTable& factors, const std::array<std::size_t, kMostAxes>& shape,
                           std::size_t axis, const BoxCopy& copy) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = 0; i < kMostAxes; ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  const auto padded = [&](const auto& values) {
    auto result = values;
    if (values.empty()) return result;
    result.assign(outer * copy.length * inner, {});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t at = (i / inner % shape[axis] + copy.box.first) % copy.length;
      result[(i / inner / shape[axis] * copy.length + at) * inner + i % inner] = values[i];
    }
    return result;
  };
  return {.real = padded(factors.real.all()), .complex = padded(factors.complex.all())};
}

}  // namespace ridge::fft::on_device
