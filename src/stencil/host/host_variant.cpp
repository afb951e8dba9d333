// Sessions of host variants and the row kernels they choose from.
#include "stencil/host/host_variant.hpp"

#include <algorithm>
#include <cstdint>

#include "stencil/host/kernels/linear_rows.hpp"
#include "stencil/host/kernels/vector_program.hpp"

namespace ridge::stencil {
namespace {

template <class T>
class HostRunning final : public Running<T> {
 public:
  HostRunning(const HostVariant<T>& variant, const Layout& layout, const Grid<T>& grid, const Grid<T>* coefficients)
      : variant_(variant), levels_(layout, grid, coefficients) {}
  void run(std::size_t steps) override {
    settle();
    variant_.steps(levels_, steps);
  }
  double change(Norm norm) override {
    settle();
    variant_.step_apart(levels_);
    return levels_.change(norm);
  }
  void read(Grid<T>& grid) override {
    settle();
    levels_.read(grid);
  }
  void wait() override {}
  void single(const RowsDone& done) override {
    exchanged_ = variant_.single(levels_, opened_, exchanged_, done);
    opened_ = true;
  }
  void settle() override {
    if (exchanged_) variant_.exchange(levels_);
    exchanged_ = opened_ = false;
  }
  Levels<T>* host_levels(bool& exchanged) override {
    exchanged = exchanged_;
    return &levels_;
  }
  bool has_boxes() const override { return true; }
  void get(const Box& box, T* cells) override {
    settle();
    levels_.get(box, cells);
  }
  void put(const Box& box, const T* cells) override {
    settle();
    levels_.put(box, cells);
  }

 private:
  const HostVariant<T>& variant_;  // owned by the plan, which the session keeps alive
  Levels<T> levels_;
  bool exchanged_ = false, opened_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<Running<T>> HostVariant<T>::start(const Grid<T>& grid, const Grid<T>* coefficients) const {
  return std::make_unique<HostRunning<T>>(*this, layout_, grid, coefficients);
}

template <class T>
void HostVariant<T>::done_with_all(const RowsDone& done, bool exchanged) const {
  constexpr std::size_t kRows = 32;  // that stay in the second-level cache
  const std::size_t planes = layout_.end[0] - layout_.begin[0], height = layout_.end[1] - layout_.begin[1];
  const std::size_t pieces = (height + kRows - 1) / kRows;
  base::parallel(layout_.cells() < 4096 ? 1 : layout_.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share mine = base::share(planes * pieces, thread, threads);
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      const std::size_t z = layout_.begin[0] + i / pieces, y = i % pieces * kRows;
      done(exchanged, z, z + 1, layout_.begin[1] + y, layout_.begin[1] + std::min(height, y + kRows));
    }
  });
}

template <class T>
std::vector<KernelChoice<T>> row_kernels(const Update<T>& update, bool streaming) {
  std::vector<KernelChoice<T>> kernels;
  if (!update.sums_terms && !streaming) kernels.push_back({"compiler", update.row, true});
  if (update.linear) {
    kernels.push_back(
        {"simd", linear_rows<T>(*update.linear, update.radius, update.fields, streaming), update.sums_terms});
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!update.linear && !streaming)
      kernels.push_back({"vector", vector_rows<T>(update), !is_smooth(flatten(update.outputs))});
  }
  return kernels;
}

void add_schedule(planner::Candidate& candidate, const Layout& layout) {
  if (layout.schedule != Schedule::automatic) candidate.parameters.emplace_back("schedule", to_string(layout.schedule));
}

std::vector<std::size_t> thread_counts(const Layout& layout) {
  if (layout.threads == 1) return {1};
  return {layout.threads, 1};
}

template class HostVariant<float>;
template class HostVariant<double>;
template class HostVariant<std::int32_t>;
template class HostVariant<std::uint8_t>;
template std::vector<KernelChoice<float>> row_kernels(const Update<float>&, bool);
template std::vector<KernelChoice<double>> row_kernels(const Update<double>&, bool);
template std::vector<KernelChoice<std::int32_t>> row_kernels(const Update<std::int32_t>&, bool);
template std::vector<KernelChoice<std::uint8_t>> row_kernels(const Update<std::uint8_t>&, bool);

}  // namespace ridge::stencil
