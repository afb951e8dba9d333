// The `registers` FIR: the delay line of a channel is in registers, which are renamed instead of shifted. The loop over
// time is unrolled until the names repeat. Critical sampling only.
#include "filterbank/device/fir/any_size.hpp"

#include <algorithm>
#include <numeric>

namespace ridge::filterbank::on_device {

extern const Fir kRegistersFir;

namespace {

class RegistersWriter final : public AnySizeWriter {
 public:
  using AnySizeWriter::AnySizeWriter;

 protected:
  void filter() override {
    const std::size_t taps = g_.taps;
    text_.raw("#define LOAD_ROW(p) LOAD_CACHED(p)\n");
    row_pointers("begin");
    for (std::size_t j = 0; j < each(); ++j) {
      text_.line("float delay{}[{}][{}];", j, taps, d_.parts);
      text_.line("raw_t raw{}[{}];", j, d_.steps);
      text_.line("GLOBAL const float* const weights{} = weights + {} - channel{};", j, g_.channels - 1, j);
      // Rows before the stream are zero.
      for (std::size_t row = 0; row + 1 < taps; ++row) {
        text_.open();
        text_.line("raw_t old;");
        load("old", j, row_text("begin", row), before_stream(row, j));
        text_.line("convert(old, delay{}[{}]);", j, row);
        text_.close();
      }
    }
    load_steps("begin", 0);
    open_rounds();
    for (std::size_t sub = 0; sub < d_.period() / d_.steps; ++sub) {
      text_.open();
      text_.line("const int t = begin + round * {} + {};", d_.period(), sub * d_.steps);
      text_.line("int zero = 0;");
      text_.line("OPAQUE(zero);");
      for (std::size_t j = 0; j < each(); ++j) filter_steps(j, sub * d_.steps);
      load_steps("t", sub * d_.steps);
      transform();
      text_.close();
    }
    if (g_.block == g_.channels) {
      for (std::size_t j = 0; j < each(); ++j) text_.line("from{} += {};", j, d_.period() * stride());
    }
    text_.close();
  }

 private:
  // Only the rows of the first spectra can precede the stream.
  std::string before_stream(std::size_t row, std::size_t j) const {
    if (g_.block != g_.channels) return fmt::format("begin + {} < spectra + {}", row, g_.taps - 1);
    return fmt::format("origin / {} + begin + {}{} >= 0 && begin + {} < spectra + {}", g_.channels, row, later(j), row,
                       g_.taps - 1);
  }

  // With contiguous rows the pointers are at the iteration's first row; otherwise rows are counted from `first`.
  std::string row_text(const std::string& first, std::size_t more) const {
    return g_.block == g_.channels ? fmt::format("{}", more) : fmt::format("{} + {}", first, more);
  }

  // Loads the samples of the next d_.steps steps while the steps that begin `sub` steps into the iteration are
  // computed; `first` == "begin": those of the first steps, before the loop.
  void load_steps(const std::string& first, std::size_t sub) {
    const std::size_t ahead = first == "begin" ? 0 : d_.steps;
    for (std::size_t j = 0; j < each(); ++j) {
      for (std::size_t s = 0; s < d_.steps; ++s) {
        const std::size_t more = ahead + s + g_.taps - 1;
        load(fmt::format("raw{}[{}]", j, s), j,
             g_.block == g_.channels ? fmt::format("{}", sub + more) : fmt::format("{} + {}", first, more),
             fmt::format("{} < spectra - {}", first, ahead + s));
      }
    }
  }

  void filter_steps(std::size_t j, std::size_t first) {
    const std::size_t taps = g_.taps;
    // Loaded again in every iteration, because the transform in between needs the registers.
    text_.line("float w{}[{}];", j, taps);
    for (std::size_t i = 0; i < taps; ++i) {
      const std::string value = fmt::format("LOAD_CACHED(weights{} + zero + {})", j, i * g_.channels);
      text_.line("w{}[{}] = {};", j, i,
                 g_.centred ? fmt::format("(channel{} & 1) ? -{} : {}", j, value, value) : value);
    }
    for (std::size_t s = 0; s < d_.steps; ++s) {
      const std::size_t newest = (taps - 1 + first + s) % taps;
      text_.line("convert(raw{0}[{1}], delay{0}[{2}]);", j, s, newest);
      text_.open();
      text_.line("float sum[{}];", d_.parts);
      for (std::size_t i = taps; i-- > 0;) {
        const std::size_t slot = (newest + taps - i) % taps;
        for (std::size_t p = 0; p < d_.parts; ++p) {
          if (i + 1 == taps) {
            text_.line("sum[{1}] = delay{0}[{2}][{1}] * w{0}[{3}];", j, p, slot, i);
          } else {
            text_.line("sum[{1}] = FMA(delay{0}[{2}][{1}], w{0}[{3}], sum[{1}]);", j, p, slot, i);
          }
        }
      }
      put(j, s);
      text_.close();
    }
  }
};

KernelText registers_text(const KernelDesign& design) { return RegistersWriter(design).write(); }

// Spectra after which the delay line is back in its initial registers.
std::size_t unrolled_spectra(const KernelDesign& design) { return std::lcm(design.steps, design.geometry.taps); }

// The delay line repeats after a multiple of the taps: the steps divide them or are a multiple.
std::size_t limit_unrolled(const Geometry& g, std::size_t steps) {
  steps = std::min<std::size_t>(steps, 32);
  while (steps > 1 && g.taps % steps != 0 && (steps % g.taps != 0 || steps > 2 * g.taps)) --steps;
  return steps;
}

// Registers per work-item for the delay line and the weights.
std::size_t held_numbers(const KernelDesign& d) {
  return d.units_each() * (d.geometry.taps * (d.parts + 1) + d.steps * d.parts / 4);
}

void list_registers(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  if (!g.critical()) return;
  for (std::size_t parts = 2 * g.polarizations; parts >= 2; parts /= 2) {
    for (KernelDesign& d : any_size_designs(device, problem, g, kRegistersFir, limit_unrolled, true, parts)) {
      if (held_numbers(d) <= 104 && d.period() <= 64) all.push_back(std::move(d));
    }
  }
}

}  // namespace

KernelDesign registers_alone(const Device& device, const Problem& problem, const Geometry& g, std::size_t parts) {
  KernelDesign design = any_size_alone(device, problem, g, kRegistersFir, limit_unrolled, parts);
  design.resident = held_numbers(design) > 80 ? 1 : held_numbers(design) > 40 ? 2 : 4;
  return design;
}

extern const Fir kRegistersFir{.name = "registers",
                               .list = list_registers,
                               .text = registers_text,
                               .tables = transform_tables,
                               .sum_power = sum_any_size,
                               .iteration = unrolled_spectra};

}  // namespace ridge::filterbank::on_device
