// The tree of tree_plan.hpp on the host: one pass over memory per level. Rows are added in runs of neighbours, which
// share most of their sources, tile of times by tile of times.
#include <algorithm>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "search/host/sums.hpp"
#include "search/tree_plan.hpp"
#include "search/variant.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kTile = 2048, kRun = 64;  // times, rows

std::size_t sum_bytes(Sum sum) { return sum == Sum::u8 ? 1 : sum == Sum::u16 ? 2 : 4; }

class HostTree final : public Variant {
 public:
  HostTree(const Layout& layout, std::shared_ptr<const Tree> tree)
      : layout_(layout), tree_(std::move(tree)), stride_((layout.row + 63) / 64 * 64 + 64) {}

  void run(const std::uint8_t* in, float* out) const override {
    const std::lock_guard lock(mutex_);
    reserve();
    const void* from = in;
    std::size_t from_stride = layout_.row;
    Sum from_type = Sum::u8;
    for (std::size_t p = 0; p < tree_->passes.size(); ++p) {
      const bool last = p + 1 == tree_->passes.size();
      const Sum to_type = last ? Sum::f32 : tree_->passes[p].width <= kMost16 ? Sum::u16 : Sum::u32;
      void* to = last ? static_cast<void*>(out) : scratch_[p % 2].data();
      const std::size_t to_stride = last ? layout_.times : stride_;
      add_pass({from, from_stride, from_type}, {to, to_stride, to_type}, tree_->passes[p]);
      from = to, from_stride = to_stride, from_type = to_type;
    }
  }
  void enqueue(Queue&, const Buffer& in, const Buffer& out) const override {
    run(reinterpret_cast<const std::uint8_t*>(in.native()), reinterpret_cast<float*>(out.native()));
  }
  std::vector<std::int32_t> delays(std::size_t trial) const override { return tree_->delays(trial, layout_.channels); }

 private:
  template <class Pointer>
  struct Rows {
    Pointer data;
    std::size_t stride;
    Sum type;
  };

  void reserve() const {
    for (std::size_t p = 0; p + 1 < tree_->passes.size(); ++p) {
      const TreePass& pass = tree_->passes[p];
      const std::size_t bytes = pass.rows() * stride_ * (pass.width <= kMost16 ? 2 : 4);
      if (scratch_[p % 2].size() < bytes) scratch_[p % 2] = base::AlignedArray<std::byte>(bytes);
    }
  }

  void add_pass(const Rows<const void*>& from, const Rows<void*>& to, const TreePass& pass) const {
    const AddRows add = sum_kernels().add_rows(from.type, to.type);
    const std::size_t runs = (pass.rows() + kRun - 1) / kRun;
    base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
      const base::Share mine = base::share(runs, thread, threads);
      std::vector<const void*> terms(tree_->radix);
      for (std::size_t run = mine.begin; run < mine.end; ++run) {
        const std::size_t begin = run * kRun, end = std::min(begin + kRun, pass.rows());
        const std::uint32_t longest = *std::max_element(pass.length.begin() + static_cast<std::ptrdiff_t>(begin),
                                                        pass.length.begin() + static_cast<std::ptrdiff_t>(end));
        for (std::size_t t = 0; t < longest; t += kTile) {
          for (std::size_t r = begin; r < end; ++r) add_row(add, from, to, pass, r, t, terms);
        }
      }
    });
  }

  static void add_row(AddRows add, const Rows<const void*>& from, const Rows<void*>& to, const TreePass& pass,
                      std::size_t row, std::size_t time, std::vector<const void*>& terms) {
    if (time >= pass.length[row]) return;
    const std::uint32_t first = pass.first[row], count = pass.first[row + 1] - first;
    const auto* in = static_cast<const std::byte*>(from.data);
    for (std::uint32_t j = 0; j < count; ++j) {
      terms[j] = in + (pass.source[first + j] * from.stride + pass.shift[first + j] + time) * sum_bytes(from.type);
    }
    add(terms.data(), count, static_cast<std::byte*>(to.data) + (row * to.stride + time) * sum_bytes(to.type),
        std::min<std::size_t>(kTile, pass.length[row] - time));
  }

  Layout layout_;
  std::shared_ptr<const Tree> tree_;
  std::size_t stride_;  // of the rows between passes, in samples
  mutable std::mutex mutex_;
  mutable base::AlignedArray<std::byte> scratch_[2];
};

}  // namespace

void list_host_tree(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  for (const std::size_t radix : {4, 8}) {
    const auto tree = std::make_shared<const Tree>(make_tree(layout, radix));
    entries.push_back(
        {.candidate = {.variant = "tree",
                       .parameters = {{"radix", std::to_string(radix)}, {"threads", std::to_string(layout.threads)}},
                       .refusal = {},
                       .cost = {.flops = tree->additions,
                                .bytes = 3 * tree->moved / static_cast<double>(radix),
                                .launches = static_cast<double>(tree->passes.size()),
                                .efficiency = 0.5,
                                .float64 = false,
                                .threads = layout.threads}},
         .build = [layout, tree] { return std::make_shared<HostTree>(layout, tree); }});
  }
}

}  // namespace ridge::search
