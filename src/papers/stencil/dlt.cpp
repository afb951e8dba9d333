// Variant "dlt": the dimension-lifted transpose of Henretty et al., as in the stenCINES paper, vectorized by the
// compiler and with explicit SIMD. Grids are transposed when a session starts and back when it is read; docs/stencil.md
// has the time of both.
#include <cstdint>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "papers/stencil/dlt_rows.hpp"
#include "stencil/host/host_variant.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

template <class T>
class Dlt final : public Variant<T> {
 public:
  Dlt(const Layout& layout, const Update<T>& update, bool simd, std::size_t rows, std::size_t threads)
      : layout_(layout),
        rows_(layout, dlt_lanes<T>()),
        count_(rows),
        threads_(threads),
        compiler_(dlt_compiler_kernel<T>()),
        shaped_(simd ? dlt_simd_kernel<T>(shape_of(*update.linear), rows) : nullptr),
        one_(simd ? dlt_simd_kernel<T>(shape_of(*update.linear), 1) : nullptr) {
    for (const Term& term : *update.linear) {
      terms_.push_back(term);
      weights_.push_back(static_cast<T>(term.weight));
    }
  }

  class Session;
  std::unique_ptr<Running<T>> start(const Grid<T>& grid, const Grid<T>* coefficients) const override;

  void step(Levels<T>& levels) const {
    base::parallel(threads_, [&](std::size_t thread, std::size_t threads) {
      const Layout& layout = rows_.layout();
      const base::Share share = rows_of(layout, thread, threads);
      RowTable<T> table(layout, count_);
      for (std::size_t r = share.begin; r < share.end;) {
        const std::size_t z = r / layout.shape[1], y = r % layout.shape[1];
        const std::size_t last = std::min(layout.end[1], y + (share.end - r));
        const bool inside = z >= layout.begin[0] && z < layout.end[0] && y >= layout.begin[1] && y < last;
        const std::size_t count = inside && last - y >= count_ ? count_ : 1;
        if (inside) compute(levels, table.at(levels, levels.current(), levels.next(), z, y, count), z, y);
        r += count;
      }
    });
    levels.swap();
  }

 private:
  void compute(Levels<T>& levels, const Rows<T>& rows, std::size_t z, std::size_t y) const {
    const auto shaped = rows.count == count_ ? shaped_ : one_;
    if (shaped != nullptr) {
      shaped(rows.in, weights_.data(), rows.out, rows.begin, rows.end);
    } else {
      for (std::size_t r = 0; r < rows.count; ++r) compute_row(rows, r);
    }
    for (std::size_t r = 0; r < rows.count; ++r) rows_.repair(rows.out[r], levels.row(levels.current(), 0, z, y + r));
  }

  void compute_row(const Rows<T>& rows, std::size_t r) const {
    const auto lanes = static_cast<std::ptrdiff_t>(rows_.lanes());
    const std::size_t lines = 2 * static_cast<std::size_t>(layout_.radius[1]) + rows.count;
    std::vector<const T*> in;
    for (const Term& term : terms_) {
      const auto plane = static_cast<std::size_t>(term.offset[0] + layout_.radius[0]);
      const auto line = static_cast<std::size_t>(term.offset[1] + layout_.radius[1]);
      in.push_back(rows.in[plane * lines + line + r] + term.offset[2] * lanes);
    }
    compiler_(in.data(), weights_.data(), in.size(), rows.out[r], rows.begin, rows.end);
  }

  Layout layout_;
  DltRows rows_;
  std::size_t count_, threads_;
  SumTerms<T> compiler_;
  SumShape<T> shaped_, one_;
  std::vector<Term> terms_;
  std::vector<T> weights_;
};

template <class T>
class Dlt<T>::Session final : public Running<T> {
 public:
  Session(const Dlt& dlt, const Grid<T>& grid) : dlt_(dlt), levels_(make(grid)) { close(); }
  void run(std::size_t steps) override {
    for (std::size_t step = 0; step < steps; ++step) dlt_.step(levels_);
  }
  double change(Norm norm) override {
    Grid<T> before(shape(dlt_.layout_)), after = before;
    read(before);
    run(1);
    read(after);
    return change_between(before, after, norm);
  }
  void read(Grid<T>& grid) override {
    Grid<T> lifted(shape(dlt_.rows_.layout()));
    levels_.read(lifted);
    dlt_.rows_.lower(lifted, grid);
  }
  void wait() override {}

 private:
  static std::vector<std::size_t> shape(const Layout& layout) {
    return {layout.shape.begin() + static_cast<std::ptrdiff_t>(3 - layout.dimensions), layout.shape.end()};
  }
  Levels<T> make(const Grid<T>& grid) const {
    Grid<T> lifted(shape(dlt_.rows_.layout()));
    dlt_.rows_.lift(grid, lifted);
    return Levels<T>(dlt_.rows_.layout(), lifted, nullptr);
  }
  // Fills seams and ghost cells of the first level. The second level's fixed rows are never read along x, but stay
  // equal.
  void close() {
    const Layout& layout = dlt_.layout_;
    for (T* level : {levels_.current(), levels_.next()}) {
      for (std::size_t z = 0; z < layout.shape[0]; ++z) {
        for (std::size_t y = 0; y < layout.shape[1]; ++y) {
          T* row = levels_.row(level, 0, z, y);
          dlt_.rows_.repair(row, row);
        }
      }
    }
  }
  const Dlt& dlt_;  // owned by the plan, which the session keeps alive
  Levels<T> levels_;
};

template <class T>
std::unique_ptr<Running<T>> Dlt<T>::start(const Grid<T>& grid, const Grid<T>*) const {
  return std::make_unique<Session>(*this, grid);
}

template <class T>
std::string refusal(const Update<T>& update, const Layout& layout) {
  if (!update.linear || layout.fields != 1)
    return fmt::format("needs a linear update of one field, got {} {}", layout.fields,
                       layout.fields == 1 ? "field and another form" : "fields");
  if (layout.schedule != Schedule::automatic && layout.schedule != Schedule::fixed)
    return fmt::format("divides rows evenly: a {} schedule is not available", to_string(layout.schedule));
  if (!DltRows::fits(layout, dlt_lanes<T>()))
    return fmt::format("needs rows of at least the radius ({}) times the vector lanes ({}), got {} cells",
                       layout.radius[2], dlt_lanes<T>(), layout.shape[2]);
  return "";
}

}  // namespace

template <class T>
void list_host_dlt(const Device&, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto add = [&](bool simd, std::size_t rows, std::size_t threads) {
      Entry<T> entry;
      entry.candidate.variant = "historical/dlt";
      entry.candidate.parameters = {{"kernel", simd ? "simd" : "compiler"}};
      if (rows > 1) entry.candidate.parameters.push_back({"rows", std::to_string(rows)});
      add_schedule(entry.candidate, layout);
      entry.candidate.parameters.push_back({"threads", std::to_string(threads)});
      entry.candidate.cost = step_cost(update, layout, 2, 0.3);
      entry.candidate.cost.threads = threads;
      entry.candidate.cost.launches = threads > 1 ? 1 : 0;
      entry.candidate.refusal = refusal(update, layout);
      if (entry.candidate.refusal.empty() && simd && dlt_simd_kernel<T>(shape_of(*update.linear), rows) == nullptr)
        entry.candidate.refusal =
            fmt::format("no explicit vector kernel for a stencil of {} points", update.linear->size());
      entry.exact = update.sums_terms;
      entry.build = [=]() -> std::shared_ptr<const Variant<T>> {
        return std::make_shared<Dlt<T>>(layout, update, simd, rows, threads);
      };
      entries.push_back(std::move(entry));
    };
    for (const std::size_t threads : thread_counts(layout)) {
      add(false, 1, threads);
      for (const std::size_t rows : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) add(true, rows, threads);
    }
  }
}

extern const Listers kHostDlt{list_host_dlt<float>, list_host_dlt<double>, list_host_dlt<std::int32_t>,
                              list_host_dlt<std::uint8_t>};

}  // namespace ridge::stencil
