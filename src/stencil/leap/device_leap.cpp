// Leap of a grid in device memory: from its newest level through the device's transforms to the other level.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <variant>

#include "fft/device/axis_plan.hpp"
#include "fft/device/real_to_real/real_axis.hpp"
#include "stencil/device/pass.hpp"
#include "stencil/leap/device_power.hpp"
#include "stencil/leap/leap.hpp"

namespace ridge::stencil {
namespace {

using namespace leap;
using fft::on_device::AxisProblem;
using fft::on_device::CompiledRoute;
using fft::on_device::RealAxis;
using fft::on_device::RealAxisProblem;

// Strides of an array's axes and fields, in elements.
struct Places {
  std::array<std::size_t, 3> axes{};
  std::size_t field = 0;
};

Places rows_apart(const std::array<std::size_t, 3>& shape, std::size_t pitch) {
  return {{shape[1] * pitch, pitch, 1}, shape[0] * shape[1] * pitch};
}
// Rows of a spectrum are aligned to 128 bytes, so that adjacent columns are whole memory sectors.
std::size_t spectrum_pitch(const Modes& modes) { return (modes.axes[2].modes + 15) / 16 * 16; }

enum class Array { from, cells, spectrum, to };

struct Stage {
  std::variant<std::unique_ptr<const RealAxis>, std::shared_ptr<const CompiledRoute>> transform;
  Array in, out;
};

// The transforms and kernels of a leap.
struct Stages {
  std::vector<Stage> there = {}, back = {};
  ridge::Kernel kernel = {};  // empty if a transform applies the powers
};

template <class T>
class DeviceLeap final : public Leap<T> {
 public:
  DeviceLeap(const Device& device, const Update<T>& update, const Layout& layout, Effort effort)
      : device_(device),
        update_(update),
        layout_(layout),
        modes_(modes_with_tables(update, layout)),
        forces_(modes_, layout_),
        options_{.effort = effort},
        largest_(largest_eigenvalue(modes_)) {
    if (leaves_columns_out()) largest_from_ = largest_from(modes_);
    const std::vector<double> tables = cosine_tables(modes_);
    tables_ = device.buffer(tables.size() * sizeof(double), {.name = "leap cosines"});
    Queue queue = device.queue();
    queue.upload(std::span<const double>(tables), tables_);
    queue.finish();
  }

  bool run(Grid<T>& grid, const Reach& reach) const override {
    return host_leap<T>(update_, layout_)->run(grid, reach);
  }

  bool run(Running<T>& running, std::size_t steps) const override {
    const auto times = static_cast<double>(steps);
    if (!(times * std::log(std::max(largest_, 1.0)) <= std::log(16.0))) return false;
    const std::vector<Faces> faces = faces_of(running);
    std::lock_guard lock(mutex_);
    return running.replace([&](const DeviceLevels& levels) {
      // A power below this is lost in the rounding of any significant mode.
      const std::array<double, 4> head = table_head(steps, sizeof(T) == 4 ? 1e-60 : 1e-300);
      const Stages& stages = stages_of(levels, kept_columns(head[2]));
      if (last_ && last_queue_ != levels.queue.native()) levels.queue.wait_for(last_);
      const std::vector<double> face_values = face_tables(faces);
      const bool upload = head != head_ || !faces.empty() || !faces_;
      if (upload) {
        if (!faces_ || faces_.size() < face_values.size() * sizeof(double)) {
          faces_ = device_.buffer(face_values.size() * sizeof(double), {.name = "leap faces"});
        }
        levels.queue.upload(std::span<const double>(face_values), faces_);
        levels.queue.upload(head.data(), tables_, sizeof head);
        levels.queue.finish();  // the uploaded data belong to this call
        head_ = head;
      }
      enqueue(levels, stages.there);
      if (stages.kernel) {
        levels.queue.launch(
            stages.kernel, power_launch(modes_),
            {modes_.complex ? spectrum_ : cells_, tables_, faces_, static_cast<std::int32_t>(faces.empty() ? 0 : 1)});
      }
      enqueue(levels, stages.back);
      last_ = levels.queue.record();
      last_queue_ = levels.queue.native();
    });
  }

  void prepare(Running<T>& running, std::size_t steps) const override {
    if (!run(running, steps)) return;
    running.replace([](const DeviceLevels&) {});  // back to the previous level
    running.wait();
  }

 private:
  // The two outermost layers of every fixed axis, from which the forces are computed.
  std::vector<Faces> faces_of(Running<T>& running) const {
    std::array<std::array<std::vector<T>, 2>, 3> slabs;
    bool any = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (modes_.axes[axis].basis != Basis::sine) continue;
      any = true;
      for (const std::size_t side : {0, 1}) {
        Box box{{0, 0, 0}, layout_.shape};
        box.begin[axis] = side == 0 ? 0 : layout_.shape[axis] - 1;
        box.extent[axis] = 1;
        slabs[axis][side].resize(box.cells() * layout_.fields);
        running.get(box, slabs[axis][side].data());
      }
    }
    if (!any) return {};
    return forces_.faces([&](std::size_t field, const std::array<std::size_t, 3>& cell) -> double {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (modes_.axes[axis].basis != Basis::sine) continue;
        if (cell[axis] != 0 && cell[axis] + 1 != layout_.shape[axis]) continue;
        std::size_t at = field;
        for (std::size_t other = 0; other < 3; ++other) {
          if (other != axis) at = at * layout_.shape[other] + cell[other];
        }
        return static_cast<double>(slabs[axis][cell[axis] == 0 ? 0 : 1][at]);
      }
      return 0;
    });
  }

  // Batch dimensions of an axis' transforms: the other axes, x first, then the fields.
  template <class Problem>
  void place(Problem& problem, std::size_t axis, const std::array<std::size_t, 3>& counts, const Places& in,
             const Places& out) const {
    problem.float64 = sizeof(T) == sizeof(double);
    problem.in.point = in.axes[axis];
    problem.out.point = out.axes[axis];
    problem.counts.clear();
    for (std::size_t other = 3; other-- > 0;) {
      if (other == axis || counts[other] == 1) continue;
      problem.counts.push_back(counts[other]);
      problem.in.line.push_back(in.axes[other]);
      problem.out.line.push_back(out.axes[other]);
    }
    if (modes_.fields > 1 || problem.counts.empty()) {
      problem.counts.push_back(modes_.fields);
      problem.in.line.push_back(in.field);
      problem.out.line.push_back(out.field);
    }
  }

  // The last forward axis, the powers and the first inverse axis in one kernel, for a single field without forces.
  std::shared_ptr<const CompiledRoute> filter(std::size_t axis, const std::array<std::size_t, 3>& cells,
                                              std::array<std::size_t, 3> counts, std::size_t pitch) const {
    // The padding of rows is transformed too, so that adjacent columns start at whole sectors in every row.
    counts[2] = pitch;
    AxisProblem problem;
    problem.length = cells[axis];
    problem.in_place = true;
    problem.scale = 1 / modes_.axes[axis].norm;
    const Places places = rows_apart(counts, pitch);
    place(problem, axis, counts, places, places);
    fft::on_device::SpectrumFilter filter{.function = factor_function(modes_, axis, counts[2]), .table = tables_};
    for (std::size_t other = 3; other-- > 0;) {
      if (other != axis && counts[other] > 1) filter.line.line.push_back(other == 2 ? 1 : counts[2]);
    }
    std::string refusal;
    return filtered_axis(device_, problem, filter, refusal);
  }
  bool filters() const {
    const auto fixed = [](const Axis& one) { return one.basis == Basis::sine; };
    return modes_.fields == 1 && std::none_of(modes_.axes.begin(), modes_.axes.end(), fixed);
  }

  bool leaves_columns_out() const {
    const auto count = [&](Basis basis) {
      return std::count_if(modes_.axes.begin(), modes_.axes.end(), [&](const Axis& one) { return one.basis == basis; });
    };
    const Axis& rows = modes_.axes[2];
    if (!filters()) return false;
    if (rows.basis == Basis::cosine) return count(Basis::fourier) == 0 && count(Basis::cosine) > 1;
    return rows.basis == Basis::fourier && rows.cells % 2 == 0 && count(Basis::fourier) > 1;
  }

  // Number of leading columns of modes to keep; 0: all. Columns that have decayed after these steps are not
  // transformed, and not stored if rows are periodic.
  std::size_t kept_columns(double nothing) const {
    constexpr std::size_t kLeast = 16;
    if (largest_from_.empty()) return 0;
    const auto dead = std::partition_point(largest_from_.begin(), largest_from_.end(),
                                           [&](double largest) { return largest >= nothing; });
    const auto living = static_cast<std::size_t>(dead - largest_from_.begin());
    const std::size_t kept = std::max(kLeast, std::bit_ceil(living));
    return 2 * kept <= largest_from_.size() ? kept : 0;
  }

  // Built on first use.
  const Stages& stages_of(const DeviceLevels& levels, std::size_t kept) const {
    const auto found = stages_.find(kept);
    if (found != stages_.end()) return *found->second;
    const auto made = std::make_shared<Stages>();
    if (!build(levels, kept, *made)) {
      stages_of(levels, 0);
      stages_[kept] = stages_[0];
    } else {
      stages_[kept] = made;
    }
    return *stages_[kept];
  }

  // Axes by kind of transform, and the extents of the arrays between the transforms.
  struct Axes {
    std::vector<std::size_t> real, waves;  // cosine and sine transforms; Fourier transforms
    std::array<std::size_t, 3> cells, counts;
    std::size_t pitch;  // of a row of the spectrum
  };
  Axes sorted_axes(std::size_t kept) const {
    Axes axes{{}, {}, {}, {}, kept > 0 ? kept : spectrum_pitch(modes_)};
    for (std::size_t axis = 3; axis-- > 0;) {
      axes.cells[axis] = modes_.axes[axis].cells;
      axes.counts[axis] = axis == 2 && kept > 0 ? kept : modes_.axes[axis].modes;
      const Basis basis = modes_.axes[axis].basis;
      if (basis == Basis::fourier) axes.waves.push_back(axis);
      if (basis == Basis::cosine || basis == Basis::sine) axes.real.push_back(axis);
    }
    return axes;
  }

  // Transforms use the grid's layout, which is that of the stepping variant. Returns false if only `kept` columns are
  // requested and the transforms do not support that.
  bool build(const DeviceLevels& levels, std::size_t kept, Stages& made) const {
    const Places grid{{levels.pitch * layout_.shape[1], levels.pitch, 1}, levels.field};
    const Axes axes = sorted_axes(kept);
    const std::vector<std::size_t>&real_axes = axes.real, &waves = axes.waves;
    const std::array<std::size_t, 3>&cells = axes.cells, &counts = axes.counts;
    const std::size_t pitch = axes.pitch;
    const auto places = [&](Array array) {
      return array == Array::cells      ? rows_apart(cells, cells[2])
             : array == Array::spectrum ? rows_apart(counts, pitch)
                                        : grid;
    };
    std::vector<planner::Decision> decisions;
    Array now = Array::from;
    const auto real = [&](std::size_t axis, bool back, Array in, Array out) {
      RealAxisProblem problem;
      const bool sine = modes_.axes[axis].basis == Basis::sine;
      problem.kind = sine ? fft::RealKind::dst1 : back ? fft::RealKind::dct3 : fft::RealKind::dct2;
      problem.length = cells[axis];
      problem.in_place = in == out;
      problem.any_offset = origin_of(levels) % 4 != 0 && (in == Array::from || out == Array::to);
      std::array<std::size_t, 3> lines = cells;
      if (kept > 0 && axis != 2) lines[2] = kept;
      place(problem, axis, lines, places(in), places(out));
      if (back) problem.scale = 1 / modes_.axes[axis].norm;
      (back ? made.back : made.there)
          .push_back({std::make_unique<const RealAxis>(device_, problem, options_, decisions), in, out});
    };
    const auto along = [&](std::size_t axis, bool back, Array in, Array out) {
      AxisProblem problem;
      problem.kind = in == out ? fft::Kind::complex : fft::Kind::real;
      problem.direction = back ? fft::Direction::inverse : fft::Direction::forward;
      problem.length = cells[axis];
      problem.in_place = in == out;
      if (axis == 2) problem.kept = kept;
      place(problem, axis, counts, places(in), places(out));
      if (back) problem.scale = 1 / modes_.axes[axis].norm;
      return problem;
    };
    const auto fourier = [&](std::size_t axis, bool back, Array in, Array out) {
      (back ? made.back : made.there)
          .push_back({planned_route(device_, along(axis, back, in, out), options_, decisions), in, out});
    };
    const auto filtered = waves.size() > 1 && filters() ? filter(waves.back(), cells, counts, pitch) : nullptr;
    const bool fused = filtered != nullptr;
    if (kept > 0 && !waves.empty() &&
        (!fused || !has_route(along(2, false, Array::from, Array::spectrum)) ||
         !has_route(along(2, true, Array::spectrum, Array::to))))
      return false;
    for (const std::size_t axis : real_axes) {
      real(axis, false, now, Array::cells);
      now = Array::cells;
    }
    for (std::size_t i = 0; i < waves.size() - (fused ? 1 : 0); ++i) {
      fourier(waves[i], false, now, Array::spectrum);
      now = Array::spectrum;
    }
    if (fused) {
      made.there.push_back({filtered, Array::spectrum, Array::spectrum});
    } else {
      const KernelSource text = power_text(modes_, type_name<T>(), waves.empty() ? cells[2] : pitch, kept);
      made.kernel = device_.compile(text).kernel("leap_power");
    }
    for (std::size_t i = waves.size() - (fused ? 1 : 0); i-- > 0;) {
      const Array out = i > 0 ? Array::spectrum : real_axes.empty() ? Array::to : Array::cells;
      fourier(waves[i], true, now, out);
      now = out;
    }
    for (std::size_t i = real_axes.size(); i-- > 0;) {
      const Array out = i > 0 ? Array::cells : Array::to;
      real(real_axes[i], true, now, out);
      now = out;
    }
    allocate(levels, made, real_axes.empty() ? 0 : places(Array::cells).field * modes_.fields * sizeof(T),
             waves.empty() ? 0 : places(Array::spectrum).field * modes_.fields * 2 * sizeof(T));
    return true;
  }

  // Enlarges the arrays between the transforms to these bytes, and the transforms' scratch memory.
  void allocate(const DeviceLevels& levels, const Stages& made, std::size_t cells, std::size_t spectrum) const {
    const auto grow = [&](Buffer& buffer, std::size_t bytes, const char* name) {
      if (bytes == 0 || (buffer && buffer.size() >= bytes)) return;
      levels.queue.finish();  // before the smaller buffer is released
      buffer = device_.buffer(bytes, {.name = name});
      levels.queue.fill(buffer, std::byte{0});  // padding, which no kernel writes
    };
    grow(cells_, cells, "leap cells");
    grow(spectrum_, spectrum, "leap spectrum");
    std::size_t before = 0, after = 0;
    for (const auto* stages : {&made.there, &made.back}) {
      for (const Stage& stage : *stages) {
        if (const auto* axis = std::get_if<0>(&stage.transform)) {
          before = std::max(before, (*axis)->bytes_before());
          after = std::max(after, (*axis)->bytes_after());
        }
      }
    }
    grow(before_, before, "leap, before");
    grow(after_, after, "leap, after");
  }

  bool has_route(AxisProblem problem) const {
    normalize(problem);
    const auto routes = fft::on_device::list_routes(device_, problem);
    return std::any_of(routes.begin(), routes.end(), [](const auto& route) { return route.candidate.refusal.empty(); });
  }

  std::size_t origin_of(const DeviceLevels& levels) const {
    return levels.origin + (layout_.begin[0] * layout_.shape[1] + layout_.begin[1]) * levels.pitch + layout_.begin[2];
  }

  void enqueue(const DeviceLevels& levels, const std::vector<Stage>& stages) const {
    const std::size_t origin = origin_of(levels);
    const auto buffer = [&](Array array) -> const Buffer& {
      return array == Array::from    ? levels.from
             : array == Array::to    ? levels.to
             : array == Array::cells ? cells_
                                     : spectrum_;
    };
    for (const Stage& stage : stages) {
      const std::uint64_t in_offset = stage.in == Array::from ? origin : 0;
      const std::uint64_t out_offset = stage.out == Array::to ? origin : 0;
      if (const auto* axis = std::get_if<0>(&stage.transform)) {
        (*axis)->enqueue(levels.queue, buffer(stage.in), in_offset, buffer(stage.out), out_offset, before_, after_);
      } else {
        std::get<1>(stage.transform)->enqueue(levels.queue, buffer(stage.in), buffer(stage.out), in_offset, out_offset);
      }
    }
  }

  Device device_;
  Update<T> update_;
  Layout layout_;
  Modes modes_;
  Forces forces_;
  planner::Options options_;
  double largest_;
  std::vector<double> largest_from_ = {};  // empty if all columns are kept
  Buffer tables_;
  // Serializes runs, because they share the arrays.
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::shared_ptr<const Stages>> stages_ = {};  // by the number of kept columns
  mutable std::array<double, 4> head_{};
  mutable Buffer cells_, spectrum_, before_, after_, faces_;
  mutable Event last_;
  mutable std::uintptr_t last_queue_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<const Leap<T>> device_leap(const Device& device, const Update<T>& update, const Layout& layout,
                                           Effort effort) {
  return std::make_unique<DeviceLeap<T>>(device, update, layout, effort);
}

template std::unique_ptr<const Leap<float>> device_leap(const Device&, const Update<float>&, const Layout&, Effort);
template std::unique_ptr<const Leap<double>> device_leap(const Device&, const Update<double>&, const Layout&, Effort);

}  // namespace ridge::stencil
