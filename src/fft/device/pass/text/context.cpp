// Names the variables of a pass kernel, and writes its head, indices and addresses.
#include "fft/device/pass/text/context.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "fft/device/pass/real_kind.hpp"

namespace ridge::fft::on_device {

namespace {

constexpr std::uint64_t kSmallIndex = 0x7fffffff;

std::string filter_function(const PassDesign& design) {
  return design.convolution() ? design.convolution()->filter_function : std::string();
}

const char* method_name(Convolution::Method method) {
  return method == Convolution::bluestein ? "Bluestein" : method == Convolution::rader ? "Rader" : "filtered between";
}

// Distance of lines in local memory without bank conflicts: an odd number of accesses, which are 16 bytes if the number
// of points is even.
std::size_t run_pitch(const PassDesign& design) {
  if (design.float64) return design.points | 1;
  return design.points % 4 == 0 ? design.points + 2 : design.points;
}

}  // namespace

std::string factor_parameter(FactorKind kind, const char* name) {
  if (kind == FactorKind::none) return {};
  return fmt::format("GLOBAL const {}* RESTRICT {}, ", kind == FactorKind::real ? "real" : "real2", name);
}

std::string sample_type(const PassDesign& design, bool pair) {
  std::string scalar = design.samples == Samples::int8    ? "char"
                       : design.samples == Samples::int16 ? "short"
                       : design.float64                   ? "double"
                                                          : "float";
  return pair ? scalar + "2" : scalar;
}

std::string float16_text(Storage storage) {
  const char* word = storage == Storage::float16 ? "HALF" : "BFLOAT";
  return fmt::format(
      "FUNCTION real number(ushort bits) {{ return FLOAT_OF_{0}(bits); }}\n"
      "FUNCTION real2 numbers(ushort2 z) {{ return make_real2(number(z.x), number(z.y)); }}\n"
      "FUNCTION ushort stored(real x) {{ return {0}_OF_FLOAT(x); }}\n"
      "FUNCTION ushort2 stored2(real2 z) {{ ushort2 bits; bits.x = stored(z.x); bits.y = stored(z.y); return bits; "
      "}}\n",
      word);
}

bool even_lines(const PassSide& side) {
  const auto even = [](std::uint64_t stride) { return stride % 2 == 0; };
  return side.pair == 1 && std::all_of(side.at.line.begin(), side.at.line.end(), even);
}

PassShape::PassShape(const PassDesign& pass) : design(pass), stages(stages_of(pass)) {
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    if (seam(i)) {
      layouts.emplace_back();
    } else {
      layouts.push_back(exchange_layout(design, stages[i], stages[i + 1], element_bytes()));
    }
  }
  for (const StageDesign& stage : stages) held = std::max(held, stage.radix * stage.rounds);
  pitch = run_pitch(design);
}

PassContext::PassContext(const PassDesign& pass, codegen::Text& text, std::size_t first_table)
    : PassShape(pass), tables(table_offsets(pass)), source(text) {
  // Two passes of one kernel share an array of tables.
  for (StageDesign& stage : stages) stage.table += first_table;
  for (std::size_t* offset :
       {&tables.coarse, &tables.fine, &tables.step, &tables.filter, &tables.chirp, &tables.half, &tables.kind}) {
    *offset += first_table;
  }
}

std::size_t PassShape::exchange_bytes() const {
  if (design.shuffles) return 0;
  std::size_t bytes = 0;
  for (const ExchangeLayout& layout : layouts) {
    const std::size_t elements = design.parts > 1 ? layout.place(part() - 1) + 1 : layout.elements;
    bytes = std::max(bytes, elements * element_bytes());
  }
  return bytes;
}

std::size_t PassShape::local_bytes() const {
  const std::size_t complex_bytes = design.float64 ? 16 : 8;
  std::size_t bytes = exchange_bytes();
  if (design.store.mapped) bytes = std::max(bytes, design.lines * design.points / 2 * complex_bytes);
  if (design.ahead) return (bytes + 15) / 16 * 16 + design.lines * design.points * complex_bytes + 16;
  const bool runs = design.load.staged || (design.store.staged && design.store.values != Values::half);
  if (runs) bytes = std::max(bytes, design.lines * pitch * complex_bytes);
  if (design.paired_lines()) bytes = std::max(bytes, pair_bytes(design));
  if (design.store.values == Values::half || (design.folded() && inverse())) {
    bytes = std::max(bytes, design.lines * half_pitch() * complex_bytes);
  }
  if (design.real_to_real() && design.store.staged && design.store.values == Values::half) {
    bytes = std::max(bytes, design.lines * real_kind_pitch(design) * complex_bytes / 2);
  }
  return bytes;
}

void PassContext::header(const std::set<std::size_t>& radices) {
  source.raw(codegen::butterfly_text(radices, design.float64, codegen::Roots::apart_assembled));
  source.raw("\n" + filter_function(design));
  if (design.samples != Samples::same) {
    source.line("FUNCTION real2 converted({} z) {{ return make_real2((real)z.x, (real)z.y); }}",
                sample_type(design, true));
  }
  source.line("#define LOAD(p) {}", design.load.once && !design.ahead ? "LOAD_ONCE(p)" : "(*(p))");
  source.line("#define STORE(p, v) {}", design.store.once ? "STORE_ONCE(p, v)" : "(*(p) = (v))");
  float16();
  if (design.real_to_real()) source.raw(real_kind_functions(design));
}

void PassContext::title() {
  source.line(
      "// {} points, {}: {}{}", design.points, inverse() ? "inverse" : "forward", fmt::join(design.radices, " * "),
      design.convolution() ? fmt::format(" forward and inverse, {}", method_name(design.convolution()->method)) : "");
  source.line("// {} work-items per line, {} lines per group{}", design.threads, design.lines,
              design.shuffles    ? ", exchanged by shuffles"
              : design.parts > 1 ? fmt::format(", real and imaginary parts exchanged in {} parts each", design.parts)
              : design.split     ? ", real and imaginary parts exchanged one after another"
                                 : "");
}

void PassContext::float16() {
  const Storage storage = design.load.storage != Storage::same ? design.load.storage : design.store.storage;
  if (storage == Storage::same) return;
  source.raw(float16_text(storage));
}

std::string PassContext::in_type() const {
  if (design.real_to_real()) return sample_type(design, false);
  const bool pair = design.load.values == Values::complex || design.load.values == Values::half ||
                    design.load.values == Values::hermitian ||
                    (design.load.values == Values::pairs && even_lines(design.load));
  if (design.load.storage != Storage::same) return pair ? "ushort2" : "ushort";
  return sample_type(design, pair);
}

std::string PassContext::out_type() const {
  if (design.real_to_real()) return "real";
  const Values values = design.store.values;
  const bool pair =
      values == Values::complex || values == Values::half || (values == Values::pairs && even_lines(design.store));
  if (design.store.storage != Storage::same) return pair ? "ushort2" : "ushort";
  return pair ? "real2" : "real";
}

std::string PassContext::signature() const {
  const char* only = design.in_place ? "" : " RESTRICT";
  std::string text = fmt::format("KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}(", design.items(),
                                 std::max<std::size_t>(design.resident, 1), kKernelName);
  text += fmt::format("GLOBAL const {}*{} in, GLOBAL {}*{} out, GLOBAL const real2* RESTRICT tables, ", in_type(), only,
                      out_type(), only);
  text += factor_parameter(design.load.factor, "load_factor");
  text += factor_parameter(design.store.factor, "store_factor");
  if (design.convolves_by(Convolution::rader)) {
    text += "GLOBAL const uint* RESTRICT gather, GLOBAL const uint* RESTRICT scatter, ";
  }
  if (design.convolves_by(Convolution::filter)) {
    text +=
        fmt::format("GLOBAL const {}* RESTRICT filter_table, ", filter_function(design).empty() ? "real2" : "double");
  }
  text += "ulong in_offset, ulong out_offset, uint lines";
  if (design.load.mapped) text += ", TILE_MAP(in_map)";
  if (design.store.mapped) text += ", TILE_MAP(out_map)";
  return text + ")";
}

void PassContext::place_items(Order order, const char* suffix) {
  if (design.lines == 1) {
    source.line("const int t{0} = item, c{0} = 0;", suffix);
  } else if (order == Order::lines) {
    source.line("const int t{0} = item / {1}, c{0} = item % {1};", suffix, design.lines);
  } else {
    source.line("const int t{0} = item % {1}, c{0} = item / {1};", suffix, design.threads);
  }
  source.line("const uint line{0} = {2} * {1} + c{0};", suffix, design.lines, group);
  if (design.across > 0) {
    const std::uint64_t side = design.counts[0];
    source.line("const int in_range{0} = line{0} % {1}u + line{0} / {2}u % {3}u * {1}u < {4}u;", suffix, side,
                side * design.counts[1], design.counts[2], design.across);
    return;
  }
  source.line("const int in_range{0} = {1};", suffix, design.ahead ? "1" : fmt::format("line{} < lines", suffix));
}

void PassContext::declare() {
  const std::size_t bytes = local_bytes();
  if (bytes > 0) {
    source.line("LOCAL_BLOCK(real, local_numbers, {});", bytes / (design.float64 ? 8 : 4));
    if (!design.split || design.folded() || design.load.staged || design.store.staged ||
        design.store.values == Values::half) {
      source.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
    }
  }
  source.line("AFTER_PREVIOUS_KERNEL();");
  source.line("const int item = LOCAL_ID(0);");
  place_items(design.load_order, "");
  if (two_orders()) place_items(design.store_order, "_out");
  source.line("real2 v[{}];", held);
}

std::string PassContext::line_offset(const std::string& line, const Address& at) const {
  if (at.line.empty()) return "0";
  std::string sum;
  std::string rest = line;
  std::uint64_t divided = 1;
  for (std::size_t dimension = 0; dimension < at.line.size(); ++dimension) {
    const bool last = dimension + 1 == at.line.size();
    std::string value = divided == 1 ? line : fmt::format("{} / {}u", line, divided);
    if (!last) value = fmt::format("{} % {}u", value, design.counts[dimension]);
    if (dimension == 0 && design.mirror_rows() > 0) value = line == "line" ? "row" : "row_out";
    if (at.line[dimension] != 0) {
      sum += fmt::format("{}(ulong)({}) * {}ul", sum.empty() ? "" : " + ", value, at.line[dimension]);
    }
    divided *= design.counts[dimension];
  }
  return sum.empty() ? "0" : sum;
}

std::string PassContext::table_offset(const std::string& line, const Address& at) const {
  const std::string offset = line_offset(line, at);
  if (design.ahead || at.line.empty() || at.line.back() == 0) return offset;
  return fmt::format("{} ? {} : 0", line == "line_out" ? "in_range_out" : "in_range", offset);
}

std::string PassContext::scaled_index(const std::string& index, std::uint64_t constant, std::uint64_t stride,
                                      std::size_t most_points) {
  const bool small = stride * most_points <= kSmallIndex;
  const std::string wide = small ? "" : "(ulong)";
  const std::string end = small ? "" : "ul";
  std::string text =
      stride == 1 ? fmt::format("{}{}", wide, index) : fmt::format("{}{} * {}{}", wide, index, stride, end);
  if (constant > 0) text += fmt::format(" + {}{}", constant * stride, end);
  return text;
}

void PassContext::open_round(const StageDesign& stage, std::size_t round, const std::string& also) {
  const bool partial = (round + 1) * design.threads > stage.butterflies;
  const bool backwards = mirror && &stage == &stages.back();
  std::string number = t(stage);
  if (round > 0) number += fmt::format(" + {}", round * design.threads);
  if (backwards) number = fmt::format("{} - ({})", stage.butterflies - 1, number);
  source.open();
  source.line("const int i = {};", number);
  guarded_ = partial || !also.empty();
  if (!guarded_) return;
  std::string condition = also;
  if (partial) {
    condition += condition.empty() ? "" : " && ";
    condition += backwards ? std::string("i >= 0") : fmt::format("i < {}", stage.butterflies);
  }
  source.open("if ({})", condition);
}

void PassContext::close_round() {
  if (guarded_) source.close();
  source.close();
}

Validity validity_of(const PassSide& side, std::uint64_t constant, std::size_t butterflies) {
  if (side.valid == 0 || side.values == Values::half)
    return Validity::all;  // load_half and store_half check the limits themselves
  const bool any_line = side.valid_at.line.empty();
  if (constant * side.valid_at.point >= side.valid) return Validity::none;
  if (any_line && (constant + butterflies - 1) * side.valid_at.point < side.valid) return Validity::all;
  return Validity::some;
}

BoxPlace box_place(const PassSide& side, std::size_t length, std::size_t constant, std::size_t butterflies) {
  const std::size_t first = side.box_first, count = side.box_count, last = std::min(constant + butterflies, length) - 1;
  const auto place = [&](std::size_t point) { return point < first ? point + length - first : point - first; };
  const std::string point = fmt::format("i + {}", constant);
  if (constant < first && last >= first) {  // the box begins among these points
    return {fmt::format("{0} < {1} ? {0} + {2} : {0} - {1}", point, first, length - first),
            count == length ? Validity::all : Validity::some};
  }
  const auto shift = static_cast<std::ptrdiff_t>(place(constant));
  return {fmt::format("i + {}", shift), place(last) < count        ? Validity::all
                                        : place(constant) >= count ? Validity::none
                                                                   : Validity::some};
}

std::string PassContext::valid_text(const PassSide& side, const char* name, std::uint64_t constant) {
  const std::string index = scaled_index("i", constant, side.valid_at.point, side.valid);
  if (side.valid_at.line.empty()) return fmt::format("{} < {}", index, side.valid);
  return fmt::format("{}_number + ({}) < {}ul", name, index, side.valid);
}

std::string PassContext::chirped(const std::string& value, const std::string& place) const {
  if (!design.convolves_by(Convolution::bluestein)) return value;
  return fmt::format("multiply({}, LOAD_CACHED(tables + {} + {}))", value, tables.chirp, place);
}

void PassContext::local_free() {
  if (local_used_) source.line("BARRIER();");
  local_used_ = true;
}

}  // namespace ridge::fft::on_device
