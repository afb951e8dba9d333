// Kernel text for FFTs of rows in local memory.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "filterbank/device/fir/lines_codegen.hpp"

namespace ridge::filterbank::on_device {
namespace {

using codegen::Text;

class LinesWriter {
 public:
  LinesWriter(Text& text, const LinesDesign& design) : text_(text), d_(design) {
    // If writers and readers of an exchange are in the same sub-group, a sub-group barrier suffices.
    for (const std::size_t radix : d_.radices) {
      const std::size_t butterflies = d_.points / radix;
      if (radix != d_.radices.front() || 32 % butterflies != 0) within_sub_group_ = false;
    }
  }

  void write(const std::function<void()>& open_line, const StoreText& store) {
    std::size_t before = 1, table = d_.table;
    for (std::size_t s = 0; s < d_.radices.size(); ++s) {
      const std::size_t radix = d_.radices[s], butterflies = d_.points / radix, all = butterflies * d_.lines;
      const std::size_t iterations = (all + d_.items - 1) / d_.items;
      const bool last = s + 1 == d_.radices.size();
      text_.open();
      text_.line("float2 v[{}];", iterations * radix);
      for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
        open_iteration(iteration, all, butterflies);
        load(iteration, radix, butterflies, before, table);
        text_.line("dft{}(v + {});", radix, iteration * radix);
        if (last) {
          open_line();
          for (std::size_t u = 0; u < radix; ++u) {
            store(text_, fmt::format("v[{}]", iteration * radix + u), fmt::format("i + {}", u * butterflies));
          }
          text_.close();
        }
        text_.close();
      }
      if (!last) {
        wait();
        for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
          open_iteration(iteration, all, butterflies);
          text_.line("const int k = i % {};", before);
          for (std::size_t u = 0; u < radix; ++u) {
            text_.line("points[line * {} + {}] = v[{}];", d_.pitch, exchanged(radix, before, u), iteration * radix + u);
          }
          text_.close();
        }
      }
      text_.close();
      if (!last) wait();
      if (before > 1) table += before * (radix - 1);
      before *= radix;
    }
  }

 private:
  void wait() { text_.line("{}();", within_sub_group_ ? "SUB_GROUP_SYNC" : "BARRIER"); }

  // Written so that the addresses of a butterfly are one variable plus constants.
  static std::string place(const std::string& point, std::size_t more) {
    if (more % 16 == 0) return fmt::format("PLACE({}) + {}", point, padded(more));
    return fmt::format("PLACE({} + {})", point, more);
  }
  static std::string exchanged(std::size_t radix, std::size_t before, std::size_t u) {
    const std::string base = fmt::format("(i - k) * {} + k", radix);
    if (before == 1 && 16 % radix == 0) return fmt::format("PLACE({}) + {}", base, u);
    return place(base, u * before);
  }

  void open_iteration(std::size_t iteration, std::size_t all, std::size_t butterflies) {
    const std::size_t offset = iteration * d_.items;
    if (offset + d_.items > all) {
      text_.open("if (item + {} < {})", offset, all);
    } else {
      text_.open();
    }
    text_.line("const int b = item + {}, line = b / {}, i = b % {};", offset, butterflies, butterflies);
  }

  void load(std::size_t iteration, std::size_t radix, std::size_t butterflies, std::size_t before, std::size_t table) {
    for (std::size_t u = 0; u < radix; ++u) {
      text_.line("v[{}] = points[line * {} + {}];", iteration * radix + u, d_.pitch, place("i", u * butterflies));
    }
    if (before == 1) return;
    text_.line("const int r = i % {};", before);
    for (std::size_t u = 1; u < radix; ++u) {
      text_.line("v[{0}] = multiply(v[{0}], roots[{1} + r]);", iteration * radix + u, table + (u - 1) * before);
    }
  }

  codegen::Text& text_;
  const LinesDesign& d_;
  bool within_sub_group_ = true;
};

}  // namespace

void lines_text(Text& text, const LinesDesign& design, const std::function<void()>& open_line, const StoreText& store) {
  LinesWriter(text, design).write(open_line, store);
}

std::size_t table_size(const std::vector<std::size_t>& radices) {
  std::size_t size = 0, before = 1;
  for (const std::size_t radix : radices) {
    if (before > 1) size += before * (radix - 1);
    before *= radix;
  }
  return size;
}

std::vector<std::complex<float>> stage_tables(const std::vector<std::size_t>& radices) {
  std::vector<std::complex<float>> table;
  std::size_t before = 1;
  for (const std::size_t radix : radices) {
    if (before > 1) {
      const auto order = static_cast<double>(before * radix);
      for (std::size_t u = 1; u < radix; ++u) {
        for (std::size_t k = 0; k < before; ++k) {
          table.emplace_back(
              std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(u * k % (before * radix)) / order));
        }
      }
    }
    before *= radix;
  }
  return table;
}

std::vector<std::size_t> radices_of(std::size_t channels, std::size_t held) {
  // Odd prime factors first, merged while their product stays small; then the power of two in factors of similar size.
  std::vector<std::size_t> radices;
  std::size_t rest = channels, odd = 1;
  for (std::size_t p = 3; p <= rest;) {
    if (rest % p != 0 || p == 1) {
      p += 2;
      if (p > codegen::kLargestPrimeRadix) break;
      continue;
    }
    rest /= p;
    if (odd * p <= held && odd > 1) {
      odd *= p;
    } else {
      if (odd > 1) radices.push_back(odd);
      odd = p;
    }
  }
  if (odd > 1) radices.push_back(odd);
  if ((rest & (rest - 1)) != 0) return {};
  while (rest > 1) {
    std::size_t radix = std::min<std::size_t>(rest, held);
    if (rest > held && rest < held * held && rest / held < 4 && held > 8) radix = held / 2;
    radices.push_back(radix);
    rest /= radix;
  }
  if (radices.empty()) radices.push_back(1);
  return radices;
}

}  // namespace ridge::filterbank::on_device
