#include "fft/device/compiled_pass.hpp"

#include <algorithm>

#include "device/backend.hpp"
#include "device/tile_map.hpp"
#include "fft/device/kernel_text.hpp"
#include "fft/device/tables.hpp"

namespace ridge::fft::on_device {
namespace {

template <class Value>
Buffer uploaded(const Device& device, Queue& queue, const std::vector<Value>& values, const char* name) {
  const Buffer buffer = device.buffer(values.size() * sizeof(Value), {.name = name});
  queue.upload(std::span<const Value>(values), buffer);
  queue.finish();  // the values go away
  return buffer;
}

template <class T>
Buffer uploaded_factors(const Device& device, Queue& queue, const FactorTable& table, const char* name) {
  if (table.kind() == FactorKind::real) {
    return uploaded(device, queue, std::vector<T>(table.real.begin(), table.real.end()), name);
  }
  const std::vector<std::complex<double>> made = table.later ? table.later() : std::vector<std::complex<double>>();
  std::vector<std::complex<T>> values;
  for (const auto& value : table.later ? made : table.complex) {
    values.emplace_back(static_cast<T>(value.real()), static_cast<T>(value.imag()));
  }
  return uploaded(device, queue, values, name);
}

template <class T>
std::vector<Buffer> all_tables(const Device& device, const PassDesign& design, const FactorTable& load,
                               const FactorTable& store, const FactorTable& filter) {
  Queue queue = device.queue();
  std::vector<Buffer> tables{uploaded(device, queue, pass_tables<T>(design), "fft twiddles")};
  if (design.load.factor != FactorKind::none) {
    tables.push_back(uploaded_factors<T>(device, queue, load, "fft load factors"));
  }
  if (design.store.factor != FactorKind::none) {
    tables.push_back(uploaded_factors<T>(device, queue, store, "fft store factors"));
  }
  if (design.method == PrimeMethod::rader) {
    const RaderOrder order = rader_order(design.points);
    tables.push_back(uploaded(device, queue, order.gather, "fft gather"));
    tables.push_back(uploaded(device, queue, order.scatter, "fft scatter"));
  }
  if (design.method == PrimeMethod::filter) {
    tables.push_back(uploaded_factors<T>(device, queue, filter, "fft filter"));
  }
  return tables;
}

template <class T>
Buffer both_tables(const Device& device, const PassDesign& columns, const PassDesign& rows) {
  std::vector<std::complex<T>> tables = pass_tables<T>(columns);
  const std::vector<std::complex<T>> more = pass_tables<T>(rows);
  tables.insert(tables.end(), more.begin(), more.end());
  Queue queue = device.queue();
  return uploaded(device, queue, tables, "fft twiddles");
}

Buffer both_tables(const Device& device, const PassDesign& columns, const PassDesign& rows) {
  return columns.float64 ? both_tables<double>(device, columns, rows) : both_tables<float>(device, columns, rows);
}

// The arrays of one side of a pass whose lines move as tiles.
detail::TileMap side_map(const PassDesign& design, const PassSide& side, const Buffer& buffer, std::uint64_t offset,
                         std::uint64_t lines, bool load) {
  const std::uint64_t element = design.float64 ? 16 : 8;
  std::uint64_t each = 1;
  for (std::size_t digit = 0; digit + 1 < design.counts.size(); ++digit) each *= design.counts[digit];
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

}  // namespace

CompiledCluster::CompiledCluster(const Device& device, const ClusterDesign& design) : design_(design) {
  const PassText text = cluster_text(design);
  kernel_ = device.compile(text.source).kernel(kKernelName);
  local_bytes_ = text.local_bytes;
  tables_ = both_tables(device, design.columns, design.rows);
}

void CompiledCluster::enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                              std::uint64_t out_offset, std::uint64_t lines) const {
  constexpr std::uint32_t kEveryLine = 0xffffffff;  // the grid has whole clusters only
  queue.launch(kernel_,
               {.groups = {lines * design_.groups}, .items = {design_.columns.items()}, .local_bytes = local_bytes_},
               {in, out, tables_, in_offset, out_offset, kEveryLine});
}

CompiledRing::CompiledRing(const Device& device, const RingDesign& design) : design_(design) {
  const PassText text = ring_text(design);
  kernel_ = device.compile(text.source).kernel(kKernelName);
  local_bytes_ = text.local_bytes;
  tables_ = both_tables(device, design.first, design.second);
  const std::size_t element = design.first.float64 ? 16 : 8;
  ring_ = device.buffer(static_cast<std::size_t>(design.slot) * design.slots * element, {.name = "fft ring"});
  control_ = device.buffer((kRingControl + 2 * design.slots) * sizeof(std::uint32_t), {.name = "fft ring counters"});
  Queue queue = device.queue();
  queue.fill(control_, std::byte{0});
  queue.finish();
}

void CompiledRing::enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                           std::uint64_t out_offset, std::uint64_t chunks) const {
  const std::uint64_t first = design_.first_tiles(), both = first + design_.second_tiles();
  std::uint64_t ahead = std::min<std::uint64_t>(design_.ahead, first * chunks);
  // Beyond this a tile would wait for tiles taken after it.
  if (chunks > design_.slots) ahead = std::min<std::uint64_t>(ahead, (design_.slots - 1) * first);
  const std::uint64_t groups = std::min<std::uint64_t>(design_.groups, ahead + chunks * both);
  queue.launch(kernel_, {.groups = {groups}, .items = {design_.first.items()}, .local_bytes = local_bytes_},
               {in, out, tables_, ring_, control_, in_offset, out_offset, static_cast<std::uint32_t>(chunks),
                static_cast<std::uint32_t>(design_.slots), static_cast<std::uint32_t>(ahead)});
}

CompiledPass::CompiledPass(const Device& device, const PassDesign& design, const FactorTable& load,
                           const FactorTable& store, const FactorTable& filter)
    : design_(design) {
  const PassText text = pass_text(design);
  kernel_ = device.compile(text.source).kernel(kKernelName);
  local_bytes_ = text.local_bytes;
  if (design.ahead) staying_ = device.limits().compute_units * design.resident;
  tables_ = design.float64 ? all_tables<double>(device, design, load, store, filter)
                           : all_tables<float>(device, design, load, store, filter);
}

void CompiledPass::enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                           std::uint64_t out_offset, std::uint64_t lines) const {
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

}  // namespace ridge::fft::on_device
