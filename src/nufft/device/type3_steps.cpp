// Type 3 on a device: spreading, then the type 2 of the fastest variant. Coordinates of floats are 32-bit integers: the
// rounding of float angles would exceed epsilon on long axes.
#include <algorithm>

#include <fmt/format.h>

#include "device/staging.hpp"
#include "nufft/device/device_grid.hpp"
#include "nufft/type3.hpp"

namespace ridge::nufft {
namespace {

// The layout of the type 2 transform; coordinates in float precision are 32-bit integers.
template <class T>
Layout device_layout(const Type3Setup<T>& setup) {
  Layout layout = type2_layout(setup);
  layout.threads = 1;
  layout.turns = sizeof(T) == 4;
  return layout;
}

template <class T>
DeviceDesign spreading_design(const Device& device, const Type3Setup<T>& setup) {
  Layout layout = device_layout(setup);
  layout.type = Type::to_modes;
  layout.points = std::max<std::size_t>(1, setup.before.size());
  return fastest_spreading(device, layout,
                           {.axes = setup.axes,
                            .width = setup.width,
                            .upsampling = setup.upsampling,
                            .float64 = layout.float64,
                            .turns = layout.turns,
                            .cells = setup.cells,
                            .products = products_for(setup.epsilon, setup.width, setup.upsampling, setup.axes)});
}

template <class T>
class DeviceSteps final : public Type3Steps<T> {
 public:
  using Complex = std::complex<T>;

  DeviceSteps(const Device& device, const Type3Setup<T>& setup)
      : batch_(setup.batch),
        sign_(setup.sign),
        staging_(device, "nufft type 3"),
        grid_(device, spreading_design(device, setup), true),
        multiply_(grid_.program().kernel("multiply_values")),
        point_count_(setup.before.size()),
        frequency_count_(setup.after.size()) {
    const Layout layout = device_layout(setup);
    const planner::Options quick{.effort = Effort::quick};
    auto chosen = choose_variant<T>(device, layout, list_variants<T>(device, layout, quick), quick);
    type2_ = std::move(chosen.winner);
    decisions_.push_back(std::move(chosen.decision));
    Queue queue = device.queue();
    std::size_t bad = 0;
    points_ = grid_.sort(queue, upload_angles(device, queue, setup.points), point_count_, bad);
    frequencies_ = type2_->sort(queue, upload_angles(device, queue, setup.frequencies), frequency_count_);
    before_ = upload_factors(device, queue, setup.before, "nufft factors of strengths");
    after_ = upload_factors(device, queue, setup.after, "nufft factors of values");
    at_points_ = device.buffer(std::max<std::size_t>(1, point_count_) * sizeof(Complex), {.name = "nufft strengths"});
    at_frequencies_ =
        device.buffer(std::max<std::size_t>(1, frequency_count_) * sizeof(Complex), {.name = "nufft values"});
  }

  void run(bool adjoint, const Complex* in, Complex* out) const override {
    const std::size_t from = adjoint ? frequency_count_ : point_count_, to = adjoint ? point_count_ : frequency_count_;
    if (to == 0) return;
    if (from == 0) {
      std::fill_n(out, batch_ * to, Complex{});
      return;
    }
    staging_.run(
        {.in = in, .in_bytes = batch_ * from * sizeof(Complex), .out = out, .out_bytes = batch_ * to * sizeof(Complex)},
        [&](Queue& queue, const Buffer& staged_in, const Buffer& staged_out) {
          enqueue(queue, adjoint, staged_in, staged_out);
        });
  }
  void enqueue(Queue& queue, bool adjoint, const Buffer& in, const Buffer& out) const override {
    if ((adjoint ? point_count_ : frequency_count_) == 0) return;
    for (std::size_t set = 0; set < batch_; ++set) {
      const std::uint64_t at_point = set * point_count_, at_frequency = set * frequency_count_;
      if (adjoint) {
        multiply(queue, in, at_frequency, after_, at_frequencies_, 0, frequency_count_, true);
        type2_->enqueue(queue, *frequencies_, Type::to_modes, -sign_, at_frequencies_, grid_.buffer());
        grid_.interpolate(queue, *points_, at_points_, 0);
        multiply(queue, at_points_, 0, before_, out, at_point, point_count_, true);
      } else {
        multiply(queue, in, at_point, before_, at_points_, 0, point_count_, false);
        grid_.spread(queue, *points_, at_points_, 0);
        type2_->enqueue(queue, *frequencies_, Type::to_points, sign_, grid_.buffer(), at_frequencies_);
        multiply(queue, at_frequencies_, 0, after_, out, at_frequency, frequency_count_, false);
      }
    }
  }
  std::vector<planner::Decision> decisions() const override { return decisions_; }

 private:
  static std::array<Buffer, 3> upload_angles(const Device& device, Queue& queue,
                                             const std::vector<std::vector<double>>& angles) {
    std::array<Buffer, 3> axis;
    for (std::size_t i = 0; i < angles.size() && !angles[i].empty(); ++i) {
      const std::size_t count = angles[i].size();
      axis[i] = device.buffer(count * sizeof(T), {.name = "nufft coordinates"});
      if constexpr (sizeof(T) == 4) {
        const std::vector<std::int32_t> turns = turns_of(angles[i].data(), count);
        queue.upload(turns.data(), axis[i], axis[i].size());
        queue.finish();
      } else {
        queue.upload(angles[i].data(), axis[i], axis[i].size());
        queue.finish();
      }
    }
    return axis;
  }
  static Buffer upload_factors(const Device& device, Queue& queue, const std::vector<Complex>& factors,
                               const char* name) {
    Buffer buffer = device.buffer(std::max<std::size_t>(1, factors.size()) * sizeof(Complex), {.name = name});
    if (!factors.empty()) queue.upload(factors.data(), buffer, factors.size() * sizeof(Complex));
    queue.finish();
    return buffer;
  }
  void multiply(Queue& queue, const Buffer& in, std::uint64_t from, const Buffer& factors, const Buffer& out,
                std::uint64_t to, std::size_t count, bool conjugate) const {
    if (count == 0) return;
    queue.launch(multiply_, DeviceGrid<T>::per_element(count),
                 {in, factors, out, from, to, static_cast<std::uint32_t>(count), std::int32_t{conjugate}});
  }

  std::size_t batch_;
  int sign_;
  Staging staging_;
  DeviceGrid<T> grid_;  // its cells are the modes of type2_
  ridge::Kernel multiply_;
  std::size_t point_count_, frequency_count_;
  std::shared_ptr<const Variant<T>> type2_;
  std::vector<planner::Decision> decisions_;
  std::shared_ptr<const DevicePoints> points_;
  std::shared_ptr<const PointSet> frequencies_;
  Buffer before_, after_, at_points_, at_frequencies_;
};

}  // namespace

template <class T>
std::unique_ptr<const Type3Steps<T>> type3_on_device(const Device& device, Type3Setup<T>& setup) {
  constexpr std::size_t kMost = std::size_t{1} << 32;
  if (setup.before.size() >= kMost || setup.after.size() >= kMost) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("nufft type 3: set_points() needs fewer than 2^32 points and frequencies, got {} and {}",
                            setup.before.size(), setup.after.size()));
  }
  return std::make_unique<const DeviceSteps<T>>(device, setup);
}

template std::unique_ptr<const Type3Steps<float>> type3_on_device(const Device&, Type3Setup<float>&);
template std::unique_ptr<const Type3Steps<double>> type3_on_device(const Device&, Type3Setup<double>&);

}  // namespace ridge::nufft
