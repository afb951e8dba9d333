// Computes the tables of a pass, compiles its kernel and launches it.
#include "fft/device/pass/step.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "codegen/butterfly.hpp"
#include "device/backend.hpp"
#include "device/tile_map.hpp"
#include "fft/device/pass/real_kind.hpp"
#include "fft/device/pass/text/codegen.hpp"
#include "fft/host/prime/numbers.hpp"
#include "fft/roots.hpp"
#include "fft/variant.hpp"

namespace ridge::fft::on_device {
namespace {

template <class Value>
Buffer uploaded(const Device& device, Queue& queue, const std::vector<Value>& values, const char* name) {
  const Buffer buffer = device.buffer(values.size() * sizeof(Value), {.name = name});
  queue.upload(std::span<const Value>(values), buffer);
  queue.finish();  // the host values are released
  return buffer;
}

template <class T>
Buffer uploaded_table(const Device& device, Queue& queue, const FactorTable& table, const char* name) {
  if (table.kind() == FactorKind::real) {
    return uploaded(device, queue, std::vector<T>(table.real.begin(), table.real.end()), name);
  }
  if (table.on_device) {
    if (Buffer made = table.on_device(device, sizeof(T) == sizeof(double))) return made;
  }
  const std::vector<std::complex<double>> made = table.later ? table.later() : std::vector<std::complex<double>>();
  std::vector<std::complex<T>> values;
  for (const auto& value : table.later ? made : table.complex.all()) {
    values.emplace_back(static_cast<T>(value.real()), static_cast<T>(value.imag()));
  }
  return uploaded(device, queue, values, name);
}

template <class T>
std::vector<Buffer> all_tables(const Device& device, const PassDesign& design, const Step& step) {
  Queue queue = device.queue();
  std::vector<Buffer> tables{uploaded(device, queue, pass_tables<T>(design), "fft twiddles")};
  if (design.load.factor != FactorKind::none) {
    tables.push_back(uploaded_table<T>(device, queue, step.load, "fft load factors"));
  }
  if (design.store.factor != FactorKind::none) {
    tables.push_back(uploaded_table<T>(device, queue, step.store, "fft store factors"));
  }
  if (design.convolves_by(Convolution::rader)) {
    const RaderOrder order = rader_order(design.points);
    tables.push_back(uploaded(device, queue, order.gather, "fft gather"));
    tables.push_back(uploaded(device, queue, order.scatter, "fft scatter"));
  }
  if (design.convolves_by(Convolution::filter)) {
    tables.push_back(step.filter_table ? step.filter_table
                                       : uploaded_table<T>(device, queue, step.filter, "fft filter"));
  }
  return tables;
}

// Tensor map of one side of a pass whose lines move as tiles.
detail::TileMap side_map(const PassDesign& design, const PassSide& side, const Buffer& buffer, std::uint64_t offset,
                         std::uint64_t lines, bool load) {
  const std::uint64_t element = design.float64 ? 16 : 8;
  std::uint64_t each = 1;
  for (std::size_t dimension = 0; dimension + 1 < design.counts.size(); ++dimension) each *= design.counts[dimension];
  const std::size_t rows = load ? design.points : design.points / 2;
  return detail::tile_map(buffer, {.float64 = design.float64,
                                   .offset = offset * element,
                                   .columns = 2 * side.at.point,
                                   .rows = design.points,
                                   .row = side.at.point * element,
                                   .arrays = lines / each,
                                   .array = side.at.line.back() * element,
                                   .box_columns = static_cast<std::uint32_t>(2 * design.lines),
                                   .box_rows = static_cast<std::uint32_t>(tile_rows(rows))});
}

class CompiledPass final : public CompiledStep {
 public:
  CompiledPass(const Device& device, const PassDesign& design, const Step& step) : design_(design) {
    const PassText text = pass_text(design);
    kernel_ = device.compile(text.source).kernel(kKernelName);
    local_bytes_ = text.local_bytes;
    if (design.ahead) staying_ = device.limits().compute_units * design.resident;
    tables_ = design.float64 ? all_tables<double>(device, design, step) : all_tables<float>(device, design, step);
  }

  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const override {
    if (design_.paired_lines()) {
      for (const Buffer* array : {&in, &out}) {
        if (array->device().info().backend == Backend::cuda && array->native() % 16 != 0) {
          throw Error(ErrorKind::invalid_argument,
                      "fft: short real lines need arrays that begin at a multiple of 16 bytes: pass an aligned buffer");
        }
      }
    }
    std::vector<Argument> arguments;
    arguments.reserve(tables_.size() + 9);
    arguments.emplace_back(in);
    arguments.emplace_back(out);
    for (const Buffer& table : tables_) arguments.emplace_back(table);
    arguments.emplace_back(in_offset);
    arguments.emplace_back(out_offset);
    arguments.emplace_back(static_cast<std::uint32_t>(lines));
    for (const bool load : {true, false}) {
      const PassSide& side = load ? design_.load : design_.store;
      if (!side.mapped) continue;
      const detail::TileMap map = side_map(design_, side, load ? in : out, load ? in_offset : out_offset, lines, load);
      arguments.emplace_back(map.first);
      arguments.emplace_back(map.rest);
    }
    std::uint64_t groups = (lines + design_.lines - 1) / design_.lines;
    if (staying_ > 0) groups = std::min(groups, staying_);
    queue.launch(kernel_, {.groups = {groups}, .items = {design_.items()}, .local_bytes = local_bytes_}, arguments);
  }

  std::string describe() const override {
    std::string text = fmt::format("{} points by {}, {} work-items per line, {} lines per group", design_.points,
                                   radices_text(design_), design_.threads, design_.lines);
    if (design_.convolves_by(Convolution::rader)) text += ", Rader convolution";
    if (design_.convolves_by(Convolution::bluestein)) text += ", Bluestein convolution";
    if (design_.convolves_by(Convolution::filter)) text += ", forward, multiplied by a filter, inverse";
    if (design_.folded()) text += ", rows with their mirrors";
    if (design_.paired_lines()) text += ", two real lines as one";
    if (kernel_.registers() > 0) text += fmt::format(", {} registers", kernel_.registers());
    if (kernel_.private_bytes() > 0) text += fmt::format(", {} bytes spilled", kernel_.private_bytes());
    return text;
  }

 private:
  PassDesign design_;
  Kernel kernel_;
  std::size_t local_bytes_ = 0;
  std::uint64_t staying_ = 0;  // persistent groups that process line after line; 0: one group per set of lines
  std::vector<Buffer> tables_;
};

class PassStep final : public StepDesign {
 public:
  explicit PassStep(PassDesign design) : design_(std::move(design)) {}
  std::vector<KernelSource> kernels() const override { return {pass_text(design_).source}; }
  std::unique_ptr<const CompiledStep> compile(const Device& device, const Step& step) const override {
    return std::make_unique<CompiledPass>(device, design_, step);
  }
  StepShare share(double lines) const override {
    const double element = design_.float64 ? 16 : 8;
    if (design_.mirrored()) lines *= 2;
    if (design_.paired_lines()) lines /= 2;
    StepShare share{.radices = radices_text(design_), .items = fmt::format("{}", design_.threads)};
    const std::string parts = design_.parts > 1 ? fmt::format("{}", design_.parts) : "";
    share.lines =
        fmt::format("{}{}{}{}", design_.lines, design_.split ? "s" : "", parts, design_.load.staged ? "r" : "");
    const bool real_in = design_.load.values == Values::reals && !design_.paired_lines();
    const bool real_out = design_.store.values == Values::reals && !design_.paired_lines();
    const auto moved = [&](const PassSide& side, bool real) {
      return static_cast<double>(side.box_count > 0 ? side.box_count : design_.points) * (real ? 0.5 : 1);
    };
    share.bytes = lines * element * (moved(design_.load, real_in) + moved(design_.store, real_out));
    for (const StageDesign& stage : stages_of(design_)) {
      share.operations += lines * static_cast<double>(stage.butterflies) *
                          (2 * codegen::butterfly_operations(stage.radix) +
                           (stage.before > 1 ? 6.0 * static_cast<double>(stage.radix) : 0));
    }
    return share;
  }
  double groups(double lines) const override { return lines / static_cast<double>(design_.lines); }
  double concurrent_groups(double lines) const override { return groups(lines); }
  const PassDesign& design() const { return design_; }

 private:
  PassDesign design_;
};

template <class T>
Buffer joined_tables(const Device& device, std::span<const PassDesign* const> designs) {
  std::vector<std::complex<T>> tables;
  for (const PassDesign* design : designs) {
    const std::vector<std::complex<T>> more = pass_tables<T>(*design);
    tables.insert(tables.end(), more.begin(), more.end());
  }
  Queue queue = device.queue();
  return uploaded(device, queue, tables, "fft twiddles");
}

}  // namespace

std::shared_ptr<const StepDesign> pass_step(PassDesign design) {
  return std::make_shared<const PassStep>(std::move(design));
}

const PassDesign* pass_of(const Step& step) {
  const auto* pass = dynamic_cast<const PassStep*>(step.design.get());
  return pass == nullptr ? nullptr : &pass->design();
}

std::string radices_text(const PassDesign& design) { return fmt::format("{}", fmt::join(design.radices, "*")); }

std::vector<Buffer> uploaded_factors(const Device& device, bool float64, const Step& step) {
  std::vector<Buffer> tables;
  Queue queue = device.queue();
  const auto add = [&](const FactorTable& table, const char* name) {
    if (table.kind() == FactorKind::none) return;
    tables.push_back(float64 ? uploaded_table<double>(device, queue, table, name)
                             : uploaded_table<float>(device, queue, table, name));
  };
  add(step.load, "fft load factors");
  add(step.store, "fft store factors");
  return tables;
}

Buffer uploaded_tables(const Device& device, std::span<const PassDesign* const> designs) {
  return designs.front()->float64 ? joined_tables<double>(device, designs) : joined_tables<float>(device, designs);
}

namespace {

// Computed on the host in double.
std::vector<std::complex<double>> transformed(const std::vector<std::complex<double>>& in) {
  const std::unique_ptr<LineKernel<double>> line = default_line<double>(in.size());
  base::AlignedArray<std::complex<double>> from(in.size()), to(in.size()), scratch(line->scratch() + 1);
  std::copy(in.begin(), in.end(), from.begin());
  line->run(Direction::forward, from.data(), to.data(), scratch.data());
  return {to.begin(), to.end()};
}

std::vector<std::complex<double>> rader_filter(std::size_t p) {
  const std::size_t m = p - 1;
  const AnyRoots<double> roots(p);
  const RaderOrder order = rader_order(p);
  std::vector<std::complex<double>> filter(m);
  for (std::size_t q = 0; q < m; ++q) filter[q] = roots.at(order.scatter[q]) / static_cast<double>(m);
  return transformed(filter);
}

template <class T>
std::complex<T> rounded(std::complex<double> value) {
  return {static_cast<T>(value.real()), static_cast<T>(value.imag())};
}

}  // namespace

RaderOrder rader_order(std::size_t p) {
  const std::size_t m = p - 1, g = prime::primitive_root(p), inverse = prime::power_modulo(g, p - 2, p);
  RaderOrder order{std::vector<std::uint32_t>(m), std::vector<std::uint32_t>(m)};
  for (std::size_t q = 0, a = 1, b = 1; q < m; ++q, a = a * g % p, b = b * inverse % p) {
    order.gather[q] = static_cast<std::uint32_t>(a);
    order.scatter[q] = static_cast<std::uint32_t>(b);
  }
  return order;
}

std::vector<std::complex<double>> chirp(std::size_t n) {
  const AnyRoots<double> roots(2 * n);
  std::vector<std::complex<double>> values(n);
  for (std::size_t j = 0, square = 0; j < n; square = (square + 2 * j + 1) % (2 * n), ++j) {
    values[j] = roots.at(square);
  }
  return values;
}

std::vector<std::complex<double>> chirp_filter(std::size_t n, std::size_t padded) {
  const auto values = chirp(n);
  std::vector<std::complex<double>> filter(padded);
  for (std::size_t j = 0; j < n; ++j) {
    filter[j] = std::conj(values[j]) / static_cast<double>(padded);
    if (j > 0) filter[padded - j] = filter[j];
  }
  return transformed(filter);
}

template <class T>
std::vector<std::complex<T>> pass_tables(const PassDesign& design) {
  const TableOffsets offsets = table_offsets(design);
  std::vector<std::complex<T>> tables(offsets.end);
  for (const StageDesign& stage : stages_of(design)) {
    if (stage.before == 1) continue;
    const AnyRoots<T> roots(stage.before * stage.radix);
    std::size_t at = stage.table;
    for (const std::size_t s : loaded_powers(stage.radix, design.few_twiddles)) {
      for (std::size_t k = 0; k < stage.before; ++k) tables[at++] = roots.at(k * s);
    }
  }
  if (design.twiddle) {
    const std::uint64_t order = design.twiddle->order;
    const AnyRoots<T> roots(order);
    const std::size_t fine = std::size_t{1} << offsets.fine_bits;
    for (std::size_t k = 0; k < fine; ++k) tables[offsets.fine + k] = roots.at(k % order);
    for (std::size_t k = 0; k <= (order - 1) >> offsets.fine_bits; ++k) tables[offsets.coarse + k] = roots.at(k * fine);
    if (offsets.step_table) {
      const std::size_t radix = stages_of(design).back().radix, butterflies = design.length / radix;
      std::size_t at = offsets.step;
      for (const std::size_t u : loaded_powers(radix, design.few_twiddles)) {
        for (std::size_t column = 0; column < design.twiddle->columns; ++column) {
          tables[at++] = roots.at(column * u * butterflies);
        }
      }
    }
  }
  if (design.convolves_by(Convolution::rader) || design.convolves_by(Convolution::bluestein)) {
    const auto filter = design.convolves_by(Convolution::rader) ? rader_filter(design.points)
                                                                : chirp_filter(design.points, design.length);
    for (std::size_t k = 0; k < design.length; ++k) tables[offsets.filter + k] = rounded<T>(filter[k]);
  }
  if (design.convolves_by(Convolution::bluestein)) {
    const auto values = chirp(design.points);
    for (std::size_t j = 0; j < design.points; ++j) tables[offsets.chirp + j] = rounded<T>(values[j]);
  }
  if (design.load.values == Values::half || design.store.values == Values::half) {
    const AnyRoots<T> roots(2 * design.length);
    for (std::size_t k = 0; k < design.length; ++k) tables[offsets.half + k] = roots.at(k);
  }
  if (design.real_to_real()) {
    const KindRoots wanted = real_kind_roots(design.real_to_real()->kind, design.real_to_real()->points);
    const AnyRoots<T> roots(wanted.order);
    for (std::size_t k = 0; k < wanted.count; ++k) tables[offsets.kind + k] = roots.at(wanted.exponent(k));
  }
  return tables;
}

template std::vector<std::complex<float>> pass_tables<float>(const PassDesign&);
template std::vector<std::complex<double>> pass_tables<double>(const PassDesign&);

}  // namespace ridge::fft::on_device
