// Compiles and launches rearrange.cl for the shapes of an array.
#include "fft/device/rearrange.hpp"

#include <functional>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "device/kernel_text.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kRearrangeItems = 128;

std::uint64_t product(std::span<const std::uint64_t> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{1}, std::multiplies<>());
}

Launch over(std::uint64_t elements) {
  return {.groups = {(elements + kRearrangeItems - 1) / kRearrangeItems}, .items = {kRearrangeItems}};
}

}  // namespace

KernelSource rearrange_text(const ElementChange& change) {
  const std::string real = change.float64 ? "double" : "float", pair = real + "2";
  std::string converted = "(v)";
  if (change.complex_output && !change.complex_input) {
    converted = fmt::format("make_{}((v), 0)", pair);
  } else if (change.complex_output && change.conjugate) {
    converted = fmt::format("make_{}((v).x, -(v).y)", pair);
  }
  return {.name = "fft_rearrange",
          .text = ridge::detail::kernel_text("fft/rearrange"),
          .defines = {{"ITEMS_PER_GROUP", fmt::format("{}", kRearrangeItems)},
                      {"REAL", real},
                      {"FROM", change.complex_input ? pair : real},
                      {"TO", change.complex_output ? pair : real},
                      {"CONVERTED(v)", converted},
                      {"ZERO", change.complex_output ? fmt::format("make_{}(0, 0)", pair) : "0"}}};
}

Rearranger::Rearranger(const Device& device, const ElementChange& change) : float64_(change.float64) {
  const Program program = device.compile(rearrange_text(change));
  rearrange_ = program.kernel("rearrange");
  scale_ends_ = program.kernel("scale_ends");
}

void Rearranger::rearrange(Queue& queue, const Rearrangement& wanted, const Buffer& in, const Buffer& out) const {
  const std::uint64_t elements = product(wanted.shape);
  if (elements == 0) return;
  std::vector<std::uint64_t> numbers;  // fastest axis first
  for (const auto* const each : {&wanted.shape, &wanted.lengths, &wanted.strides}) {
    numbers.insert(numbers.end(), each->rbegin(), each->rend());
  }
  if (numbers.empty()) numbers = {1, 1, 0};  // a single element
  const Buffer shape = queue.device().buffer(numbers.size() * sizeof(numbers[0]), {.name = "rearrange"});
  queue.upload(std::span<const std::uint64_t>(numbers), shape);
  queue.launch(rearrange_, over(elements), {in, out, shape, static_cast<std::int32_t>(numbers.size() / 3), elements});
  queue.finish();
}

void Rearranger::scale_ends(Queue& queue, const std::vector<std::uint64_t>& shape, std::size_t axis, double first,
                            double last, const Buffer& data) const {
  if (product(shape) == 0) return;
  const std::uint64_t n = shape.at(axis), inner = product(std::span(shape).subspan(axis + 1));
  const std::uint64_t lines = product(shape) / n;
  if (float64_) {
    queue.launch(scale_ends_, over(lines), {data, first, last, n, inner, lines});
  } else {
    queue.launch(scale_ends_, over(lines),
                 {data, static_cast<float>(first), static_cast<float>(last), n, inner, lines});
  }
}

}  // namespace ridge::fft::on_device
