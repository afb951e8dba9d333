#include "fft/device/pass_writer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fft/device/butterfly.hpp"

namespace ridge::fft::on_device {

namespace {

constexpr std::uint64_t kSmallIndex = 0x7fffffff;

const char* method_name(PrimeMethod method) {
  return method == PrimeMethod::bluestein ? "Bluestein" : method == PrimeMethod::rader ? "Rader" : "filtered between";
}

// Lines of a run in local memory, so that work-items with a line each meet no other in its bank: an odd number of what
// one access takes, which is 16 bytes where lines have an even number of points.
std::size_t run_pitch(const PassDesign& design) {
  if (design.float64) return design.points | 1;
  return design.points % 4 == 0 ? design.points + 2 : design.points;
}

}  // namespace

std::string sample_type(const PassDesign& design, bool pair) {
  std::string scalar = design.samples == Samples::int8    ? "char"
                       : design.samples == Samples::int16 ? "short"
                       : design.float64                   ? "double"
                                                          : "float";
  return pair ? scalar + "2" : scalar;
}

bool even_lines(const PassSide& side) {
  const auto even = [](std::uint64_t stride) { return stride % 2 == 0; };
  return side.pair == 1 && std::all_of(side.at.line.begin(), side.at.line.end(), even);
}

PassWriter::PassWriter(const PassDesign& design, Text& text, std::size_t first_table)
    : d_(design), stages_(stages_of(design)), tables_(table_offsets(design)), text_(text) {
  // Two passes of one kernel share an array of tables.
  for (StageDesign& stage : stages_) stage.table += first_table;
  for (std::size_t* offset :
       {&tables_.coarse, &tables_.fine, &tables_.step, &tables_.filter, &tables_.chirp, &tables_.half}) {
    *offset += first_table;
  }
  for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
    if (seam(i)) {
      layouts_.emplace_back();
    } else {
      layouts_.push_back(exchange_layout(d_, stages_[i], stages_[i + 1], element_bytes()));
    }
  }
  for (const StageDesign& stage : stages_) held_ = std::max(held_, stage.radix * stage.rounds);
  pitch_ = run_pitch(d_);
}

std::size_t PassWriter::exchange_bytes() const {
  if (d_.shuffles) return 0;
  std::size_t bytes = 0;
  for (const ExchangeLayout& layout : layouts_) {
    const std::size_t elements = d_.parts > 1 ? layout.place(part() - 1) + 1 : layout.elements;
    bytes = std::max(bytes, elements * element_bytes());
  }
  return bytes;
}

std::size_t PassWriter::local_bytes() const {
  const std::size_t complex_bytes = d_.float64 ? 16 : 8;
  std::size_t bytes = exchange_bytes();
  if (d_.store.mapped) bytes = std::max(bytes, d_.lines * d_.points / 2 * complex_bytes);
  if (d_.ahead) return (bytes + 15) / 16 * 16 + d_.lines * d_.points * complex_bytes + 16;
  const bool runs = d_.load.staged || (d_.store.staged && d_.store.values != Values::half);
  if (runs) bytes = std::max(bytes, d_.lines * pitch_ * complex_bytes);
  if (d_.store.values == Values::half) bytes = std::max(bytes, d_.lines * half_pitch() * complex_bytes);
  return bytes;
}

PassText PassWriter::write() {
  if (d_.ahead) return write_ahead();
  title();
  header(std::set<std::size_t>(d_.radices.begin(), d_.radices.end()));
  text_.open("{}", signature());
  declare();
  if (d_.mirrored > 0) {
    row_and_mirror();
  } else {
    load();
    stages();
    store();
  }
  text_.close();
  const std::string name = fmt::format("fft {} points", d_.points);
  return {{.name = name, .text = text_.str()}, local_bytes()};
}

void PassWriter::header(const std::set<std::size_t>& radices) {
  text_.raw(butterfly_text(radices, d_.float64));
  text_.raw("\n");
  if (d_.samples != Samples::same) {
    text_.line("FUNCTION real2 converted({} z) {{ return make_real2((real)z.x, (real)z.y); }}", sample_type(d_, true));
  }
  text_.line("#define LOAD(p) {}", d_.load.once && !d_.ahead ? "LOAD_ONCE(p)" : "(*(p))");
  text_.line("#define STORE(p, v) {}", d_.store.once ? "STORE_ONCE(p, v)" : "(*(p) = (v))");
}

void PassWriter::title() {
  text_.line("// {} points, {}: {}{}", d_.points, inverse() ? "inverse" : "forward", fmt::join(d_.radices, " * "),
             d_.method == PrimeMethod::none ? "" : fmt::format(" there and back, {}", method_name(d_.method)));
  text_.line("// {} work-items a line, {} lines a group{}", d_.threads, d_.lines,
             d_.shuffles    ? ", exchanged by shuffles"
             : d_.parts > 1 ? fmt::format(", real and imaginary parts exchanged in {} turns each", d_.parts)
             : d_.split     ? ", real and imaginary parts exchanged in turn"
                            : "");
}

std::string PassWriter::in_type() const {
  const bool pair = d_.load.values == Values::complex || d_.load.values == Values::half ||
                    d_.load.values == Values::hermitian || (d_.load.values == Values::pairs && even_lines(d_.load));
  return sample_type(d_, pair);
}

std::string PassWriter::out_type() const {
  const Values values = d_.store.values;
  const bool pair =
      values == Values::complex || values == Values::half || (values == Values::pairs && even_lines(d_.store));
  return pair ? "real2" : "real";
}

std::string PassWriter::signature() {
  const char* only = d_.in_place ? "" : " RESTRICT";
  std::string text = fmt::format("KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}(", d_.items(),
                                 std::max<std::size_t>(d_.resident, 1), kKernelName);
  text += fmt::format("GLOBAL const {}*{} in, GLOBAL {}*{} out, GLOBAL const real2* RESTRICT tables, ", in_type(), only,
                      out_type(), only);
  const auto factor = [&](FactorKind kind, const char* name) {
    if (kind == FactorKind::none) return;
    text += fmt::format("GLOBAL const {}* RESTRICT {}, ", kind == FactorKind::real ? "real" : "real2", name);
  };
  factor(d_.load.factor, "load_factor");
  factor(d_.store.factor, "store_factor");
  if (d_.method == PrimeMethod::rader) {
    text += "GLOBAL const uint* RESTRICT gather, GLOBAL const uint* RESTRICT scatter, ";
  }
  if (d_.method == PrimeMethod::filter) text += "GLOBAL const real2* RESTRICT filter_table, ";
  text += "ulong in_offset, ulong out_offset, uint lines";
  if (d_.load.mapped) text += ", TILE_MAP(in_map)";
  if (d_.store.mapped) text += ", TILE_MAP(out_map)";
  return text + ")";
}

void PassWriter::place_items(Order order, const char* suffix) {
  if (d_.lines == 1) {
    text_.line("const int t{0} = item, c{0} = 0;", suffix);
  } else if (order == Order::lines) {
    text_.line("const int t{0} = item / {1}, c{0} = item % {1};", suffix, d_.lines);
  } else {
    text_.line("const int t{0} = item % {1}, c{0} = item / {1};", suffix, d_.threads);
  }
  text_.line("const uint line{0} = {2} * {1} + c{0};", suffix, d_.lines, group_);
  text_.line("const int here{0} = {1};", suffix, d_.ahead ? "1" : fmt::format("line{} < lines", suffix));
}

void PassWriter::declare() {
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

std::string PassWriter::line_offset(const std::string& line, const Address& at) {
  if (at.line.empty()) return "0";
  std::string sum;
  std::string rest = line;
  std::uint64_t divided = 1;
  for (std::size_t digit = 0; digit < at.line.size(); ++digit) {
    const bool last = digit + 1 == at.line.size();
    std::string value = divided == 1 ? line : fmt::format("{} / {}u", line, divided);
    if (!last) value = fmt::format("{} % {}u", value, d_.counts[digit]);
    if (digit == 0 && d_.mirrored > 0) value = line == "line" ? "row" : "row_out";
    if (at.line[digit] != 0) {
      sum += fmt::format("{}(ulong)({}) * {}ul", sum.empty() ? "" : " + ", value, at.line[digit]);
    }
    divided *= d_.counts[digit];
  }
  return sum.empty() ? "0" : sum;
}

std::string PassWriter::table_offset(const std::string& line, const Address& at) {
  const std::string offset = line_offset(line, at);
  if (d_.ahead || at.line.empty() || at.line.back() == 0) return offset;
  return fmt::format("{} ? {} : 0", line == "line_out" ? "here_out" : "here", offset);
}

std::string PassWriter::scaled_index(const std::string& index, std::uint64_t constant, std::uint64_t stride,
                                     std::size_t most_points) const {
  const bool small = stride * most_points <= kSmallIndex;
  const std::string wide = small ? "" : "(ulong)";
  const std::string end = small ? "" : "ul";
  std::string text =
      stride == 1 ? fmt::format("{}{}", wide, index) : fmt::format("{}{} * {}{}", wide, index, stride, end);
  if (constant > 0) text += fmt::format(" + {}{}", constant * stride, end);
  return text;
}

void PassWriter::open_round(const StageDesign& stage, std::size_t round, const std::string& also) {
  const bool partial = (round + 1) * d_.threads > stage.butterflies;
  const bool mirror = mirror_ && &stage == &stages_.back();
  std::string number = t(stage);
  if (round > 0) number += fmt::format(" + {}", round * d_.threads);
  if (mirror) number = fmt::format("{} - ({})", stage.butterflies - 1, number);
  text_.open();
  text_.line("const int i = {};", number);
  guarded_ = partial || !also.empty();
  if (!guarded_) return;
  std::string condition = also;
  if (partial) {
    condition += condition.empty() ? "" : " && ";
    condition += mirror ? std::string("i >= 0") : fmt::format("i < {}", stage.butterflies);
  }
  text_.open("if ({})", condition);
}

void PassWriter::close_round() {
  if (guarded_) text_.close();
  text_.close();
}

PassWriter::Validity PassWriter::validity_of(const PassSide& side, std::uint64_t constant, std::size_t butterflies) {
  if (side.valid == 0) return Validity::all;
  const bool any_line = side.valid_at.line.empty();
  if (constant * side.valid_at.point >= side.valid) return Validity::none;
  if (any_line && (constant + butterflies - 1) * side.valid_at.point < side.valid) return Validity::all;
  return Validity::some;
}

std::string PassWriter::valid_text(const PassSide& side, const char* name, std::uint64_t constant) const {
  const std::string index = scaled_index("i", constant, side.valid_at.point, side.valid);
  if (side.valid_at.line.empty()) return fmt::format("{} < {}", index, side.valid);
  return fmt::format("{}_number + ({}) < {}ul", name, index, side.valid);
}

void PassWriter::local_free() {
  if (local_used_) text_.line("BARRIER();");
  local_used_ = true;
}

PassText pass_text(const PassDesign& design) {
  Text text;
  return PassWriter(design, text).write();
}

std::size_t local_bytes_of(const PassDesign& design) {
  Text text;
  return PassWriter(design, text).local_bytes();
}

}  // namespace ridge::fft::on_device
