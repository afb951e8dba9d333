// "in_place": systems that keep a level one step old, as waves do. The new level is written over the older one, which
// is read at the cell itself alone, and the two change places: a step reads and writes nothing twice, and no line is
// read only to be overwritten. Blocks of rows go to whoever is free; in 3D they are so high that the planes a stencil
// reaches stay in the second cache.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "machine/host_caches.hpp"
#include "stencil/host/row_variant.hpp"
#include "stencil/host/vector_program.hpp"
#include "stencil/registry.hpp"
#include "stencil/time_levels.hpp"

namespace ridge::stencil {
namespace {

struct InPlaceBlock {
  std::size_t z, z_end, y, y_end, x, x_end;
};

struct InPlaceLoops {
  std::size_t height = 0;  // rows of a block (3D); 0: as the threads share them
  std::size_t threads = 1;
};

std::size_t pieces_of(std::size_t count, std::size_t piece) {
  return std::max<std::size_t>(1, (count + piece / 2) / piece);
}

std::vector<InPlaceBlock> blocks_of(const Layout& layout, const InPlaceLoops& loops) {
  const std::size_t wanted = loops.threads == 1 ? 1 : 4 * loops.threads;
  const auto count = [&](std::size_t axis) { return layout.end[axis] - layout.begin[axis]; };
  std::array<std::size_t, 3> parts{1, 1, 1};
  if (layout.dimensions == 3) {
    parts[1] = loops.height == 0 ? 1 : pieces_of(count(1), loops.height);
    parts[0] = std::min(count(0), (wanted + parts[1] - 1) / parts[1]);
  } else {
    parts[1] = std::min(count(1), wanted);
  }
  constexpr std::size_t kFewestCells = 4096;
  if (parts[0] * parts[1] < loops.threads)
    parts[2] = std::min(wanted, std::max<std::size_t>(1, count(2) / kFewestCells));
  std::vector<InPlaceBlock> blocks;
  for (std::size_t k = 0; k < parts[0]; ++k) {
    const base::Share z = base::share(count(0), k, parts[0]);
    for (std::size_t j = 0; j < parts[1]; ++j) {
      const base::Share y = base::share(count(1), j, parts[1]);
      for (std::size_t i = 0; i < parts[2]; ++i) {
        const base::Share x = base::share(count(2), i, parts[2], 64);
        if (x.begin == x.end) continue;
        blocks.push_back({layout.begin[0] + z.begin, layout.begin[0] + z.end, layout.begin[1] + y.begin,
                          layout.begin[1] + y.end, layout.begin[2] + x.begin, layout.begin[2] + x.end});
      }
    }
  }
  return blocks;
}

template <class T>
class InPlace final : public HostVariant<T> {
 public:
  InPlace(const Layout& layout, std::shared_ptr<const VectorProgram<T>> program, const TimeLevels& levels,
          const RowKernel<T>& kernel, const InPlaceLoops& loops)
      : HostVariant<T>(layout),
        program_(std::move(program)),
        pairs_(levels.pairs),
        single_(layout, kernel, {.threads = loops.threads}),
        blocks_(blocks_of(layout, loops)),
        threads_(loops.threads) {
    other_.resize(layout.fields);
    for (const auto& [newer, older] : pairs_) {
      other_[newer] = older;
      other_[older] = newer;
    }
  }

  // Two steps bring every field back to its place; a single one leaves the level before it as it was.
  void steps(Levels<T>& levels, std::size_t count) const override {
    if (count >= 2) {
      borders_to_older(levels, levels.current(), true);
      for (std::size_t step = 0; step < count / 2 * 2; ++step) this->step(levels, step % 2 == 1);
      borders_to_older(levels, levels.next(), false);
    }
    if (count % 2 == 1) single_.steps(levels, 1);
  }
  std::size_t depth() const override { return 2; }

 private:
  void step(Levels<T>& levels, bool odd) const {
    std::atomic<std::size_t> next{0};
    const bool split = blocks_.front().x_end < this->layout().end[2];
    base::parallel(threads_, [&](std::size_t, std::size_t) {
      std::vector<const T*> in(program_->rows().size());
      std::vector<T*> out(program_->outputs());
      for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < blocks_.size();)
        block(levels, blocks_[i], odd, split, in, out);
    });
    if (split) {
      for (std::size_t z = this->layout().begin[0]; z < this->layout().end[0]; ++z) {
        for (std::size_t y = this->layout().begin[1]; y < this->layout().end[1]; ++y) {
          for (std::size_t i = 0; i < program_->outputs(); ++i)
            levels.close_row(levels.row(levels.current(), target(i, odd), z, y));
        }
      }
    }
  }

  std::size_t place(std::size_t field, bool odd) const { return odd ? other_[field] : field; }
  std::size_t target(std::size_t output, bool odd) const { return place(other_[program_->field(output)], odd); }

  void block(Levels<T>& levels, const InPlaceBlock& block, bool odd, bool split, std::vector<const T*>& in,
             std::vector<T*>& out) const {
    const Layout& layout = this->layout();
    const auto& reads = program_->rows();
    for (std::size_t z = block.z; z < block.z_end; ++z) {
      for (std::size_t y = block.y; y < block.y_end; ++y) {
        for (std::size_t i = 0; i < reads.size(); ++i) {
          const std::size_t plane = layout.source(0, static_cast<std::ptrdiff_t>(z) + reads[i].dz);
          const std::size_t line = layout.source(1, static_cast<std::ptrdiff_t>(y) + reads[i].dy);
          in[i] = reads[i].coefficient ? levels.row(levels.coefficients(), reads[i].field, plane, line)
                                       : levels.row(levels.current(), place(reads[i].field, odd), plane, line);
        }
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = levels.row(levels.current(), target(i, odd), z, y);
        program_->run(in.data(), out.data(), block.x, block.x_end);
        if (split) continue;
        for (T* row : out) levels.close_row(row);
      }
    }
  }

  // Fixed cells of the older levels: those of the newer ones while they change places, so that whatever is written over
  // them has the right ones around it, and afterwards their own again, out of the other level.
  void borders_to_older(Levels<T>& levels, const T* from, bool of_newer) const {
    const Layout& layout = this->layout();
    if (layout.changing() == layout.cells()) return;
    base::parallel(threads_, [&](std::size_t thread, std::size_t threads) {
      const base::Share share = rows_of(layout, thread, threads);
      for (const auto& [newer, older] : pairs_) {
        for (std::size_t r = share.begin; r < share.end; ++r) {
          const std::size_t z = r / layout.shape[1], y = r % layout.shape[1];
          const T* const source = levels.row(from, of_newer ? newer : older, z, y);
          T* const to = levels.row(levels.current(), older, z, y);
          const bool changes = z >= layout.begin[0] && z < layout.end[0] && y >= layout.begin[1] && y < layout.end[1];
          std::copy(source, source + (changes ? layout.begin[2] : layout.shape[2]), to);
          if (changes) std::copy(source + layout.end[2], source + layout.shape[2], to + layout.end[2]);
          levels.close_row(to);
        }
      }
    });
  }

  std::shared_ptr<const VectorProgram<T>> program_;
  std::vector<TimeLevels::Pair> pairs_;
  RowVariant<T> single_;
  std::vector<InPlaceBlock> blocks_;
  std::size_t threads_;
  std::vector<std::size_t> other_;  // the field a field changes places with
};

// Rows of a block so that the planes it reaches take a share of the second cache.
std::size_t block_height(const Layout& layout, double share) {
  const auto caches = machine::host_caches();
  const machine::Cache& cache = caches[std::min<std::size_t>(1, caches.size() - 1)];
  const double planes = 2.0 * layout.radius[0] + 3;
  const double rows =
      share * static_cast<double>(cache.size) / (planes * static_cast<double>(layout.shape[2] * layout.element_bytes));
  return static_cast<std::size_t>(std::max(4.0, rows - 2.0 * layout.radius[1]));
}

}  // namespace

template <class T>
void list_host_in_place(const Device&, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries) {
  if constexpr (std::is_floating_point_v<T>) {
    const Tape tape = flatten(update.outputs);
    const TimeLevels levels = time_levels(tape);
    if (levels.pairs.empty()) return;
    const bool fused = is_smooth(tape);
    const auto program =
        levels.refusal.empty() ? std::make_shared<const VectorProgram<T>>(tape, levels.remembers, fused) : nullptr;
    std::vector<std::size_t> heights{0};
    if (layout.dimensions == 3) heights = {block_height(layout, 0.6), block_height(layout, 1.2), 0};
    for (const std::size_t threads : thread_counts(layout)) {
      for (const std::size_t height : heights) {
        const InPlaceLoops loops{.height = height, .threads = threads};
        Entry<T> entry;
        planner::Candidate& candidate = entry.candidate;
        candidate.variant = "in_place";
        if (height > 0) candidate.parameters.emplace_back("height", std::to_string(height));
        candidate.parameters.emplace_back("threads", std::to_string(threads));
        candidate.refusal = levels.refusal;
        candidate.cost = step_cost(update, layout, 1.5, 0.6);
        candidate.cost.threads = threads;
        entry.exact = false;
        entry.build = [layout, program, levels, kernel = row_kernels(update).back().kernel,
                       loops]() -> std::shared_ptr<const Variant<T>> {
          return std::make_shared<InPlace<T>>(layout, program, levels, kernel, loops);
        };
        entry.sample = [cells = static_cast<double>(layout.cells()), program, levels,
                        kernel = row_kernels(update).back().kernel, loops](const Layout& part) -> Sample<T> {
          return {std::make_shared<InPlace<T>>(part, program, levels, kernel, loops),
                  cells / static_cast<double>(part.cells())};
        };
        entries.push_back(std::move(entry));
      }
    }
  }
}

template void list_host_in_place(const Device&, const Update<float>&, const Layout&, std::vector<Entry<float>>&);
template void list_host_in_place(const Device&, const Update<double>&, const Layout&, std::vector<Entry<double>>&);
template void list_host_in_place(const Device&, const Update<std::int32_t>&, const Layout&,
                                 std::vector<Entry<std::int32_t>>&);
template void list_host_in_place(const Device&, const Update<std::uint8_t>&, const Layout&,
                                 std::vector<Entry<std::uint8_t>>&);

}  // namespace ridge::stencil
