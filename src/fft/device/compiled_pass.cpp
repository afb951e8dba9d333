#include "fft/device/compiled_pass.hpp"

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
                               const FactorTable& store) {
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
  return tables;
}

}  // namespace

CompiledPass::CompiledPass(const Device& device, const PassDesign& design, const FactorTable& load,
                           const FactorTable& store)
    : design_(design) {
  const PassText text = pass_text(design);
  kernel_ = device.compile(text.source).kernel(kKernelName);
  local_bytes_ = text.local_bytes;
  tables_ =
      design.float64 ? all_tables<double>(device, design, load, store) : all_tables<float>(device, design, load, store);
}

void CompiledPass::enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                           std::uint64_t out_offset, std::uint64_t lines) const {
  std::vector<Argument> arguments;
  arguments.reserve(tables_.size() + 5);
  arguments.emplace_back(in);
  arguments.emplace_back(out);
  for (const Buffer& table : tables_) arguments.emplace_back(table);
  arguments.emplace_back(in_offset);
  arguments.emplace_back(out_offset);
  arguments.emplace_back(static_cast<std::uint32_t>(lines));
  const std::uint64_t groups = (lines + design_.lines - 1) / design_.lines;
  queue.launch(kernel_, {.groups = {groups}, .items = {design_.items()}, .local_bytes = local_bytes_}, arguments);
}

}  // namespace ridge::fft::on_device
