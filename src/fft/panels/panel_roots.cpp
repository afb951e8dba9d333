// Multiplies panels of a long line by roots of unity and transposes them, by kernels.
#include "fft/panels/panel_roots.hpp"

#include <cstdint>
#include <numbers>

#include <fmt/format.h>

#include "device/kernel_text.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kTile = 32, kRowsAtOnce = 8;  // work-groups of kTile x kRowsAtOnce transpose square tiles

template <class T>
Buffer uploaded(const Device& device, const std::vector<std::complex<double>>& values) {
  const std::vector<std::complex<T>> numbers(values.begin(), values.end());
  Buffer buffer = device.buffer(numbers.size() * sizeof(numbers[0]), {.name = "fft roots of unity"});
  Queue queue = device.queue();
  queue.upload(std::span<const std::complex<T>>(numbers), buffer);
  queue.finish();
  return buffer;
}

}  // namespace

RootTables::RootTables(std::size_t n, int sign) {
  while (std::size_t{1} << (2 * shift_) < n) ++shift_;
  const double turn = sign * 2 * std::numbers::pi / static_cast<double>(n);
  for (std::size_t m = 0; m < std::size_t{1} << shift_; ++m)
    fine_.push_back(std::polar(1.0, turn * static_cast<double>(m)));
  for (std::size_t m = 0; m << shift_ < n; ++m)
    coarse_.push_back(std::polar(1.0, turn * static_cast<double>(m << shift_)));
}

KernelSource PanelRoots::text(const RootTables& tables, bool float64) {
  const std::string real = float64 ? "double" : "float";
  return {.name = "fft_panel_roots",
          .text = ridge::detail::kernel_text("fft/panel_roots"),
          .defines = {{"ROWS_AT_ONCE", fmt::format("{}", kRowsAtOnce)},
                      {"REAL", real},
                      {"PAIR", real + "2"},
                      {"SHIFT", fmt::format("{}", tables.shift())},
                      {"MASK", fmt::format("{}ul", tables.fine().size() - 1)}}};
}

PanelRoots::PanelRoots(const Device& device, const RootTables& tables, bool float64)
    : source_(text(tables, float64)),
      kernel_(device.compile(source_).kernel("multiply_and_transpose")),
      coarse_(float64 ? uploaded<double>(device, tables.coarse()) : uploaded<float>(device, tables.coarse())),
      fine_(float64 ? uploaded<double>(device, tables.fine()) : uploaded<float>(device, tables.fine())) {}

void PanelRoots::enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::size_t first, std::size_t rows,
                         std::size_t columns, std::size_t pitch) const {
  const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  const std::size_t tiles = ((rows + kTile - 1) / kTile) * ((columns + kTile - 1) / kTile);
  queue.launch(kernel_, {.groups = {tiles}, .items = {kTile, kRowsAtOnce}},
               {in, out, coarse_, fine_, std::uint64_t{first}, number(rows), number(columns), number(pitch)});
}

}  // namespace ridge::fft
