#include "fft/device/kernel_text.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/butterfly.hpp"
#include "fft/device/exchange.hpp"
#include "fft/device/text.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kSmallIndex = 0x7fffffff;

std::string sample_type(const PassDesign& design, bool pair) {
  std::string scalar = design.samples == Samples::int8    ? "char"
                       : design.samples == Samples::int16 ? "short"
                       : design.float64                   ? "double"
                                                          : "float";
  return pair ? scalar + "2" : scalar;
}

// Pairs of reals can be moved as one where every line starts at an even element.
bool even_lines(const PassSide& side) {
  const auto even = [](std::uint64_t stride) { return stride % 2 == 0; };
  return side.pair == 1 && std::all_of(side.at.line.begin(), side.at.line.end(), even);
}

class Writer {
 public:
  explicit Writer(const PassDesign& design) : d_(design), stages_(stages_of(design)), tables_(table_offsets(design)) {
    for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
      if (seam(i)) {
        layouts_.emplace_back();
      } else {
        layouts_.push_back(exchange_layout(d_, stages_[i], stages_[i + 1], element_bytes()));
      }
    }
    for (const StageDesign& stage : stages_) held_ = std::max(held_, stage.radix * stage.rounds);
    pitch_ = d_.points | 1;
  }

  std::size_t local_bytes() const {
    const std::size_t complex_bytes = d_.float64 ? 16 : 8;
    std::size_t bytes = 0;
    for (const ExchangeLayout& layout : layouts_) bytes = std::max(bytes, layout.elements * element_bytes());
    if (d_.load.staged || d_.store.staged) bytes = std::max(bytes, d_.lines * pitch_ * complex_bytes);
    if (d_.store.values == Values::half) bytes = std::max(bytes, d_.lines * half_pitch() * complex_bytes);
    return bytes;
  }

  PassText write() {
    header();
    text_.open("{}", signature());
    declare();
    load();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (i > 0) seam(i - 1) ? middle() : exchange(i - 1);
      stage(i);
    }
    store();
    text_.close();
    const std::string name = fmt::format("fft {} points", d_.points);
    return {{.name = name, .text = text_.str()}, local_bytes()};
  }

 private:
  // --- names --------------------------------------------------------------------------------------------------------
  std::size_t element_bytes() const { return (d_.float64 ? 16 : 8) / (d_.split ? 2 : 1); }
  bool two_orders() const { return stages_.size() > 1 && d_.load_order != d_.store_order; }
  bool last_order(const StageDesign& stage) const { return two_orders() && &stage == &stages_.back(); }
  const char* t(const StageDesign& stage) const { return last_order(stage) ? "t_out" : "t"; }
  const char* c(const StageDesign& stage) const { return last_order(stage) ? "c_out" : "c"; }
  std::size_t half_pitch() const { return d_.length | 1; }
  bool inverse() const { return d_.direction == Direction::inverse; }
  // Between the way there and the way back of a convolution nothing moves: the last stage's outputs are the first
  // stage's inputs.
  bool seam(std::size_t i) const { return d_.method != PrimeMethod::none && i + 1 == d_.radices.size(); }

  static const char* method_name(PrimeMethod method) {
    return method == PrimeMethod::bluestein ? "Bluestein" : method == PrimeMethod::rader ? "Rader" : "";
  }

  void header() {
    text_.line("// {} points, {}: {}{}", d_.points, inverse() ? "inverse" : "forward", fmt::join(d_.radices, " * "),
               d_.method == PrimeMethod::none ? "" : fmt::format(" there and back, {}", method_name(d_.method)));
    text_.line("// {} work-items a line, {} lines a group{}", d_.threads, d_.lines,
               d_.split ? ", real and imaginary parts exchanged in turn" : "");
    text_.raw(butterfly_text(std::set<std::size_t>(d_.radices.begin(), d_.radices.end()), d_.float64));
    text_.raw("\n");
    if (d_.samples != Samples::same) {
      text_.line("FUNCTION real2 converted({} z) {{ return make_real2((real)z.x, (real)z.y); }}",
                 sample_type(d_, true));
    }
    text_.line("#define LOAD(p) {}", d_.load.once ? "LOAD_ONCE(p)" : "(*(p))");
    text_.line("#define STORE(p, v) {}", d_.store.once ? "STORE_ONCE(p, v)" : "(*(p) = (v))");
  }

  std::string in_type() const {
    const bool pair = d_.load.values == Values::complex || d_.load.values == Values::half ||
                      d_.load.values == Values::hermitian || (d_.load.values == Values::pairs && even_lines(d_.load));
    return sample_type(d_, pair);
  }
  std::string out_type() const {
    const Values values = d_.store.values;
    const bool pair =
        values == Values::complex || values == Values::half || (values == Values::pairs && even_lines(d_.store));
    return pair ? "real2" : "real";
  }

  std::string signature() {
    const char* only = d_.in_place ? "" : " RESTRICT";
    std::string text = fmt::format("KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}(", d_.items(),
                                   std::max<std::size_t>(d_.resident, 1), kKernelName);
    text += fmt::format("GLOBAL const {}*{} in, GLOBAL {}*{} out, GLOBAL const real2* RESTRICT tables, ", in_type(),
                        only, out_type(), only);
    const auto factor = [&](FactorKind kind, const char* name) {
      if (kind == FactorKind::none) return;
      text += fmt::format("GLOBAL const {}* RESTRICT {}, ", kind == FactorKind::real ? "real" : "real2", name);
    };
    factor(d_.load.factor, "load_factor");
    factor(d_.store.factor, "store_factor");
    if (d_.method == PrimeMethod::rader) {
      text += "GLOBAL const uint* RESTRICT gather, GLOBAL const uint* RESTRICT scatter, ";
    }
    return text + "ulong in_offset, ulong out_offset, uint lines)";
  }

  // --- who does what ------------------------------------------------------------------------------------------------
  void place_items(Order order, const char* suffix) {
    if (d_.lines == 1) {
      text_.line("const int t{0} = item, c{0} = 0;", suffix);
    } else if (order == Order::lines) {
      text_.line("const int t{0} = item / {1}, c{0} = item % {1};", suffix, d_.lines);
    } else {
      text_.line("const int t{0} = item % {1}, c{0} = item / {1};", suffix, d_.threads);
    }
    text_.line("const uint line{0} = GROUP_ID(0) * {1} + c{0};", suffix, d_.lines);
    text_.line("const int here{0} = line{0} < lines;", suffix);
  }

  void declare() {
    const std::size_t bytes = local_bytes();
    if (bytes > 0) {
      text_.line("LOCAL_BLOCK(real, local_numbers, {});", bytes / (d_.float64 ? 8 : 4));
      if (!d_.split || d_.load.staged || d_.store.staged || d_.store.values == Values::half) {
        text_.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
      }
    }
    text_.line("const int item = LOCAL_ID(0);");
    place_items(d_.load_order, "");
    if (two_orders()) place_items(d_.store_order, "_out");
    text_.line("real2 v[{}];", held_);
  }

  // `offset` plus the line's digits times their strides.
  std::string line_offset(const std::string& line, const Address& at) {
    if (at.line.empty()) return "0";
    std::string sum;
    std::string rest = line;
    std::uint64_t divided = 1;
    for (std::size_t digit = 0; digit < at.line.size(); ++digit) {
      const bool last = digit + 1 == at.line.size();
      std::string value = divided == 1 ? line : fmt::format("{} / {}u", line, divided);
      if (!last) value = fmt::format("{} % {}u", value, d_.counts[digit]);
      if (at.line[digit] != 0) {
        sum += fmt::format("{}(ulong)({}) * {}ul", sum.empty() ? "" : " + ", value, at.line[digit]);
      }
      divided *= d_.counts[digit];
    }
    return sum.empty() ? "0" : sum;
  }

  // (index + constant) * stride, in 32 bits where that suffices.
  std::string scaled_index(const std::string& index, std::uint64_t constant, std::uint64_t stride,
                           std::size_t most_points) const {
    const bool small = stride * most_points <= kSmallIndex;
    const std::string wide = small ? "" : "(ulong)";
    const std::string end = small ? "" : "ul";
    std::string text =
        stride == 1 ? fmt::format("{}{}", wide, index) : fmt::format("{}{} * {}{}", wide, index, stride, end);
    if (constant > 0) text += fmt::format(" + {}{}", constant * stride, end);
    return text;
  }

  void open_round(const StageDesign& stage, std::size_t round, const std::string& also = "") {
    const bool partial = (round + 1) * d_.threads > stage.butterflies;
    text_.open();
    if (round == 0) {
      text_.line("const int i = {};", t(stage));
    } else {
      text_.line("const int i = {} + {};", t(stage), round * d_.threads);
    }
    guarded_ = partial || !also.empty();
    if (!guarded_) return;
    std::string condition = also;
    if (partial) condition += fmt::format("{}i < {}", condition.empty() ? "" : " && ", stage.butterflies);
    text_.open("if ({})", condition);
  }
  void close_round() {
    if (guarded_) text_.close();
    text_.close();
  }

  // --- which points are there
  // -----------------------------------------------------------------------------------------
  enum class Validity { none, some, all };
  // Of the points constant .. constant + butterflies - 1 of a line.
  static Validity validity_of(const PassSide& side, std::uint64_t constant, std::size_t butterflies) {
    if (side.valid == 0) return Validity::all;
    const bool any_line = side.valid_at.line.empty();
    if (constant * side.valid_at.point >= side.valid) return Validity::none;
    if (any_line && (constant + butterflies - 1) * side.valid_at.point < side.valid) return Validity::all;
    return Validity::some;
  }
  std::string valid_text(const PassSide& side, const char* name, std::uint64_t constant) const {
    const std::string index = scaled_index("i", constant, side.valid_at.point, side.valid);
    if (side.valid_at.line.empty()) return fmt::format("{} < {}", index, side.valid);
    return fmt::format("{}_number + ({}) < {}ul", name, index, side.valid);
  }

  // A barrier before local memory is written again.
  void local_free() {
    if (local_used_) text_.line("BARRIER();");
    local_used_ = true;
  }

  // --- load ---------------------------------------------------------------------------------------------------------
  // The value of point `p` (an expression: i plus a constant) of the line at `from`.
  std::string fetched(const std::string& index, std::uint64_t constant) {
    const std::string at = scaled_index(index, constant, d_.load.at.point, d_.points);
    switch (d_.load.values) {
      case Values::complex:
        if (d_.samples != Samples::same) return fmt::format("converted(LOAD(from + ({})))", at);
        return fmt::format("LOAD(from + ({}))", at);
      case Values::reals:
        return fmt::format("make_real2((real)LOAD(from + ({})), 0)", at);
      case Values::pairs:
        if (even_lines(d_.load)) {
          if (d_.samples == Samples::same) return fmt::format("LOAD(from + ({}))", at);
          return fmt::format("converted(LOAD(from + ({})))", at);
        }
        return fmt::format("make_real2((real)LOAD(from + 2 * ({0})), (real)LOAD(from + 2 * ({0}) + {1}))", at,
                           d_.load.pair);
      default:
        return "";
    }
  }

  std::string factored(const std::string& value, const std::string& index, std::uint64_t constant) {
    if (d_.load.factor == FactorKind::none) return value;
    const std::string at = scaled_index(index, constant, d_.load.factor_at.point, 2 * d_.points);
    if (d_.load.factor == FactorKind::complex) return fmt::format("multiply({}, load_factors[{}])", value, at);
    if (d_.load.values == Values::pairs) {
      return fmt::format("times_pair({0}, load_factors[2 * ({1})], load_factors[2 * ({1}) + {2}])", value, at,
                         d_.load.factor_pair);
    }
    return fmt::format("scaled({}, load_factors[{}])", value, at);
  }

  void load_pointers() {
    const bool halved = d_.load.values == Values::pairs && even_lines(d_.load);
    text_.line("GLOBAL const {}* const from = in + (in_offset + {}){};", in_type(), line_offset("line", d_.load.at),
               halved ? " / 2" : "");
    if (d_.load.valid > 0 && !d_.load.valid_at.line.empty()) {
      text_.line("const ulong load_number = {};", line_offset("line", d_.load.valid_at));
    }
    if (d_.load.factor == FactorKind::none) return;
    text_.line("GLOBAL const {}* const load_factors = load_factor + ({});",
               d_.load.factor == FactorKind::real ? "real" : "real2", line_offset("line", d_.load.factor_at));
  }

  void load() {
    if (d_.load.staged) stage_in();
    const StageDesign& first = stages_.front();
    text_.raw("\n");
    text_.line("// load");
    text_.open();
    if (d_.load.staged) {
      if (d_.load.factor != FactorKind::none) {
        text_.line("GLOBAL const {}* const load_factors = load_factor + ({});",
                   d_.load.factor == FactorKind::real ? "real" : "real2", line_offset("line", d_.load.factor_at));
      }
    } else {
      load_pointers();
    }
    for (std::size_t round = 0; round < first.rounds; ++round) {
      open_round(first, round, d_.load.staged ? "" : "here");
      for (std::size_t s = 0; s < first.radix; ++s) load_point(round * first.radix + s, s * first.butterflies);
      close_round();
    }
    if (d_.method == PrimeMethod::rader) {
      const std::string first_value = factored(fmt::format("local_points[c * {}]", pitch_), "0", 0);
      text_.line("first_point = {};", inverse() ? fmt::format("exchanged({})", first_value) : first_value);
    }
    text_.close();
  }

  void load_point(std::size_t slot, std::uint64_t constant) {
    const Validity validity = validity_of(d_.load, constant, stages_.front().butterflies);
    if (validity == Validity::none) {
      text_.line("v[{}] = make_real2(0, 0);", slot);
      return;
    }
    const bool check = validity == Validity::some;
    if (check) text_.open("if ({})", valid_text(d_.load, "load", constant));
    std::string value;
    const std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
    if (d_.method == PrimeMethod::rader) {
      value = fmt::format("local_points[c * {} + gather[{}]]", pitch_, place);
      if (d_.load.factor != FactorKind::none) value = factored(value, fmt::format("gather[{}]", place), 0);
    } else if (d_.load.staged) {
      value = factored(fmt::format("local_points[c * {} + {}]", pitch_, place), "i", constant);
    } else if (d_.load.values == Values::half) {
      load_half(slot, place, constant);
    } else if (d_.load.values == Values::hermitian) {
      load_hermitian(slot, place);
    } else {
      value = factored(fetched("i", constant), "i", constant);
    }
    if (!value.empty()) {
      if (inverse()) value = fmt::format("exchanged({})", value);
      text_.line("v[{}] = {};", slot, chirped(value, place));
    }
    if (check) {
      text_.close();
      text_.open("else");
      text_.line("v[{}] = make_real2(0, 0);", slot);
      text_.close();
    }
  }

  std::string chirped(const std::string& value, const std::string& place) const {
    if (d_.method != PrimeMethod::bluestein) return value;
    return fmt::format("multiply({}, LOAD_CACHED(tables + {} + {}))", value, tables_.chirp, place);
  }

  // An element of the half spectrum by its number, with its factor.
  std::string spectrum_value(const std::string& number) {
    const std::string at = scaled_index("(" + number + ")", 0, d_.load.at.point, 2 * d_.points);
    return factored(fmt::format("LOAD(from + ({}))", at), "(" + number + ")", 0);
  }

  void load_half(std::size_t slot, const std::string& place, std::uint64_t constant) {
    text_.open();
    text_.line("real2 a = {}, b = {};", spectrum_value(place),
               spectrum_value(fmt::format("{} - ({})", d_.length, place)));
    if (constant == 0) text_.line("if (i == 0) a.y = b.y = 0;");  // what a real signal cannot have
    text_.line("b.y = -b.y;");
    text_.line(
        "const real2 even = add(a, b), odd = multiply(subtract(a, b), conjugate(LOAD_CACHED(tables + {} + {})));",
        tables_.half, place);
    text_.line("v[{}] = exchanged(make_real2(even.x - odd.y, even.y + odd.x));", slot);
    text_.close();
  }

  void load_hermitian(std::size_t slot, const std::string& place) {
    text_.open();
    text_.line("const int mirrored = {} > {};", place, d_.points / 2);
    text_.line("const int k = mirrored ? {} - ({}) : {};", d_.points, place, place);
    text_.line("real2 a = {};", spectrum_value("k"));
    text_.line("if (mirrored) a.y = -a.y;");
    text_.line("if (k == 0{}) a.y = 0;", d_.points % 2 == 0 ? fmt::format(" || k == {}", d_.points / 2) : "");
    text_.line("v[{}] = {};", slot, chirped("exchanged(a)", place));
    text_.close();
  }

  // The group's lines in one run, 16 bytes an access where two points take them.
  void stage_in() {
    text_.raw("\n");
    text_.line("// the group's lines, one run of memory, into local memory");
    if (d_.method == PrimeMethod::rader) text_.line("real2 first_point, sum_of_points = make_real2(0, 0);");
    local_free();
    text_.open();
    run_limits();
    text_.line("GLOBAL const real2* const run = in + (in_offset + (ulong)GROUP_ID(0) * {}ul);", d_.lines * d_.points);
    each_of_run([&](bool wide) {
      if (wide) {
        text_.line("const float4 two = LOAD((GLOBAL const float4*)(run + e));");
        text_.line("local_points[e / {0} * {1} + e % {0}] = make_real2(two.x, two.y);", d_.points, pitch_);
        text_.line("local_points[(e + 1) / {0} * {1} + (e + 1) % {0}] = make_real2(two.z, two.w);", d_.points, pitch_);
      } else {
        text_.line("local_points[e / {0} * {1} + e % {0}] = LOAD(run + e);", d_.points, pitch_);
      }
    });
    text_.close();
    text_.line("BARRIER();");
  }

  void run_limits() {
    text_.line("const uint first = GROUP_ID(0) * {};", d_.lines);
    text_.line("const int limit = (int)(lines - first < {0} ? lines - first : {0}) * {1};", d_.lines, d_.points);
  }

  bool wide_runs() const { return !d_.float64 && d_.lines * d_.points % 2 == 0; }

  template <class Emit>
  void each_of_run(const Emit& emit) {
    const std::size_t each = wide_runs() ? 2 : 1, total = d_.lines * d_.points;
    const std::size_t turns = (total / each + d_.items() - 1) / d_.items();
    text_.line("UNROLL");
    text_.open("for (int turn = 0; turn < {}; ++turn)", turns);
    text_.line("const int e = {} * (item + turn * {});", each, d_.items());
    if (each == 2) {
      text_.open("if (e + 1 < limit)");
      emit(true);
      text_.close();
      text_.open("else if (e < limit)");
      emit(false);
      text_.close();
    } else {
      text_.open("if (e < limit)");
      emit(false);
      text_.close();
    }
    text_.close();
  }

  // --- stages -------------------------------------------------------------------------------------------------------
  std::string power(std::size_t s) const {
    if (!d_.few_twiddles || s < 4 || s % 4 == 0) return fmt::format("w{}", s);
    return fmt::format("multiply(w{}, w{})", s / 4 * 4, s % 4);
  }

  void stage(std::size_t number) {
    const StageDesign& stage = stages_[number];
    if (stage.radix == 1) return;
    text_.raw("\n");
    text_.line("// radix {} after {}", stage.radix, stage.before);
    for (std::size_t round = 0; round < stage.rounds; ++round) {
      const std::size_t slot = round * stage.radix;
      if (stage.before > 1) {
        open_round(stage, round);
        text_.line("GLOBAL const real2* const w = tables + {} + i % {};", stage.table, stage.before);
        const auto loads = loaded_powers(stage.radix, d_.few_twiddles);
        for (std::size_t m = 0; m < loads.size(); ++m) {
          text_.line("const real2 w{} = LOAD_CACHED(w + {});", loads[m], m * stage.before);
        }
        for (std::size_t s = 1; s < stage.radix; ++s) {
          text_.line("v[{0}] = multiply(v[{0}], {1});", slot + s, power(s));
        }
        close_round();
      }
      text_.line("dft{}(v{});", stage.radix, slot == 0 ? "" : fmt::format(" + {}", slot));
    }
  }

  // --- exchange -----------------------------------------------------------------------------------------------------
  static std::string placed(const ExchangeLayout& layout, const std::string& index) {
    if (layout.period == 0) return index;
    return fmt::format("({0} + {0} / {1} * {2})", index, layout.period, layout.extra);
  }
  std::string local_index(const ExchangeLayout& layout, const StageDesign& stage, const std::string& index) const {
    const std::string place = placed(layout, index);
    if (d_.lines == 1) return place;
    if (layout.lines_side_by_side) return fmt::format("{} * {} + {}", place, layout.lines, c(stage));
    return fmt::format("{} * {} + {}", c(stage), layout.pitch, place);
  }

  void write_local(const ExchangeLayout& layout, const StageDesign& stage, const char* array, const char* member) {
    const std::size_t run = stage.before * stage.radix;
    for (std::size_t round = 0; round < stage.rounds; ++round) {
      open_round(stage, round);
      if (stage.before == 1) {
        text_.line("const int p = i * {};", stage.radix);
      } else {
        text_.line("const int p = i / {0} * {1} + i % {0};", stage.before, run);
      }
      text_.line("const int to = {};", local_index(layout, stage, "p"));
      for (std::size_t u = 0; u < stage.radix; ++u) {
        text_.line("{}[to + {}] = v[{}]{};", array, u * stage.before * layout.step(), round * stage.radix + u, member);
      }
      close_round();
    }
  }

  void read_local(const ExchangeLayout& layout, const StageDesign& stage, const char* array, const char* member) {
    const bool even_steps = layout.period == 0 || stage.butterflies % layout.period == 0;
    for (std::size_t round = 0; round < stage.rounds; ++round) {
      open_round(stage, round);
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
      close_round();
    }
  }

  void exchange(std::size_t number) {
    const ExchangeLayout& layout = layouts_[number];
    const StageDesign &from = stages_[number], &to = stages_[number + 1];
    text_.raw("\n");
    text_.line("// exchange");
    const auto pass = [&](const char* array, const char* member) {
      local_free();
      write_local(layout, from, array, member);
      text_.line("BARRIER();");
      read_local(layout, to, array, member);
    };
    if (d_.split) {
      pass("local_numbers", ".x");
      pass("local_numbers", ".y");
    } else {
      pass("local_points", "");
    }
  }

  // Between the way there and the way back of a convolution.
  void middle() {
    const StageDesign& stage = stages_[d_.radices.size() - 1];
    text_.raw("\n");
    text_.line("// times the filter's spectrum, and back");
    if (d_.method == PrimeMethod::rader) text_.line("if (t == 0) sum_of_points = add(first_point, v[0]);");
    for (std::size_t round = 0; round < stage.rounds; ++round) {
      open_round(stage, round);
      text_.line("GLOBAL const real2* const filter = tables + {} + i;", tables_.filter);
      for (std::size_t u = 0; u < stage.radix; ++u) {
        const std::size_t slot = round * stage.radix + u;
        text_.line("v[{0}] = multiply(v[{0}], LOAD_CACHED(filter + {1}));", slot, u * stage.butterflies);
      }
      close_round();
    }
    if (d_.method == PrimeMethod::rader) text_.line("if (t == 0) v[0] = add(v[0], first_point);");
    for (std::size_t slot = 0; slot < stage.radix * stage.rounds; ++slot) {
      text_.line("v[{0}] = exchanged(v[{0}]);", slot);
    }
  }

  // --- store --------------------------------------------------------------------------------------------------------
  // Out of the world where every transform goes forward.
  // `place` is the point's number.
  std::string natural(const std::string& value, const std::string& place) const {
    if (d_.method == PrimeMethod::none) return inverse() ? fmt::format("exchanged({})", value) : value;
    const std::string back = chirped(fmt::format("exchanged({})", value), place);
    return inverse() ? fmt::format("exchanged({})", back) : back;
  }

  std::string store_factored(const std::string& value, const std::string& index, std::uint64_t constant) {
    if (d_.store.factor == FactorKind::none) {
      return d_.scale == 1 ? value : fmt::format("scaled({}, {})", value, literal(d_.scale, d_.float64));
    }
    const std::string at = scaled_index(index, constant, d_.store.factor_at.point, 2 * d_.points);
    if (d_.store.factor == FactorKind::complex) return fmt::format("multiply({}, store_factors[{}])", value, at);
    if (d_.store.values == Values::pairs) {
      return fmt::format("times_pair({0}, store_factors[2 * ({1})], store_factors[2 * ({1}) + {2}])", value, at,
                         d_.store.factor_pair);
    }
    return fmt::format("scaled({}, store_factors[{}])", value, at);
  }

  void store_point(const std::string& value, const std::string& index, std::uint64_t constant) {
    const std::string at = scaled_index(index, constant, d_.store.at.point, 2 * d_.points);
    const std::string last = store_factored(value, index, constant);
    switch (d_.store.values) {
      case Values::reals:
        text_.line("STORE(to + ({}), {}.x);", at, last);
        return;
      case Values::pairs:
        if (even_lines(d_.store)) {
          text_.line("STORE(to + ({}), {});", at, last);
        } else {
          text_.line("{{ const real2 z = {}; STORE(to + 2 * ({}), z.x); STORE(to + 2 * ({}) + {}, z.y); }}", last, at,
                     at, d_.store.pair);
        }
        return;
      default:
        text_.line("STORE(to + ({}), {});", at, last);
    }
  }

  void store_pointers(const char* line) {
    const bool halved = d_.store.values == Values::pairs && even_lines(d_.store);
    text_.line("GLOBAL {}* const to = out + (out_offset + {}){};", out_type(), line_offset(line, d_.store.at),
               halved ? " / 2" : "");
    if (d_.store.valid > 0 && !d_.store.valid_at.line.empty()) {
      text_.line("const ulong store_number = {};", line_offset(line, d_.store.valid_at));
    }
    if (d_.store.factor == FactorKind::none) return;
    text_.line("GLOBAL const {}* const store_factors = store_factor + ({});",
               d_.store.factor == FactorKind::real ? "real" : "real2", line_offset(line, d_.store.factor_at));
  }

  std::string table_product(const std::string& exponent) const {
    return fmt::format("multiply(LOAD_CACHED(tables + {} + ({} >> {})), LOAD_CACHED(tables + {} + ({} & {}u)))",
                       tables_.coarse, exponent, tables_.fine_bits, tables_.fine, exponent,
                       (std::size_t{1} << tables_.fine_bits) - 1);
  }

  // exp(-2 pi i c (i + u * butterflies) / order), the second part the same for all butterflies of a column.
  void twiddle(const StageDesign& stage) {
    const std::string line = two_orders() ? "line_out" : "line";
    const bool wide = d_.twiddle->order > (std::uint64_t{1} << 32);
    const char* type = wide ? "ulong" : "uint";
    text_.raw("\n");
    text_.line("// times exp(-2 pi i column k / {})", d_.twiddle->order);
    text_.open();
    text_.line("const {0} column = ({0})({1});", type, line_offset(line, d_.twiddle->column));
    const auto loads = loaded_powers(stage.radix, d_.few_twiddles);
    for (std::size_t m = 0; m < loads.size(); ++m) {
      if (tables_.step_table) {
        text_.line("const real2 w{} = LOAD_CACHED(tables + {} + column);", loads[m],
                   tables_.step + m * d_.twiddle->columns);
      } else {
        text_.line("const real2 w{} = {};", loads[m],
                   table_product(fmt::format("(column * {}u)", loads[m] * stage.butterflies)));
      }
    }
    for (std::size_t round = 0; round < stage.rounds; ++round) {
      open_round(stage, round);
      text_.line("const {0} exponent = column * ({0})i;", type);
      text_.line("const real2 w = {};", table_product("exponent"));
      text_.line("v[{0}] = multiply(v[{0}], w);", round * stage.radix);
      for (std::size_t u = 1; u < stage.radix; ++u) {
        text_.line("v[{0}] = multiply(v[{0}], multiply(w, {1}));", round * stage.radix + u, power(u));
      }
      close_round();
    }
    text_.close();
  }

  void store() {
    const StageDesign& last = stages_.back();
    const char* line = two_orders() ? "line_out" : "line";
    const char* here = two_orders() ? "here_out" : "here";
    if (d_.twiddle) twiddle(last);
    if (d_.store.values == Values::half) return store_half(last);
    if (d_.store.staged || d_.method == PrimeMethod::rader) return stage_out(last, line);
    text_.raw("\n");
    text_.line("// store");
    text_.open();
    store_pointers(line);
    for (std::size_t round = 0; round < last.rounds; ++round) {
      open_round(last, round, here);
      for (std::size_t u = 0; u < last.radix; ++u) {
        const std::uint64_t constant = u * last.butterflies;
        const Validity validity = validity_of(d_.store, constant, last.butterflies);
        if (validity == Validity::none) continue;
        const bool check = validity == Validity::some;
        if (check) text_.open("if ({})", valid_text(d_.store, "store", constant));
        const std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
        store_point(natural(fmt::format("v[{}]", round * last.radix + u), place), "i", constant);
        if (check) text_.close();
      }
      close_round();
    }
    text_.close();
  }

  void stage_out(const StageDesign& last, const char* line) {
    text_.raw("\n");
    text_.line("// into local memory, and from there in one run");
    local_free();
    text_.open();
    if (d_.store.factor != FactorKind::none) {
      text_.line("GLOBAL const {}* const store_factors = store_factor + ({});",
                 d_.store.factor == FactorKind::real ? "real" : "real2", line_offset(line, d_.store.factor_at));
    }
    const bool rader = d_.method == PrimeMethod::rader;
    for (std::size_t round = 0; round < last.rounds; ++round) {
      open_round(last, round);
      for (std::size_t u = 0; u < last.radix; ++u) {
        const std::uint64_t constant = u * last.butterflies;
        const Validity validity = validity_of(d_.store, constant, last.butterflies);
        if (validity == Validity::none) continue;
        const bool check = validity == Validity::some;
        if (check) text_.open("if ({})", valid_text(d_.store, "store", constant));
        std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
        const std::string value = natural(fmt::format("v[{}]", round * last.radix + u), place);
        if (rader) {
          text_.open();
          text_.line("const int k = (int)scatter[{}];", place);
          text_.line("local_points[{} * {} + k] = {};", c(last), pitch_, store_factored(value, "k", 0));
          text_.close();
        } else {
          text_.line("local_points[{} * {} + {}] = {};", c(last), pitch_, place, store_factored(value, "i", constant));
        }
        if (check) text_.close();
      }
      close_round();
    }
    if (rader) {
      // The sum was taken on the way there, where no half of an inverse had been exchanged back.
      const std::string sum = inverse() ? "exchanged(sum_of_points)" : "sum_of_points";
      text_.line("if (t == 0) local_points[c * {}] = {};", pitch_, store_factored(sum, "0", 0));
    }
    text_.close();
    text_.line("BARRIER();");
    text_.open();
    run_limits();
    text_.line("GLOBAL real2* const run = out + (out_offset + (ulong)GROUP_ID(0) * {}ul);", d_.lines * d_.points);
    each_of_run([&](bool wide) {
      if (wide) {
        text_.line("const real2 a = local_points[e / {0} * {1} + e % {0}];", d_.points, pitch_);
        text_.line("const real2 b = local_points[(e + 1) / {0} * {1} + (e + 1) % {0}];", d_.points, pitch_);
        text_.line("STORE((GLOBAL float4*)(run + e), make_float4(a.x, a.y, b.x, b.y));");
      } else {
        text_.line("STORE(run + e, local_points[e / {0} * {1} + e % {0}]);", d_.points, pitch_);
      }
    });
    text_.close();
  }

  // Pairs of values k and n - k of the transform of pairs of samples make the spectrum of the samples.
  void store_half(const StageDesign& last) {
    const std::size_t n = d_.length, pitch = half_pitch(), pairs = n / 2 + 1;
    text_.raw("\n");
    text_.line("// from the spectrum of pairs to that of the samples");
    local_free();
    for (std::size_t round = 0; round < last.rounds; ++round) {
      open_round(last, round);
      for (std::size_t u = 0; u < last.radix; ++u) {
        text_.line("local_points[{} * {} + i + {}] = v[{}];", c(last), pitch, u * last.butterflies,
                   round * last.radix + u);
      }
      close_round();
    }
    text_.line("BARRIER();");
    const std::size_t turns = (pairs + d_.threads - 1) / d_.threads;
    const char* line = two_orders() ? "line_out" : "line";
    const char* here = two_orders() ? "here_out" : "here";
    text_.open("if ({})", here);
    store_pointers(line);
    text_.line("UNROLL");
    text_.open("for (int turn = 0; turn < {}; ++turn)", turns);
    text_.line("const int k = {} + turn * {};", t(last), d_.threads);
    text_.open("if (k < {})", pairs);
    text_.line("const int mirror = {} - k;", n);
    text_.line("const real2 a = local_points[{} * {} + k];", c(last), pitch);
    text_.line("const real2 b = conjugate(local_points[{} * {} + (k == 0 ? 0 : mirror)]);", c(last), pitch);
    const std::string half = literal(0.5, d_.float64);
    text_.line("const real2 even = scaled(add(a, b), {});", half);
    text_.line("const real2 difference = scaled(subtract(a, b), {});", half);
    text_.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), LOAD_CACHED(tables + {} + k));",
               tables_.half);
    store_point("add(even, odd)", "k", 0);
    store_point("conjugate(subtract(even, odd))", "mirror", 0);
    text_.close();
    text_.close();
    text_.close();
  }

  const PassDesign& d_;
  std::vector<StageDesign> stages_;
  TableOffsets tables_;
  std::vector<ExchangeLayout> layouts_;
  std::size_t held_ = 1, pitch_ = 1;
  Text text_;
  bool guarded_ = false, local_used_ = false;
};

}  // namespace

PassText pass_text(const PassDesign& design) { return Writer(design).write(); }

std::size_t local_bytes_of(const PassDesign& design) { return Writer(design).local_bytes(); }

}  // namespace ridge::fft::on_device
