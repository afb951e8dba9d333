// Writes and launches the kernels that pack and unpack half spectra.
#include "fft/device/spectrum.hpp"

#include <complex>

#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "fft/device/pass/text/context.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kItems = 256;
constexpr const char* kSpectrumKernel = "fft_spectrum";

bool takes_spectrum(SpectrumChange change) {
  return change == SpectrumChange::pack || change == SpectrumChange::mirror;
}

// Work-items per line. In `unpack` and `pack` each work-item handles values k and n - k.
std::size_t numbers(const SpectrumDesign& design) { return design.length / 2 + 1; }

std::string line_offset(const SpectrumDesign& design, const Address& at) {
  std::string sum = "0";
  std::uint64_t divided = 1;
  for (std::size_t dimension = 0; dimension < at.line.size(); ++dimension) {
    std::string value = fmt::format("line / {}ul", divided);
    if (dimension + 1 < at.line.size()) value = fmt::format("{} % {}ul", value, design.counts[dimension]);
    if (at.line[dimension] != 0) sum += fmt::format(" + ({}) * {}ul", value, at.line[dimension]);
    divided *= design.counts[dimension];
  }
  return sum;
}

std::string factored(const SpectrumDesign& design, const std::string& value, const std::string& index) {
  if (design.factor == FactorKind::none) {
    if (takes_spectrum(design.change) || design.scale == 1) return value;
    return fmt::format("scaled({}, {})", value, codegen::literal(design.scale, design.float64));
  }
  return fmt::format("{}({}, factors[{} * {}ul])", design.factor == FactorKind::real ? "scaled" : "multiply", value,
                     index, design.factor_at.point);
}

void body(codegen::Text& text, const SpectrumDesign& d) {
  const std::string half = codegen::literal(0.5, d.float64);
  const bool float16 = d.storage != Storage::same, float16_in = float16 && takes_spectrum(d.change);
  const auto in = [&](const std::string& k) {
    const std::string value = fmt::format("from[{} * {}ul]", k, d.in.point);
    return float16_in ? fmt::format("numbers({})", value) : value;
  };
  const auto out = [&](const std::string& k) { return fmt::format("to[{} * {}ul]", k, d.out.point); };
  const auto rounded = [&](const std::string& value) { return float16 ? fmt::format("stored2({})", value) : value; };
  switch (d.change) {
    case SpectrumChange::unpack:
      text.line("const ulong mirror = {} - k;", d.length);
      text.line("const real2 a = {}, b = conjugate({});", in("k"), in("(k == 0 ? 0 : mirror)"));
      text.line("const real2 even = scaled(add(a, b), {0}), difference = scaled(subtract(a, b), {0});", half);
      text.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), roots[k]);");
      text.line("{} = {};", out("k"), rounded(factored(d, "add(even, odd)", "k")));
      text.line("{} = {};", out("mirror"), rounded(factored(d, "conjugate(subtract(even, odd))", "mirror")));
      return;
    case SpectrumChange::pack:
      text.line("const ulong mirror = {} - k;", d.length);
      text.line("real2 a = {}, b = {};", factored(d, in("k"), "k"), factored(d, in("mirror"), "mirror"));
      text.line("if (k == 0) a.y = b.y = 0;");
      text.line("b.y = -b.y;");
      text.line("const real2 even = add(a, b), odd = multiply(subtract(a, b), conjugate(roots[k]));");
      text.line("{} = make_real2(even.x - odd.y, even.y + odd.x);", out("k"));
      text.line("if (k != 0) {} = make_real2(even.x + odd.y, odd.x - even.y);", out("mirror"));
      return;
    case SpectrumChange::mirror:
      text.line("real2 a = {};", factored(d, in("k"), "k"));
      text.line("if (k == 0 || 2 * k == {}) a.y = 0;", d.length);
      text.line("{} = a;", out("k"));
      text.line("if (k != 0) {} = conjugate(a);", out(fmt::format("({} - k)", d.length)));
      return;
  }
}

template <class T>
std::vector<Buffer> all_tables(const Device& device, const SpectrumDesign& design, const FactorTable& factors) {
  Queue queue = device.queue();
  std::vector<Buffer> tables;
  const auto upload = [&](const auto& values, const char* name) {
    tables.push_back(device.buffer(values.size() * sizeof(values[0]), {.name = name}));
    queue.upload(values.data(), tables.back(), values.size() * sizeof(values[0]));
    queue.finish();
  };
  const AnyRoots<T> all_roots(2 * design.length);
  std::vector<std::complex<T>> roots(numbers(design));
  for (std::size_t k = 0; k < roots.size(); ++k) roots[k] = all_roots.at(k);
  upload(roots, "fft roots");
  if (design.factor == FactorKind::real)
    upload(std::vector<T>(factors.real.begin(), factors.real.end()), "fft factors");
  if (design.factor == FactorKind::complex) {
    std::vector<std::complex<T>> values;
    for (const auto& f : factors.complex) values.emplace_back(static_cast<T>(f.real()), static_cast<T>(f.imag()));
    upload(values, "fft factors");
  }
  return tables;
}

}  // namespace

KernelSource spectrum_text(const SpectrumDesign& design) {
  codegen::Text text;
  text.line("// real spectrum, {} complex points per line", design.length);
  text.raw(codegen::butterfly_text({}, design.float64));
  const bool float16 = design.storage != Storage::same;
  const char* in_type = float16 && takes_spectrum(design.change) ? "ushort2" : "real2";
  const char* out_type = float16 && !takes_spectrum(design.change) ? "ushort2" : "real2";
  if (float16) text.raw(float16_text(design.storage));
  std::string signature = fmt::format(
      "KERNEL WORK_GROUP({}, 1, 1) void {}(GLOBAL const {}* RESTRICT in, GLOBAL {}* RESTRICT out, "
      "GLOBAL const real2* RESTRICT roots, ",
      kItems, kSpectrumKernel, in_type, out_type);
  if (design.factor != FactorKind::none) {
    signature +=
        fmt::format("GLOBAL const {}* RESTRICT factor, ", design.factor == FactorKind::real ? "real" : "real2");
  }
  text.open("{}ulong in_offset, ulong out_offset, ulong lines)", signature);
  text.line("AFTER_PREVIOUS_KERNEL();");
  text.line("const ulong number = (ulong)GROUP_ID(0) * {}ul + (ulong)LOCAL_ID(0);", kItems);
  text.line("const ulong line = number / {0}ul, k = number % {0}ul;", numbers(design));
  text.open("if (line < lines)");
  text.line("GLOBAL const {}* const from = in + (in_offset + {});", in_type, line_offset(design, design.in));
  text.line("GLOBAL {}* const to = out + (out_offset + {});", out_type, line_offset(design, design.out));
  if (design.factor != FactorKind::none) {
    text.line("GLOBAL const {}* const factors = factor + ({});", design.factor == FactorKind::real ? "real" : "real2",
              line_offset(design, design.factor_at));
  }
  body(text, design);
  text.close();
  text.close();
  return {.name = "fft spectrum", .text = text.str()};
}

namespace {

class CompiledSpectrum final : public CompiledStep {
 public:
  CompiledSpectrum(const Device& device, const SpectrumDesign& design, const FactorTable& factors)
      : design_(design), kernel_(device.compile(spectrum_text(design)).kernel(kSpectrumKernel)) {
    tables_ = design.float64 ? all_tables<double>(device, design, factors) : all_tables<float>(device, design, factors);
  }

  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const override {
    std::vector<Argument> arguments{in, out};
    for (const Buffer& table : tables_) arguments.emplace_back(table);
    arguments.emplace_back(in_offset);
    arguments.emplace_back(out_offset);
    arguments.emplace_back(lines);
    const std::uint64_t work = lines * numbers(design_);
    queue.launch(kernel_, {.groups = {(work + kItems - 1) / kItems}, .items = {kItems}}, arguments);
  }

  std::string describe() const override { return "between a real signal's spectrum and a complex one"; }

 private:
  SpectrumDesign design_;
  Kernel kernel_;
  std::vector<Buffer> tables_;
};

class SpectrumStep final : public StepDesign {
 public:
  explicit SpectrumStep(const SpectrumDesign& design) : design_(design) {}
  std::vector<KernelSource> kernels() const override { return {spectrum_text(design_)}; }
  std::unique_ptr<const CompiledStep> compile(const Device& device, const Step& step) const override {
    return std::make_unique<CompiledSpectrum>(device, design_, step.load);
  }
  StepShare share(double lines) const override {
    return {.bytes = 2 * lines * (design_.float64 ? 16 : 8) * static_cast<double>(design_.length)};
  }
  double groups(double lines) const override { return lines * static_cast<double>(design_.length) / 512; }

 private:
  SpectrumDesign design_;
};

}  // namespace

std::shared_ptr<const StepDesign> spectrum_step(const SpectrumDesign& design) {
  return std::make_shared<const SpectrumStep>(design);
}

}  // namespace ridge::fft::on_device
