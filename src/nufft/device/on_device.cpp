// Variants on OpenCL and CUDA devices: "matrix", "window" and "atomic" spreading, interpolation by products of
// matrices or by several work-items per point, the transform of the fine grid by a device plan of fft.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "device/staging.hpp"
#include "nufft/device/device_grid.hpp"
#include "nufft/farthest.hpp"
#include "nufft/host/real_modes.hpp"
#include "nufft/host/tiles.hpp"

namespace ridge::nufft {
namespace {

constexpr const char* kNames[] = {"matrix", "window", "atomic"};  // in the order of Spreading

DeviceDesign design_on_device(const Device& device, const Layout& layout, double upsampling, Spreading spreading) {
  const TilesDesign tiles = design_tiles(layout, upsampling);
  return {.spreading = spreading,
          .axes = layout.axes,
          .width = tiles.width,
          .upsampling = upsampling,
          .float64 = layout.float64,
          .real = layout.real,
          .turns = layout.turns,
          .cells = tiles.cells,
          .parts = layout.axes > 1 && layout.points >= DeviceDesign::kFewestByParts &&
                   device.limits().local_memory >= DeviceDesign::kPartsLocalBytes &&
                   device.limits().work_group >= DeviceDesign::kPartItems,
          .products = products_for(layout.epsilon, tiles.width, upsampling, layout.axes)};
}

template <class T>
class OnDevice final : public Variant<T> {
 public:
  using Complex = std::complex<T>;

  OnDevice(const Device& device, const Layout& layout, const DeviceDesign& design, const planner::Options& options)
      : device_(device),
        layout_(layout),
        design_(design),
        grid_(device, design, layout.fold),
        put_(grid_.program().kernel("put_modes")),
        take_(grid_.program().kernel("take_modes")),
        transform_(device, fft_problem(layout, design), options),
        staging_(device, "nufft"),
        box_(device.buffer(box_count(transform_.problem().wanted) * sizeof(Complex), {.name = "nufft spectrum"})) {
    upload_factors();
  }

  std::shared_ptr<const PointSet> sort(const Coordinates<T>& points) const override {
    if (points.count >= std::size_t{1} << 32) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("nufft: set_points() needs fewer than 2^32 points, got {}: split them into several sets",
                              points.count));
    }
    if (design_.turns) refuse_point(points, layout_.axes, farthest<T>(layout_.fold));  // turns are always finite
    Queue queue = device_.queue();
    std::array<Buffer, 3> axis;
    std::vector<std::int32_t> turns;
    for (std::size_t i = 0; points.count > 0 && i < layout_.axes; ++i) {
      axis[i] = device_.buffer(points.count * sizeof(T), {.name = "nufft coordinates"});
      if (design_.turns) {
        turns = turns_of(points.axis[i], points.count);
        queue.upload(turns.data(), axis[i], axis[i].size());
        queue.finish();
      } else {
        queue.upload(points.axis[i], axis[i], axis[i].size());
      }
    }
    std::size_t bad = 0;
    auto sorted = grid_.sort(queue, axis, points.count, bad);
    if (!sorted) refuse_point(points, layout_.axes, farthest<T>(layout_.fold));
    return sorted;
  }

  std::shared_ptr<const PointSet> sort(Queue& queue, const std::array<Buffer, 3>& axis,
                                       std::size_t count) const override {
    std::size_t bad = 0;
    auto sorted = grid_.sort(queue, axis, count, bad);
    if (sorted) return sorted;
    for (std::size_t i = 0; i < layout_.axes; ++i) {
      T value{};
      queue.download(axis[i], &value, sizeof value, bad * sizeof value);
      queue.finish();
      if (!(std::abs(value) <= farthest<T>(layout_.fold))) {
        refuse_coordinate(i, bad, value, farthest<T>(layout_.fold));
      }
    }
    throw Error(ErrorKind::internal,
                "nufft: the device rejected a point whose coordinates are valid: please report this");
  }

  void enqueue(Queue& queue, const PointSet& points, Type type, int sign, const Buffer& in,
               const Buffer& out) const override {
    const auto& sorted = static_cast<const DevicePoints&>(points);
    for (std::size_t set = 0; set < layout_.batch; ++set) {
      const std::uint64_t modes = set * layout_.mode_count(), values = set * points.count();
      if (type == Type::to_modes) {
        grid_.spread(queue, sorted, in, values);
        transform_.enqueue_forward(queue, grid_.buffer(), box_);
        queue.launch(take_, DeviceGrid<T>::per_element(layout_.mode_count()),
                     mode_arguments(box_, out, modes, sign > 0));
      } else if (points.count() > 0) {
        set_grid(queue, sign, in, modes);
        grid_.interpolate(queue, sorted, out, values);
      }
    }
  }

  void to_modes(const PointSet& points, int sign, const Complex* strengths, Complex* modes) const override {
    const std::size_t values = layout_.batch * points.count() * layout_.parts() * sizeof(T);
    // Without points the staged input must still have a size; the kernels do not read it.
    const Complex none{};
    staging_.run({.in = values == 0 ? &none : strengths,
                  .in_bytes = std::max(values, sizeof none),
                  .out = modes,
                  .out_bytes = layout_.batch * layout_.mode_count() * sizeof(Complex)},
                 [&](Queue& queue, const Buffer& in, const Buffer& out) {
                   enqueue(queue, points, Type::to_modes, sign, in, out);
                 });
  }
  void to_points(const PointSet& points, int sign, const Complex* modes, Complex* values) const override {
    if (points.count() == 0) return;
    staging_.run({.in = modes,
                  .in_bytes = layout_.batch * layout_.mode_count() * sizeof(Complex),
                  .out = values,
                  .out_bytes = layout_.batch * points.count() * layout_.parts() * sizeof(T)},
                 [&](Queue& queue, const Buffer& in, const Buffer& out) {
                   enqueue(queue, points, Type::to_points, sign, in, out);
                 });
  }
  void enqueue_slopes(Queue& queue, const PointSet& points, int sign, const Buffer& modes,
                      const Buffer& values) const override {
    for (std::size_t set = 0; set < layout_.batch; ++set) {
      set_grid(queue, sign, modes, set * layout_.mode_count());
      grid_.slopes(queue, static_cast<const DevicePoints&>(points), values, set * points.count(),
                   layout_.batch * points.count());
    }
  }
  void slopes(const PointSet& points, int sign, const Complex* modes, Complex* values, Complex* slopes) const override {
    if (points.count() == 0) return;
    const std::size_t count = layout_.batch * points.count();
    std::vector<Complex> all((1 + layout_.axes) * count);
    staging_.run(
        {.in = modes,
         .in_bytes = layout_.batch * layout_.mode_count() * sizeof(Complex),
         .out = all.data(),
         .out_bytes = all.size() * sizeof(Complex)},
        [&](Queue& queue, const Buffer& in, const Buffer& out) { enqueue_slopes(queue, points, sign, in, out); });
    std::copy_n(all.data(), count, values);
    std::copy_n(all.data() + count, layout_.axes * count, slopes);
  }
  std::vector<planner::Decision> decisions() const override { return transform_.decisions(); }

 private:
  // From the grid to a box of the modes. forward() has the sign -1; for the other sign the box holds the modes by
  // descending frequencies. The adjoint has the other type and the other sign, so one plan serves both.
  static fft::Problem fft_problem(const Layout& layout, const DeviceDesign& design) {
    if (layout.real) return half_spectrum_problem(layout, design.cells);
    fft::Problem problem;
    for (std::size_t i = layout.first_axis(); i < 3; ++i) {
      const std::size_t n = layout.modes[i], negative = descending(layout) ? (n - 1) / 2 : n / 2;
      problem.shape.push_back(design.cells[i]);
      problem.wanted.first.push_back((design.cells[i] - negative) % design.cells[i]);
      problem.wanted.count.push_back(n);
    }
    return problem;
  }
  static bool descending(const Layout& layout) { return (layout.type == Type::to_modes) == (layout.sign > 0); }
  static std::size_t box_count(const fft::Box& box) {
    std::size_t count = 1;
    for (const std::size_t each : box.count) count *= each;
    return count;
  }

  void upload_factors() {
    const Kernel kernel(design_.width, design_.upsampling);
    std::vector<double> factors;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::vector<double> axis =
          i < layout_.first_axis() ? std::vector<double>{1.0} : kernel.mode_factors(layout_.modes[i], design_.cells[i]);
      factors.insert(factors.end(), axis.begin(), axis.end());
    }
    factors_ = upload_numbers<T>(device_, factors, "nufft mode factors");
  }

  // `conjugate`: the modes of real values have the other sign.
  std::vector<Argument> mode_arguments(const Buffer& from, const Buffer& to, std::uint64_t offset,
                                       bool conjugate) const {
    const auto modes = [&](std::size_t i) { return static_cast<std::int32_t>(layout_.modes[i]); };
    const std::int32_t fft_order = layout_.order == Order::fft ? 1 : 0;
    const std::int32_t other_sign = (layout_.real ? conjugate : descending(layout_)) ? 1 : 0;
    return {from, to, factors_, offset, modes(0), modes(1), modes(2), fft_order, other_sign};
  }

  void set_grid(Queue& queue, int sign, const Buffer& modes, std::uint64_t offset) const {
    queue.launch(put_, DeviceGrid<T>::per_element(box_.size() / sizeof(Complex)),
                 mode_arguments(modes, box_, offset, sign < 0));
    transform_.enqueue_inverse(queue, box_, grid_.buffer());
  }

  Device device_;
  Layout layout_;
  DeviceDesign design_;
  DeviceGrid<T> grid_;
  ridge::Kernel put_, take_;
  fft::Plan<T> transform_;
  Staging staging_;
  Buffer box_, factors_;
};

std::string matrix_refusal(const Device& device, const Layout& layout, const DeviceDesign& design) {
  // Loops replace the products on CPUs, for tests; on a GPU they spill hundreds of registers.
  if (!device.limits().matrix_units && !device.info().runs_on_host_cores) {
    return fmt::format("needs matrix units (matrix_units is 0 for {})", device.id());
  }
  const std::size_t widest = layout.float64 ? 12 : 8;
  if (design.width <= widest) return {};
  return fmt::format("needs kernels of at most {} cells, got {}", widest, design.width);
}

std::string device_refusal(const Device& device, const Layout& layout, const DeviceDesign& design) {
  const Limits& limits = device.limits();
  if (layout.upsampling != 0 && layout.upsampling != design.upsampling) {
    return fmt::format("has upsampling {}, the problem asks for {}", design.upsampling, layout.upsampling);
  }
  if (design.width == 0) {
    return fmt::format("epsilon {:.1e} cannot be reached with kernels of up to {} cells at upsampling {}",
                       layout.epsilon, kWidest, design.upsampling);
  }
  if (layout.float64 && !limits.float64) return fmt::format("needs double precision, {} has none", device.id());
  if (layout.mode_count() >= std::size_t{1} << 31 || design.grid_cells() >= std::size_t{1} << 31 ||
      (design.width <= design.columns() && design.tiles() * design.keys_per_tile() >= std::size_t{1} << 31)) {
    return fmt::format("needs fewer than 2^31 cells and modes, got {} cells and {} modes", design.grid_cells(),
                       layout.mode_count());
  }
  const std::string memory = memory_refusal(device, design.cells, layout.complex_bytes());
  if (!memory.empty()) return memory;
  if (limits.work_group < DeviceGrid<float>::kPerGroup) {
    return fmt::format("needs work-groups of {} work-items, {} has {}", DeviceGrid<float>::kPerGroup, device.id(),
                       limits.work_group);
  }
  if (design.spreading == Spreading::atomic) return {};
  if (layout.axes == 1) return "needs two or three axes, got 1";
  if (design.spreading == Spreading::matrix) return matrix_refusal(device, layout, design);
  constexpr std::size_t kWidestWindow = 13;
  if (layout.axes == 3 && design.width > kWidestWindow) {
    return fmt::format("in three dimensions needs kernels of at most {} cells, got {}", kWidestWindow, design.width);
  }
  if (design.local_bytes() > limits.local_memory) {
    return fmt::format("needs {} bytes of local memory, {} has {}", design.local_bytes(), device.id(),
                       limits.local_memory);
  }
  return {};
}

// Matrix products of doubles are PTX instructions of Hopper: for CUDA kernels only.
bool has_matrix_units(const Device& device, bool float64) {
  constexpr int kHopper = 90;
  return device.limits().matrix_units &&
         (!float64 || (device.id().starts_with("cuda") && device.limits().architecture >= kHopper));
}

constexpr double kSpreadingShare = 0.1;  // of the arithmetic peak, which the operations below count for

// Operations per point that take as long as the kernels do on an H200 (docs/measurements), at kSpreadingShare of the
// peak.
double point_flops(const Device& device, const Layout& layout, const DeviceDesign& design) {
  const auto width = static_cast<double>(design.width), parts = static_cast<double>(layout.parts());
  const double box = std::pow(width, static_cast<double>(layout.axes));
  if (design.spreading == Spreading::atomic && layout.type == Type::to_modes) return parts * 12 * box;
  if (design.spreading != Spreading::matrix) return parts * (layout.axes == 3 ? 225 + 2.6 * box : 100 + 2 * box);
  // Tiles with few points cost as much as full ones; without matrix instructions the products are loops.
  const auto points = static_cast<double>(layout.points), cells = static_cast<double>(design.grid_cells());
  if (!has_matrix_units(device, layout.float64)) return parts * 200 * box;
  const bool rounded = design.products == 1 && !layout.float64;
  const double full = layout.axes == 2 ? (rounded ? 110 : 150) : (rounded ? 200 + 16 * width : 370 + 34 * width);
  return parts * full / std::min(1.0, points / cells * 4);
}

planner::Cost device_cost(const Device& device, const Layout& layout, const DeviceDesign& design) {
  constexpr double kPerCell = 100;  // operations in the time that the transform moves a cell of the fine grid
  const auto points = static_cast<double>(layout.points), cells = static_cast<double>(design.grid_cells());
  const auto sets = static_cast<double>(layout.batch);
  return {.flops = sets * (points * point_flops(device, layout, design) + kPerCell * cells),
          .bytes = sets * cells * static_cast<double>(layout.complex_bytes()) * 8,
          .launches = 6 * sets,
          .efficiency = kSpreadingShare,
          .memory_efficiency = 1,
          .float64 = layout.float64,
          .threads = 0};
}

}  // namespace

DeviceDesign fastest_spreading(const Device& device, const Layout& layout, DeviceDesign design) {
  DeviceDesign best = design;
  double least = 0;
  std::string refusal;
  for (const Spreading spreading : {Spreading::matrix, Spreading::window, Spreading::atomic}) {
    design.spreading = spreading;
    refusal = device_refusal(device, layout, design);
    const double flops = device_cost(device, layout, design).flops;
    if (!refusal.empty() || (least != 0 && flops >= least)) continue;
    least = flops;
    best = design;
  }
  if (least == 0) throw Error(ErrorKind::unavailable, "nufft: spreading on a device " + refusal);
  return best;
}

template <class T>
void list_on_device(const Device& device, const Layout& layout, const planner::Options& options,
                    std::vector<Entry<T>>& entries) {
  planner::Options inner = options;
  inner.variant.clear();
  inner.progress = {};
  for (const Spreading spreading : {Spreading::matrix, Spreading::window, Spreading::atomic}) {
    for (const double upsampling : kUpsamplings) {
      const DeviceDesign design = design_on_device(device, layout, upsampling, spreading);
      entries.push_back(
          {.candidate = planner::Candidate{.variant = kNames[static_cast<std::size_t>(spreading)],
                                           .parameters = {{"upsampling", fmt::format("{}", upsampling)},
                                                          {"width", std::to_string(design.width)}},
                                           .refusal = device_refusal(device, layout, design),
                                           .cost = device_cost(device, layout, design)},
           .kernels = [design] { return std::vector{nonuniform_source(design)}; },
           .build = [device, layout, design,
                     inner] { return std::make_shared<const OnDevice<T>>(device, layout, design, inner); }});
    }
  }
}

template void list_on_device<float>(const Device&, const Layout&, const planner::Options&, std::vector<Entry<float>>&);
template void list_on_device<double>(const Device&, const Layout&, const planner::Options&,
                                     std::vector<Entry<double>>&);

}  // namespace ridge::nufft
