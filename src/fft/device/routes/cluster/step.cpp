// Compiles and launches the kernel of the cluster route.
#include <array>

#include <fmt/format.h>

#include "fft/device/pass/step.hpp"
#include "fft/device/routes/cluster/cluster.hpp"

namespace ridge::fft::on_device {
namespace {

class CompiledCluster final : public CompiledStep {
 public:
  CompiledCluster(const Device& device, const ClusterDesign& design, const Step& step) : design_(design) {
    const PassText text = cluster_text(design);
    kernel_ = device.compile(text.source).kernel(kKernelName);
    local_bytes_ = text.local_bytes;
    tables_ = uploaded_factors(device, design.columns.float64, step);
    tables_.insert(tables_.begin(), uploaded_tables(device, std::array{&design.columns, &design.rows}));
  }

  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               std::uint64_t lines) const override {
    constexpr std::uint32_t kEveryLine = 0xffffffff;  // the grid has whole clusters only
    std::vector<Argument> arguments{in, out};
    for (const Buffer& table : tables_) arguments.emplace_back(table);
    arguments.insert(arguments.end(), {in_offset, out_offset, kEveryLine});
    queue.launch(kernel_,
                 {.groups = {lines * design_.groups}, .items = {design_.columns.items()}, .local_bytes = local_bytes_},
                 arguments);
  }

  std::string describe() const override {
    std::string text = fmt::format("clusters of {} groups of {} work-items: columns of {} by {}, rows of {} by {}",
                                   design_.groups, design_.columns.items(), design_.columns.length,
                                   radices_text(design_.columns), design_.rows.length, radices_text(design_.rows));
    if (kernel_.registers() > 0) text += fmt::format(", {} registers", kernel_.registers());
    return text;
  }

 private:
  ClusterDesign design_;
  Kernel kernel_;
  std::size_t local_bytes_ = 0;
  std::vector<Buffer> tables_;
};

class ClusterStep final : public StepDesign {
 public:
  explicit ClusterStep(const ClusterDesign& design) : design_(design) {}
  std::vector<KernelSource> kernels() const override { return {cluster_text(design_).source}; }
  std::unique_ptr<const CompiledStep> compile(const Device& device, const Step& step) const override {
    return std::make_unique<CompiledCluster>(device, design_, step);
  }
  double groups(double lines) const override { return lines * static_cast<double>(design_.groups); }
  double concurrent_groups(double lines) const override { return groups(lines); }

 private:
  ClusterDesign design_;
};

}  // namespace

std::shared_ptr<const StepDesign> cluster_step(const ClusterDesign& design) {
  return std::make_shared<const ClusterStep>(design);
}

}  // namespace ridge::fft::on_device
