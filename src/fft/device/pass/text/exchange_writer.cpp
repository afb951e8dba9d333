// Writes twiddles, butterflies and exchanges of every stage of a pass.
#include "fft/device/pass/text/exchange_writer.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace ridge::fft::on_device {

namespace {

std::string placed(const ExchangeLayout& layout, const std::string& index) {
  if (layout.period == 0) return index;
  return fmt::format("({0} + {0} / {1} * {2})", index, layout.period, layout.extra);
}

}  // namespace

void ExchangeWriter::stages() {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (i > 0) p_.seam(i - 1) ? middle() : exchange(i - 1);
    stage(i);
  }
}

std::string ExchangeWriter::power(std::size_t s) const {
  if (!d_.few_twiddles || s < 4 || s % 4 == 0) return fmt::format("w{}", s);
  return fmt::format("multiply(w{}, w{})", s / 4 * 4, s % 4);
}

void ExchangeWriter::stage(std::size_t number) {
  const StageDesign& stage = stages_[number];
  if (stage.radix == 1) return;
  text_.raw("\n");
  text_.line("// radix {} after {}", stage.radix, stage.before);
  for (std::size_t round = 0; round < stage.rounds; ++round) {
    const std::size_t slot = round * stage.radix;
    if (stage.before > 1) {
      p_.open_round(stage, round);
      text_.line("GLOBAL const real2* const w = tables + {} + i % {};", stage.table, stage.before);
      const auto loads = loaded_powers(stage.radix, d_.few_twiddles);
      for (std::size_t m = 0; m < loads.size(); ++m) {
        text_.line("const real2 w{} = LOAD_CACHED(w + {});", loads[m], m * stage.before);
      }
      for (std::size_t s = 1; s < stage.radix; ++s) {
        text_.line("v[{0}] = multiply(v[{0}], {1});", slot + s, power(s));
      }
      p_.close_round();
    }
    text_.line("dft{}(v{});", stage.radix, slot == 0 ? "" : fmt::format(" + {}", slot));
  }
}

std::string ExchangeWriter::local_index(const ExchangeLayout& layout, const StageDesign& stage,
                                        const std::string& index) const {
  const std::string place = placed(layout, index);
  if (d_.lines == 1) return place;
  if (layout.interleaved_lines) return fmt::format("{} * {} + {}", place, layout.lines, p_.c(stage));
  return fmt::format("{} * {} + {}", p_.c(stage), layout.pitch, place);
}

void ExchangeWriter::write_local(const ExchangeLayout& layout, const StageDesign& stage, const char* array,
                                 const char* member) {
  const std::size_t run = stage.before * stage.radix;
  for (std::size_t round = 0; round < stage.rounds; ++round) {
    p_.open_round(stage, round);
    if (stage.before == 1) {
      text_.line("const int p = i * {};", stage.radix);
    } else {
      text_.line("const int p = i / {0} * {1} + i % {0};", stage.before, run);
    }
    text_.line("const int to = {};", local_index(layout, stage, "p"));
    for (std::size_t u = 0; u < stage.radix; ++u) {
      text_.line("{}[to + {}] = v[{}]{};", array, u * stage.before * layout.step(), round * stage.radix + u, member);
    }
    p_.close_round();
  }
}

void ExchangeWriter::read_local(const ExchangeLayout& layout, const StageDesign& stage, const char* array,
                                const char* member) {
  const bool even_steps = layout.period == 0 || stage.butterflies % layout.period == 0;
  for (std::size_t round = 0; round < stage.rounds; ++round) {
    p_.open_round(stage, round);
    if (even_steps) text_.line("const int from = {};", local_index(layout, stage, "i"));
    for (std::size_t s = 0; s < stage.radix; ++s) {
      const std::size_t slot = round * stage.radix + s;
      if (even_steps) {
        text_.line("v[{}]{} = {}[from + {}];", slot, member, array,
                   layout.place(s * stage.butterflies) * layout.step());
      } else {
        const std::string index = s == 0 ? "i" : fmt::format("(i + {})", s * stage.butterflies);
        text_.line("v[{}]{} = {}[{}];", slot, member, array, local_index(layout, stage, index));
      }
    }
    p_.close_round();
  }
}

void ExchangeWriter::exchange(std::size_t number) {
  const ExchangeLayout& layout = p_.layouts[number];
  const StageDesign &from = stages_[number], &to = stages_[number + 1];
  text_.raw("\n");
  text_.line("// exchange");
  if (d_.shuffles) return exchange_by_shuffles();
  const auto pass = [&](const char* array, const char* member) {
    p_.local_free();
    write_local(layout, from, array, member);
    text_.line("BARRIER();");
    if (!p_.after_group_load.empty()) text_.line("{}", std::exchange(p_.after_group_load, {}));
    read_local(layout, to, array, member);
  };
  if (d_.parts > 1) {
    exchange_in_parts(number, ".x");
    exchange_in_parts(number, ".y");
  } else if (d_.split) {
    pass("local_numbers", ".x");
    pass("local_numbers", ".y");
  } else {
    pass("local_points", "");
  }
}

void ExchangeWriter::exchange_in_parts(std::size_t number, const char* member) {
  const ExchangeLayout& layout = p_.layouts[number];
  const StageDesign &from = stages_[number], &to = stages_[number + 1];
  text_.open();
  text_.line("real next[{}];", to.radix * to.rounds);
  for (std::size_t part = 0; part < d_.parts; ++part) {
    const std::size_t first = layout.place(part * p_.part());
    p_.local_free();
    const std::size_t share = from.butterflies / d_.parts;
    for (std::size_t round = 0; round < from.rounds; ++round) {
      p_.open_round(from, round, fmt::format("i >= {} && i < {}", part * share, (part + 1) * share));
      text_.line("const int p = i / {0} * {1} + i % {0};", from.before, from.before * from.radix);
      text_.line("const int to = {} - {};", local_index(layout, from, "p"), first);
      for (std::size_t u = 0; u < from.radix; ++u) {
        text_.line("local_numbers[to + {}] = v[{}]{};", u * from.before, round * from.radix + u, member);
      }
      p_.close_round();
    }
    text_.line("BARRIER();");
    const std::size_t own = to.radix / d_.parts;
    for (std::size_t round = 0; round < to.rounds; ++round) {
      p_.open_round(to, round);
      for (std::size_t s = part * own; s < (part + 1) * own; ++s) {
        const std::string index = s == 0 ? "i" : fmt::format("(i + {})", s * to.butterflies);
        text_.line("next[{}] = local_numbers[{} - {}];", round * to.radix + s, local_index(layout, to, index), first);
      }
      p_.close_round();
    }
  }
  for (std::size_t slot = 0; slot < to.radix * to.rounds; ++slot) text_.line("v[{0}]{1} = next[{0}];", slot, member);
  text_.close();
}

void ExchangeWriter::multiply_by_function(const StageDesign& stage, std::size_t round) {
  const Convolution& filter = *d_.convolution();
  text_.line("const ulong filter_mode = ({}) + (ulong)i * {}ul;", p_.table_offset("line", filter.filter_at),
             filter.filter_at.point);
  text_.line("const ulong filter_line = {};", p_.table_offset("line", filter.filter_line));
  for (std::size_t u = 0; u < stage.radix; ++u) {
    text_.line("v[{0}] = scaled(v[{0}], filter_factor(filter_table, filter_mode + {1}ul, filter_line));",
               round * stage.radix + u, u * stage.butterflies * filter.filter_at.point);
  }
}

void ExchangeWriter::middle() {
  const StageDesign& stage = stages_[d_.radices.size() - 1];
  const Convolution& filter = *d_.convolution();
  text_.raw("\n");
  text_.line("// times the filter's spectrum, and back");
  if (d_.convolves_by(Convolution::rader)) text_.line("if (t == 0) sum_of_points = add(first_point, v[0]);");
  for (std::size_t round = 0; round < stage.rounds; ++round) {
    p_.open_round(stage, round);
    if (!filter.filter_function.empty()) {
      multiply_by_function(stage, round);
      p_.close_round();
      continue;
    }
    if (d_.convolves_by(Convolution::filter)) {
      text_.line("GLOBAL const real2* const filter = filter_table + ({}) + i;",
                 p_.table_offset("line", filter.filter_at));
    } else {
      text_.line("GLOBAL const real2* const filter = tables + {} + i;", tables_.filter);
    }
    for (std::size_t u = 0; u < stage.radix; ++u) {
      const std::size_t slot = round * stage.radix + u;
      text_.line("v[{0}] = multiply(v[{0}], LOAD_CACHED(filter + {1}));", slot, u * stage.butterflies);
    }
    p_.close_round();
  }
  if (d_.convolves_by(Convolution::rader)) text_.line("if (t == 0) v[0] = add(v[0], first_point);");
  for (std::size_t slot = 0; slot < stage.radix * stage.rounds; ++slot) {
    text_.line("v[{0}] = exchanged(v[{0}]);", slot);
  }
}

// Exchange by shuffles, without local memory, for lines whose work-items are lanes of one sub-group.

// Transposes a square of points, one row per lane, one bit at a time: lanes that differ in the bit swap the
// off-diagonal elements of their 2 x 2 blocks.
void ExchangeWriter::exchange_by_shuffles() {
  const std::size_t side = stages_.front().radix;
  for (std::size_t bit = 1; bit < side; bit *= 2) {
    text_.open();
    text_.line("const int upper = t & {};", bit);
    for (std::size_t u = 0; u < side; ++u) {
      if ((u & bit) != 0) continue;
      text_.open();
      text_.line("real2 moved = upper ? v[{}] : v[{}];", u, u | bit);
      for (const char* member : {".x", ".y"}) text_.line("moved{0} = SHUFFLE_XOR(moved{0}, {1});", member, bit);
      text_.line("v[{0}] = upper ? moved : v[{0}];", u);
      text_.line("v[{0}] = upper ? v[{0}] : moved;", u | bit);
      text_.close();
    }
    text_.close();
  }
}

}  // namespace ridge::fft::on_device
