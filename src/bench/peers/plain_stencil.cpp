// Runs the baseline stencil on the host's threads or as a simple device kernel.
#include "bench/peers/plain_stencil.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "device/staging.hpp"

namespace ridge::cli {
namespace {

using Sides = std::array<std::size_t, 3>;  // z, y, x

Sides sides_of(const std::vector<std::size_t>& shape) {
  Sides sides{1, 1, 1};
  std::copy(shape.rbegin(), shape.rend(), sides.rbegin());
  return sides;
}

std::vector<stencil::Offset> offsets_of(const PlainStencil& stencil) {  // the centre first
  auto offsets = stencil.box ? stencil::moore(stencil.dimensions, stencil.order, false)
                             : stencil::von_neumann(stencil.dimensions, stencil.order, false);
  offsets.insert(offsets.begin(), stencil::Offset{});
  return offsets;
}

template <class T>
class PlainHost final : public PlainRun<T> {
 public:
  PlainHost(const PlainStencil& stencil, const stencil::Grid<T>& grid, std::size_t threads, PlainRow<T> row)
      : stencil_(stencil),
        offsets_(offsets_of(stencil)),
        sides_(sides_of(grid.shape())),
        threads_(threads == 0 ? base::hardware_threads() : threads),
        row_(row),
        grid_(grid),
        one_(grid.cells()),
        two_(grid.cells()) {
    restart();
  }
  void restart() final {
    base::parallel(threads_, [&](std::size_t thread, std::size_t count) {  // first touch by the thread that will use it
      const auto mine = base::share(grid_.cells(), thread, count);
      std::copy(grid_.all().begin() + static_cast<std::ptrdiff_t>(mine.begin),
                grid_.all().begin() + static_cast<std::ptrdiff_t>(mine.end), one_.data() + mine.begin);
      std::copy(one_.data() + mine.begin, one_.data() + mine.end, two_.data() + mine.begin);
    });
  }
  void run(std::size_t steps) override {
    for (std::size_t step = 0; step < steps; ++step) {
      base::parallel(threads_, [&](std::size_t thread, std::size_t count) {
        const auto mine = base::share(sides_[0] * sides_[1], thread, count);
        for (std::size_t row = mine.begin; row < mine.end; ++row) one_row(row);
      });
      std::swap(one_, two_);
    }
  }
  void read(std::size_t first, std::span<T> cells) override {
    std::copy_n(one_.data() + first, cells.size(), cells.begin());
  }

 private:
  void one_row(std::size_t row) {
    const auto order = static_cast<std::size_t>(stencil_.order);
    const auto inside = [&](std::size_t index, std::size_t side, bool there) {
      return !there || (index >= order && index + order < side);
    };
    if (!inside(row / sides_[1], sides_[0], stencil_.dimensions == 3) ||
        !inside(row % sides_[1], sides_[1], stencil_.dimensions > 1) || sides_[2] <= 2 * order)
      return;
    std::array<const T*, 27> in{};
    for (std::size_t k = 0; k < offsets_.size(); ++k) {
      const auto [dz, dy, dx] = offsets_[k];
      const std::ptrdiff_t shift =
          (dz * static_cast<std::ptrdiff_t>(sides_[1]) + dy) * static_cast<std::ptrdiff_t>(sides_[2]) + dx;
      in[k] = one_.data() + static_cast<std::ptrdiff_t>(row * sides_[2]) + shift;
    }
    row_(in.data(), static_cast<T>(stencil_.centre), static_cast<T>(stencil_.other), two_.data() + row * sides_[2],
         order, sides_[2] - order);
  }

  PlainStencil stencil_;
  std::vector<stencil::Offset> offsets_;
  Sides sides_;
  std::size_t threads_;
  PlainRow<T> row_;
  const stencil::Grid<T>& grid_;
  base::AlignedArray<T> one_, two_;
};

template <class T>
class PlainDevice final : public PlainDeviceRun<T> {
 public:
  PlainDevice(const Device& device, const PlainStencil& stencil, const std::vector<std::size_t>& shape,
              const PlainCells& cells)
      : stencil_(stencil),
        sides_(sides_of(shape)),
        cells_(cells),
        queue_(device.queue()),
        transfer_(device),
        one_(device.buffer(sides_[0] * sides_[1] * sides_[2] * sizeof(T), {.name = "plain stencil"})),
        two_(device.buffer(one_.size(), {.name = "plain stencil, second grid"})) {
    across_ = std::min<std::size_t>({32, device.limits().work_group, device.limits().work_group_sides[0]});
    down_ = std::min<std::size_t>({8, device.limits().work_group / across_, device.limits().work_group_sides[1]});
    kernel_ = device.compile(source()).kernel("plain_stencil");
    restart();
  }
  void restart() final {
    cells_(queue_, one_);
    queue_.copy(one_, two_, one_.size());
    queue_.finish();
  }
  void run(std::size_t steps) override {
    const auto groups = [](std::size_t count, std::size_t group) { return (count + group - 1) / group; };
    const Launch launch{.groups = {groups(sides_[2], across_), groups(sides_[1], down_), sides_[0]},
                        .items = {across_, down_, 1}};
    for (std::size_t step = 0; step < steps; ++step) {
      queue_.launch(kernel_, launch,
                    {one_, two_, static_cast<T>(stencil_.centre), static_cast<T>(stencil_.other),
                     static_cast<std::uint32_t>(sides_[0]), static_cast<std::uint32_t>(sides_[1]),
                     static_cast<std::uint32_t>(sides_[2])});
      std::swap(one_, two_);
    }
    queue_.finish();
  }
  void read(std::size_t first, std::span<T> cells) override {
    transfer_.download(queue_, one_, cells.data(), cells.size_bytes(), first * sizeof(T));
  }
  void view(const PlainCells& use) override {
    use(queue_, one_);
    queue_.finish();
  }

 private:
  KernelSource source() const {
    std::string sum, inside = "x >= ORDER && x + ORDER < width";
    if (stencil_.dimensions > 1) inside += " && y >= ORDER && y + ORDER < height";
    if (stencil_.dimensions > 2) inside += " && z >= ORDER && z + ORDER < planes";
    for (const auto& [dz, dy, dx] : offsets_of(stencil_)) {
      if (dz == 0 && dy == 0 && dx == 0) continue;
      sum += fmt::format("{}in[at + ({}) * plane + ({}) * (long)width + ({})]", sum.empty() ? "" : " + ", dz, dy, dx);
    }
    return {.name = "plain stencil",
            .text = fmt::format(R"(// One cell per work-item.
KERNEL WORK_GROUP(ACROSS, DOWN, 1) void plain_stencil(
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, REAL centre, REAL other, uint planes, uint height,
    uint width) {{
  const uint x = GLOBAL_ID(0), y = GLOBAL_ID(1), z = GLOBAL_ID(2);
  if ({}) {{
    const long plane = (long)width * height;
    const long at = z * plane + y * (long)width + x;
    out[at] = FMA(centre, in[at], other * ({}));
  }}
}}
)",
                                inside, sum),
            .defines = {{"REAL", sizeof(T) == sizeof(float) ? "float" : "double"},
                        {"ORDER", fmt::to_string(stencil_.order)},
                        {"ACROSS", fmt::to_string(across_)},
                        {"DOWN", fmt::to_string(down_)}}};
  }

  PlainStencil stencil_;
  Sides sides_;
  PlainCells cells_;
  Queue queue_;
  PinnedTransfer transfer_;
  Buffer one_, two_;
  Kernel kernel_;
  std::size_t across_ = 32, down_ = 8;
};

}  // namespace

template <class T>
std::unique_ptr<PlainRun<T>> plain_host(const PlainStencil& stencil, const stencil::Grid<T>& grid,
                                        std::size_t threads) {
  const PlainRow<T> row = plain_row<T>(offsets_of(stencil).size());
  if (row == nullptr) return nullptr;
  return std::make_unique<PlainHost<T>>(stencil, grid, threads, row);
}

template <class T>
std::unique_ptr<PlainDeviceRun<T>> plain_device(const Device& device, const PlainStencil& stencil,
                                                const std::vector<std::size_t>& shape, const PlainCells& cells) {
  return std::make_unique<PlainDevice<T>>(device, stencil, shape, cells);
}

template std::unique_ptr<PlainRun<float>> plain_host(const PlainStencil&, const stencil::Grid<float>&, std::size_t);
template std::unique_ptr<PlainRun<double>> plain_host(const PlainStencil&, const stencil::Grid<double>&, std::size_t);
template std::unique_ptr<PlainDeviceRun<float>> plain_device(const Device&, const PlainStencil&,
                                                             const std::vector<std::size_t>&, const PlainCells&);
template std::unique_ptr<PlainDeviceRun<double>> plain_device(const Device&, const PlainStencil&,
                                                              const std::vector<std::size_t>&, const PlainCells&);

}  // namespace ridge::cli
