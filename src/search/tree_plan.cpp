// Builds the passes of a tree, and the delays that its trials get.
#include "search/tree_plan.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ridge::search {
namespace {

// Rows of one level while the tree is built.
struct Level {
  std::size_t width = 1;
  std::vector<std::uint32_t> first{};  // per band: its first row; one more at the end
  std::vector<std::int32_t> delays{};  // per row `width` delays, counted from the band's first channel
};

class TreeBuilder {
 public:
  TreeBuilder(const Layout& layout, const std::vector<std::size_t>& radices) : layout_(layout), radices_(radices) {}

  Tree build() {
    Tree tree;
    Level level;
    for (std::size_t c = 0; c <= layout_.channels; ++c) level.first.push_back(static_cast<std::uint32_t>(c));
    level.delays.assign(layout_.channels, 0);
    do {
      Level next;
      tree.passes.push_back(add_level(level, next, radices_[std::min(tree.passes.size(), radices_.size() - 1)]));
      level = std::move(next);
    } while (level.width < layout_.channels);
    set_lengths(tree);
    return tree;
  }

 private:
  struct Term {
    std::uint32_t row, shift;
  };

  // The row of band `part` (first channel c, n channels) and the shift that fit delay `whole` of the band from c0 best.
  Term best_term(const Level& in, std::size_t part, std::size_t c0, std::size_t c, std::size_t n, double whole) const {
    const std::uint32_t rows = in.first[part + 1] - in.first[part];
    const double span = layout_.slope[c + n - 1] - layout_.slope[c];
    const auto near = std::min<std::int64_t>(rows - 1, std::lround((whole - layout_.delay.front()) * span));
    const double wanted = whole * (layout_.slope[c] - layout_.slope[c0]);
    Term best{in.first[part] + static_cast<std::uint32_t>(near), static_cast<std::uint32_t>(std::lround(wanted))};
    if (n == 1) return best;
    double least = -1;
    for (std::int64_t k = std::max<std::int64_t>(0, near - 1); k <= std::min<std::int64_t>(rows - 1, near + 1); ++k) {
      const auto row = in.first[part] + static_cast<std::uint32_t>(k);
      const std::int32_t* delays = in.delays.data() + row * in.width;
      double sum = 0, square = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double gap = whole * (layout_.slope[c + i] - layout_.slope[c0]) - delays[i];
        sum += gap;
        square += gap * gap;
      }
      const double shift = std::round(sum / static_cast<double>(n));
      const double error = square - 2 * shift * sum + shift * shift * static_cast<double>(n);
      if (shift >= 0 && (least < 0 || error < least)) least = error, best = {row, static_cast<std::uint32_t>(shift)};
    }
    return best;
  }

  TreePass add_level(const Level& in, Level& out, std::size_t radix) const {
    const std::size_t channels = layout_.channels;
    out.width = in.width * radix;
    const bool last = out.width >= channels;
    TreePass pass{.radix = radix, .bands = {}, .width = out.width};
    for (std::size_t c0 = 0; c0 < channels; c0 += out.width) {
      out.first.push_back(static_cast<std::uint32_t>(pass.first.size()));
      const std::size_t end = std::min(c0 + out.width, channels);
      const double span = layout_.slope[end - 1] - layout_.slope[c0];
      const double range = layout_.delay.back() - layout_.delay.front();
      const std::size_t rows = last ? layout_.trials : static_cast<std::size_t>(std::ceil(span * range - 1e-9)) + 1;
      for (std::size_t i = 0; i < rows; ++i) {
        const double whole = last ? layout_.delay[i]
                                  : std::min(layout_.delay.front() + (span > 0 ? static_cast<double>(i) / span : 0),
                                             layout_.delay.back());
        add_row(in, c0, end, whole, last, pass, out);
      }
    }
    out.first.push_back(static_cast<std::uint32_t>(pass.first.size()));
    pass.bands = out.first;
    pass.length.assign(pass.first.size(), 0);
    pass.first.push_back(static_cast<std::uint32_t>(pass.source.size()));
    return pass;
  }

  void add_row(const Level& in, std::size_t c0, std::size_t end, double whole, bool last, TreePass& pass,
               Level& out) const {
    pass.first.push_back(static_cast<std::uint32_t>(pass.source.size()));
    for (std::size_t c = c0; c < end; c += in.width) {
      const std::size_t n = std::min(in.width, end - c);
      const Term term = best_term(in, c / in.width, c0, c, n, whole);
      pass.source.push_back(term.row);
      pass.shift.push_back(term.shift);
      if (last) continue;  // delays() composes those of the last level
      const std::int32_t* delays = in.delays.data() + term.row * in.width;
      for (std::size_t i = 0; i < n; ++i) out.delays.push_back(static_cast<std::int32_t>(term.shift) + delays[i]);
    }
    if (!last) out.delays.resize((pass.first.size()) * out.width, 0);
  }

  // Needed lengths, from the last pass to the first.
  void set_lengths(Tree& tree) const {
    std::fill(tree.passes.back().length.begin(), tree.passes.back().length.end(),
              static_cast<std::uint32_t>(layout_.times));
    for (std::size_t p = tree.passes.size(); p-- > 0;) {
      const TreePass& pass = tree.passes[p];
      for (std::size_t r = 0; r < pass.rows(); ++r) {
        const double terms = pass.first[r + 1] - pass.first[r];
        tree.additions += (terms - 1) * pass.length[r];
        tree.moved += (terms + 1) * pass.length[r];
        for (std::uint32_t i = pass.first[r]; i < pass.first[r + 1]; ++i) {
          const std::uint32_t needed = pass.length[r] + pass.shift[i];
          if (p > 0) {
            std::uint32_t& length = tree.passes[p - 1].length[pass.source[i]];
            length = std::max(length, needed);
          } else if (needed > layout_.row) {
            throw Error(ErrorKind::internal,
                        fmt::format("search: a tree needs {} input samples, the row has {}", needed, layout_.row));
          }
        }
      }
    }
  }

  const Layout& layout_;
  const std::vector<std::size_t>& radices_;
};

}  // namespace

Tree make_tree(const Layout& layout, const std::vector<std::size_t>& radices) {
  return TreeBuilder(layout, radices).build();
}

std::vector<std::int32_t> Tree::delays(std::size_t trial, std::size_t channels) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows{{static_cast<std::uint32_t>(trial), 0}}, below;
  for (std::size_t p = passes.size(); p-- > 0;) {
    below.clear();
    for (const auto& [row, shift] : rows) {
      for (std::uint32_t i = passes[p].first[row]; i < passes[p].first[row + 1]; ++i)
        below.emplace_back(passes[p].source[i], shift + passes[p].shift[i]);
    }
    rows.swap(below);
  }
  std::vector<std::int32_t> delays(channels);
  for (const auto& [channel, shift] : rows) delays[channel] = static_cast<std::int32_t>(shift);
  return delays;
}

}  // namespace ridge::search
