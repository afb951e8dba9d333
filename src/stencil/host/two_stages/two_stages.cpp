// Variant "two_stages": staggered waves in 2D, whose stresses depend on new velocities at neighbours. Velocities, then
// stresses overwrite their old values in one sweep, in which the stresses follow a few rows behind. The update defines
// new velocities of fixed cells too, which the outermost stresses read: they are stored there until the step ends.
// Cells that no absorbing layer reaches are computed by the update's inner form.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "stencil/host/kernels/vector_program.hpp"
#include "stencil/host/row_variants/row_variant.hpp"
#include "stencil/host/two_stages/stages.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

// Cells [begin, end) of an axis.
struct Extent {
  std::size_t begin = 0, end = 0;
  bool contains(std::size_t from, std::size_t to) const { return from >= begin && to <= end; }
};

// A form of the update: the programs of its stages, and the cells that it computes.
template <class T>
struct StagePrograms {
  std::shared_ptr<const VectorProgram<T>> first{}, second{};
  Extent y{}, x{};
};

template <class T>
std::shared_ptr<const VectorProgram<T>> stage_program(const Stages& stages, bool first) {
  std::vector<Expression> outputs = stages.outputs;
  std::vector<bool> skipped(outputs.size());
  for (std::size_t field = 0; field < outputs.size(); ++field) {
    skipped[field] = stages.first[field] != first;
    if (skipped[field]) outputs[field] = make_read(Node::Kind::read, field, {});
  }
  const Tape tape = flatten(outputs);
  return std::make_shared<const VectorProgram<T>>(tape, skipped, is_smooth(tape), 1);
}

// Programs and cells of both forms of an update. Not usable with a refusal.
template <class T>
struct StagedForms {
  StagePrograms<T> whole{}, inner{};  // `inner` without programs: the whole update computes all cells
  std::vector<bool> first{};
  std::array<std::size_t, 3> reach{};  // of reads of new values
  std::size_t lag = 0;                 // rows by which the second stage follows the first
  std::string refusal{};
};

template <class T>
bool may_overwrite(const VectorProgram<T>& program) {
  for (std::size_t i = 0; i < program.outputs(); ++i) {
    if (!program.may_replace(i)) return false;
  }
  return true;
}

template <class T>
StagedForms<T> staged_forms(const Update<T>& update, const Layout& layout) {
  StagedForms<T> forms;
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
    if (layout.low[axis] != Border::fixed || layout.high[axis] != Border::fixed) forms.refusal = "needs fixed borders";
  }
  if (!forms.refusal.empty()) return forms;
  const Stages stages = find_stages(update.outputs);
  forms.first = stages.first;
  forms.refusal = stages.refusal;
  if (!forms.refusal.empty()) return forms;
  forms.reach = stages.reach;
  const auto programs = [&](const Stages& of) {
    StagePrograms<T> made{stage_program<T>(of, true), stage_program<T>(of, false), {}, {}};
    for (const auto& program : {made.first, made.second}) {
      for (const auto& row : program->rows())
        forms.lag = std::max(forms.lag, static_cast<std::size_t>(std::abs(row.dy)));
      if (!may_overwrite(*program)) forms.refusal = "needs new values that may overwrite old ones, row by row";
    }
    return made;
  };
  forms.whole = programs(stages);
  forms.whole.y = {layout.begin[1], layout.end[1]};
  forms.whole.x = {layout.begin[2], layout.end[2]};
  const Stages simple = update.inner.outputs.empty() ? Stages{} : find_stages(update.inner.outputs);
  if (simple.outputs.empty() || !simple.refusal.empty() ||
      !std::equal(simple.first.begin(), simple.first.end(), stages.first.begin()))
    return forms;
  const auto between = [&](std::size_t axis) {
    const std::size_t margin = update.inner.margin + simple.reach[axis], side = layout.shape[axis];
    return 2 * margin < side ? Extent{margin, side - margin} : Extent{};
  };
  const Extent y = between(1), x = between(2);
  if (y.end == 0 || x.end == 0) return forms;
  forms.inner = programs(simple);
  forms.inner.y = y;
  forms.inner.x = x;
  return forms;
}

template <class T>
class TwoStages final : public HostVariant<T> {
 public:
  TwoStages(const Layout& layout, StagedForms<T> forms, const RowKernel<T>& kernel, std::size_t threads)
      : HostVariant<T>(layout),
        forms_(std::move(forms)),
        rows_(layout, kernel, {.threads = threads}),
        threads_(threads) {}

  void steps(Levels<T>& levels, std::size_t count) const override {
    for (std::size_t step = 0; step < count; ++step) {
      each_share([&](const Extent& rows) { sweep(levels, rows); });
      if (threads_ > 1) {
        each_share([&](const Extent& rows) {
          const Extent all = within(rows, forms_.whole.y), done = swept(rows);
          second(levels, all.begin, done.begin);
          second(levels, done.end, all.end);
        });
      }
      each_share([&](const Extent& rows) { restore(levels, rows); });
    }
  }
  void step_apart(Levels<T>& levels) const override { rows_.steps(levels, 1); }

 private:
  // Calls `work` with the rows of each thread.
  template <class Work>
  void each_share(const Work& work) const {
    base::parallel(threads_, [&](std::size_t thread, std::size_t threads) {
      const base::Share mine = base::share(this->layout().shape[1], thread, threads);
      work(Extent{mine.begin, mine.end});
    });
  }
  static Extent within(const Extent& rows, const Extent& all) {
    const std::size_t begin = std::clamp(rows.begin, all.begin, all.end);
    return {begin, std::clamp(rows.end, begin, all.end)};
  }
  // Rows and cells of the first stage, fixed ones included.
  static Extent wider(const Extent& cells, std::size_t reach) { return {cells.begin - reach, cells.end + reach}; }
  // Rows of the second stage of which other threads need no old values, and that need no new values of other threads.
  Extent swept(const Extent& rows) const {
    const Extent all = within(rows, forms_.whole.y);
    const std::size_t begin = std::max(all.begin, rows.begin == 0 ? 0 : rows.begin + forms_.lag);
    const std::size_t after = rows.end == this->layout().shape[1] ? 0 : forms_.lag;
    const std::size_t end = std::min(all.end, rows.end - std::min(rows.end, after));
    return begin < end ? Extent{begin, end} : Extent{all.begin, all.begin};
  }

  // The fixed cells of the first stage, from the other level, which keeps them.
  void restore(Levels<T>& levels, const Extent& rows) const {
    const Extent first = within(rows, wider(forms_.whole.y, forms_.reach[1])),
                 x = wider(forms_.whole.x, forms_.reach[2]);
    for (std::size_t field = 0; field < forms_.first.size(); ++field) {
      for (std::size_t y = first.begin; y < first.end && forms_.first[field]; ++y) {
        const T* const from = levels.row(levels.next(), field, 0, y);
        T* const to = levels.row(levels.current(), field, 0, y);
        const bool changes = forms_.whole.y.contains(y, y + 1);
        std::copy(from + x.begin, from + (changes ? forms_.whole.x.begin : x.end), to + x.begin);
        if (changes) std::copy(from + forms_.whole.x.end, from + x.end, to + forms_.whole.x.end);
      }
    }
  }

  // Both stages, the second one as soon as the first one no longer reads its rows.
  void sweep(Levels<T>& levels, const Extent& rows) const {
    const Extent all = within(rows, wider(forms_.whole.y, forms_.reach[1])), behind = swept(rows);
    std::size_t done = behind.begin;
    for (std::size_t y = all.begin; y < all.end;) {
      const std::size_t count = y + kBlockRows <= all.end ? kBlockRows : 1;
      run(levels, true, y, count);
      y += count;
      for (; done + kBlockRows + forms_.lag <= y && done + kBlockRows <= behind.end; done += kBlockRows)
        run(levels, false, done, kBlockRows);
    }
    second(levels, done, behind.end);
  }
  void second(Levels<T>& levels, std::size_t begin, std::size_t end) const {
    while (begin < end) {
      const std::size_t count = begin + kBlockRows <= end ? kBlockRows : 1;
      run(levels, false, begin, count);
      begin += count;
    }
  }

  void run(Levels<T>& levels, bool first, std::size_t y, std::size_t count) const {
    const StagePrograms<T>&whole = forms_.whole, &inner = forms_.inner;
    const Extent x = first ? wider(whole.x, forms_.reach[2]) : whole.x;
    if (!inner.first || !inner.y.contains(y, y + count)) return run(levels, whole, first, y, count, x);
    run(levels, whole, first, y, count, {x.begin, inner.x.begin});
    run(levels, inner, first, y, count, inner.x);
    run(levels, whole, first, y, count, {inner.x.end, x.end});
  }
  void run(Levels<T>& levels, const StagePrograms<T>& programs, bool first, std::size_t y, std::size_t count,
           const Extent& x) const {
    const VectorProgram<T>& program = first ? *programs.first : *programs.second;
    // Fixed rows of the first stage also read rows outside the grid, for values that the second stage does not need.
    const auto last = static_cast<std::ptrdiff_t>(this->layout().shape[1]) - 1;
    thread_local std::vector<const T*> in;
    thread_local std::vector<T*> out;
    in.clear(), out.clear();
    for (const auto& read : program.rows()) {
      const T* const level = read.coefficient ? levels.coefficients() : levels.current();
      for (std::size_t r = 0; r < count; ++r) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y + r) + read.dy;
        in.push_back(
            levels.row(level, read.field, 0, static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, last))));
      }
    }
    for (std::size_t i = 0; i < program.outputs(); ++i) {
      for (std::size_t r = 0; r < count; ++r) out.push_back(levels.row(levels.current(), program.field(i), 0, y + r));
    }
    if (count > 1) {
      program.run_block(in.data(), out.data(), x.begin, x.end);
    } else {
      program.run(in.data(), out.data(), x.begin, x.end);
    }
  }

  StagedForms<T> forms_;
  RowVariant<T> rows_;
  std::size_t threads_;
};

// Values that a step reads or writes per cell: fields twice, coefficients once.
template <class T>
double accesses_of(const Update<T>& update, bool inner) {
  const std::size_t fields = inner ? update.inner.outputs.size() : update.fields;
  const std::size_t unused = inner ? update.inner.zero_coefficients.size() : 0;
  return static_cast<double>(2 * fields + update.coefficients - unused);
}

}  // namespace

template <class T>
void list_host_two_stages(const Device&, const Update<T>& update, const Layout& layout,
                          std::vector<Entry<T>>& entries) {
  if constexpr (std::is_floating_point_v<T>) {
    if (layout.dimensions != 2 || layout.fields < 2) return;
    const StagedForms<T> forms = staged_forms(update, layout);
    for (const std::size_t threads : thread_counts(layout)) {
      Entry<T> entry;
      planner::Candidate& candidate = entry.candidate;
      candidate.variant = "two_stages";
      candidate.parameters.emplace_back("threads", std::to_string(threads));
      candidate.refusal = forms.refusal;
      candidate.cost = step_cost(update, layout, 2, 0.6);
      candidate.cost.bytes =
          static_cast<double>(layout.changing() * sizeof(T)) * accesses_of(update, forms.inner.first != nullptr);
      candidate.cost.flops /= 3;  // the update computes new values of the first stage several times
      candidate.cost.threads = threads;
      candidate.cost.launches = threads > 1 ? 3 : 0;
      entry.exact = false;
      entry.build = [layout, forms, kernel = row_kernels(update).back().kernel,
                     threads]() -> std::shared_ptr<const Variant<T>> {
        return std::make_shared<TwoStages<T>>(layout, forms, kernel, threads);
      };
      entries.push_back(std::move(entry));
    }
  }
}

extern const Listers kHostTwoStages{list_host_two_stages<float>, list_host_two_stages<double>,
                                    list_host_two_stages<std::int32_t>, list_host_two_stages<std::uint8_t>};

}  // namespace ridge::stencil
