// Writes loads of points: conversions, factors, half spectra, boxes and zeros beyond the valid points.
#include "fft/device/pass/text/load_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fft/device/pass/real_kind.hpp"

namespace ridge::fft::on_device {

std::string LoadWriter::loaded(const std::string& pointer, bool pair) const {
  if (d_.load.storage != Storage::same) return fmt::format("{}(LOAD({}))", pair ? "numbers" : "number", pointer);
  if (!pair) return fmt::format("(real)LOAD({})", pointer);
  const std::string value = fmt::format("LOAD({})", pointer);
  return d_.samples == Samples::same ? value : fmt::format("converted({})", value);
}

std::string LoadWriter::fetched(const std::string& index, std::uint64_t constant) {
  if (d_.real_to_real()) return real_kind_fetched(d_, tables_.kind, index, constant, stages_.front().butterflies);
  if (partition_pointers_) return loaded((*partition_pointers_)(constant * d_.load.at.point), true);
  // `valid` counts the reals of a line, two per pair.
  const std::string at =
      p_.scaled_index(index, constant, d_.ahead && !d_.mirrored() ? d_.lines : d_.load.at.point, 2 * d_.points);
  switch (d_.load.values) {
    case Values::complex:
      return loaded(fmt::format("from + ({})", at), true);
    case Values::reals:
      return fmt::format("make_real2({}, 0)", loaded(fmt::format("from + ({})", at), false));
    case Values::pairs:
      if (even_lines(d_.load)) return loaded(fmt::format("from + ({})", at), true);
      return fmt::format("make_real2({}, {})", loaded(fmt::format("from + 2 * ({})", at), false),
                         loaded(fmt::format("from + 2 * ({}) + {}", at, d_.load.pair), false));
    default:
      return "";
  }
}

std::string LoadWriter::factored(const std::string& value, const std::string& index, std::uint64_t constant) {
  if (d_.load.factor == FactorKind::none) return value;
  const std::string at = p_.scaled_index(index, constant, d_.load.factor_at.point, 2 * d_.points);
  if (d_.load.factor == FactorKind::complex) return fmt::format("multiply({}, load_factors[{}])", value, at);
  if (d_.load.values == Values::pairs) {
    return fmt::format("times_pair({0}, load_factors[2 * ({1})], load_factors[2 * ({1}) + {2}])", value, at,
                       d_.load.factor_pair);
  }
  return fmt::format("scaled({}, load_factors[{}])", value, at);
}

void LoadWriter::load_pointers() {
  if (d_.ahead && d_.mirror_rows() > 0) return copied_rows();
  if (d_.ahead) {
    text_.line("LOCAL const real2* const from = copied{};", d_.lines > 1 ? " + c" : "");
    return factor_pointer();
  }
  if (d_.folded()) return folded_pointers();
  const bool halved = d_.load.values == Values::pairs && even_lines(d_.load);
  text_.line("GLOBAL const {}* const from = in + (in_offset + {}){};", p_.in_type(), p_.line_offset("line", d_.load.at),
             halved ? " / 2" : "");
  if (d_.load.valid > 0 && !d_.load.valid_at.line.empty()) {
    text_.line("const ulong load_number = {};", p_.line_offset("line", d_.load.valid_at));
  }
  factor_pointer();
}

void LoadWriter::factor_pointer() {
  if (d_.load.factor == FactorKind::none) return;
  text_.line("GLOBAL const {}* const load_factors = load_factor + ({});",
             d_.load.factor == FactorKind::real ? "real" : "real2", p_.table_offset("line", d_.load.factor_at));
}

void LoadWriter::load() {
  if (d_.paired_lines()) return load_paired_lines();
  if (d_.load.staged) d_.real_to_real() ? runs_.quads_in() : runs_.stage_in();
  const StageDesign& first = stages_.front();
  text_.raw("\n");
  text_.line("// load");
  text_.open();
  if (d_.load.staged) {
    factor_pointer();
  } else if (!d_.load.partition_local) {
    load_pointers();
  }
  for (std::size_t round = 0; round < first.rounds; ++round) {
    p_.open_round(first, round, d_.load.staged ? "" : "in_range");
    if (d_.load.partition_local) {
      partition_pointers_.emplace(text_, d_.float64, "from", "GLOBAL const real2", "in + in_offset");
      partition_pointers_->begin(
          d_.folded() ? partition_row()
                      : fmt::format("{} + i * {}", p_.line_offset("line", d_.load.at), d_.load.at.point));
    }
    for (std::size_t s = 0; s < first.radix; ++s) load_point(round * first.radix + s, s * first.butterflies);
    p_.close_round();
  }
  if (d_.fold_lanes()) exchange_folded();
  if (d_.convolves_by(Convolution::rader)) {
    const std::string first_value = factored(fmt::format("local_points[c * {}]", p_.pitch), "0", 0);
    text_.line("first_point = {};", p_.inverse() ? fmt::format("exchanged({})", first_value) : first_value);
  }
  text_.close();
}

void LoadWriter::load_box(std::size_t slot, std::uint64_t constant) {
  const BoxPlace place = box_place(d_.load, d_.length, constant, stages_.front().butterflies);
  if (place.validity == Validity::none) return text_.line("v[{}] = make_real2(0, 0);", slot);
  text_.open();
  text_.line("const int q = {};", place.index);
  std::string value = factored(fetched("q", 0), "q", 0);
  if (p_.inverse()) value = fmt::format("exchanged({})", value);
  if (place.validity == Validity::some) value = fmt::format("q < {} ? {} : make_real2(0, 0)", d_.load.box_count, value);
  text_.line("v[{}] = {};", slot, value);
  text_.close();
}

void LoadWriter::load_point(std::size_t slot, std::uint64_t constant) {
  if (d_.load.box_count > 0 && d_.load.values != Values::hermitian) return load_box(slot, constant);
  const Validity validity = validity_of(d_.load, constant, stages_.front().butterflies);
  if (validity == Validity::none) {
    text_.line("v[{}] = make_real2(0, 0);", slot);
    return;
  }
  const bool check = validity == Validity::some;
  if (check) text_.open("if ({})", p_.valid_text(d_.load, "load", constant));
  std::string value;
  const std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
  if (d_.convolves_by(Convolution::rader)) {
    value = fmt::format("local_points[c * {} + gather[{}]]", p_.pitch, place);
    if (d_.load.factor != FactorKind::none) value = factored(value, fmt::format("gather[{}]", place), 0);
  } else if (d_.load.staged) {
    value = factored(fmt::format("local_points[c * {} + {}]", p_.pitch, place), "i", constant);
  } else if (d_.folded()) {
    partition_pointers_ ? text_.line("v[{}] = {};", slot, loaded((*partition_pointers_)(constant / 2), true))
                        : load_folded(slot, place);
  } else if (d_.load.values == Values::half) {
    load_half(slot, place, constant);
  } else if (d_.load.values == Values::hermitian) {
    load_hermitian(slot, place);
  } else {
    value = factored(fetched("i", constant), "i", constant);
  }
  if (!value.empty()) {
    if (p_.inverse()) value = fmt::format("exchanged({})", value);
    text_.line("v[{}] = {};", slot, p_.chirped(value, place));
  }
  if (check) {
    text_.close();
    text_.open("else");
    text_.line("v[{}] = make_real2(0, 0);", slot);
    text_.close();
  }
}

std::string LoadWriter::spectrum_value(const std::string& number) {
  if (d_.real_to_real()) return fmt::format("value_at(from, tables + {}, {})", tables_.kind, number);
  const std::string at = p_.scaled_index("(" + number + ")", 0, d_.load.at.point, 2 * d_.points);
  return factored(loaded(fmt::format("from + ({})", at), true), "(" + number + ")", 0);
}

// Value `number`, which is in `low` .. `high`; zero if it is not stored.
std::string LoadWriter::kept_value(const std::string& number, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t kept = d_.load.valid;
  if (kept == 0 || high < kept) return spectrum_value(number);
  if (low >= kept) return "make_real2(0, 0)";
  return fmt::format("{} < {} ? {} : make_real2(0, 0)", number, kept, spectrum_value(number));
}

void LoadWriter::load_half(std::size_t slot, const std::string& place, std::uint64_t constant) {
  const std::uint64_t last = std::min<std::uint64_t>(constant + stages_.front().butterflies - 1, d_.length);
  if (d_.load.valid > 0 && constant >= d_.load.valid && d_.length - last >= d_.load.valid) {
    text_.line("v[{}] = make_real2(0, 0);", slot);
    return;
  }
  text_.open();
  text_.line("real2 a = {}, b = {};", kept_value(place, constant, last),
             kept_value(fmt::format("{} - ({})", d_.length, place), d_.length - last, d_.length - constant));
  if (constant == 0)
    text_.line("if (i == 0) a.y = b.y = 0;");  // the imaginary part of these values is zero for a real signal
  text_.line("b.y = -b.y;");
  text_.line("const real2 even = add(a, b), odd = multiply(subtract(a, b), conjugate(LOAD_CACHED(tables + {} + {})));",
             tables_.half, place);
  text_.line("v[{}] = exchanged(make_real2(even.x - odd.y, even.y + odd.x));", slot);
  text_.close();
}

void LoadWriter::load_hermitian(std::size_t slot, const std::string& place) {
  text_.open();
  text_.line("const int mirrored = {} > {};", place, d_.points / 2);
  text_.line("const int k = mirrored ? {} - ({}) : {};", d_.points, place, place);
  if (d_.load.box_count > 0) {
    text_.line("const int q = k - {};", d_.load.box_first);
    text_.line("real2 a = q >= 0 && q < {} ? {} : make_real2(0, 0);", d_.load.box_count, spectrum_value("q"));
  } else {
    text_.line("real2 a = {};", spectrum_value("k"));
  }
  text_.line("if (mirrored) a.y = -a.y;");
  text_.line("if (k == 0{}) a.y = 0;", d_.points % 2 == 0 ? fmt::format(" || k == {}", d_.points / 2) : "");
  text_.line("v[{}] = {};", slot, p_.chirped("exchanged(a)", place));
  text_.close();
}

}  // namespace ridge::fft::on_device
