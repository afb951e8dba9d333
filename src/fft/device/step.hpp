// A step of a route: a design that lists its kernels and compiles itself for a device, and the arrays it reads and
// writes.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

// Numbers that copies share: listing the routes of a problem copies its tables once per candidate.
template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> values) : values_(std::make_shared<const std::vector<T>>(std::move(values))) {}
  const std::vector<T>& all() const {
    static const std::vector<T> none;
    return values_ ? *values_ : none;
  }
  bool empty() const { return all().empty(); }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }

 private:
  std::shared_ptr<const std::vector<T>> values_ = {};
};

// Factors of a load or a store: window, multiplication and scale combined.
struct FactorTable {
  SharedList<double> real = {};
  SharedList<std::complex<double>> complex = {};
  std::function<std::vector<std::complex<double>>()> later = {};  // computes complex factors that are expensive to make
  // Computes those of `later` on a device, as float or double pairs. May return no buffer: then `later` is used.
  std::function<Buffer(const Device&, bool float64)> on_device = {};
  FactorKind kind() const {
    return !complex.empty() || later ? FactorKind::complex : !real.empty() ? FactorKind::real : FactorKind::none;
  }
};

// A compiled step: kernels and uploaded tables.
class CompiledStep {
 public:
  virtual ~CompiledStep() = default;
  // Transforms `lines` lines from the given offsets, in elements of each side's array.
  virtual void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out,
                       std::uint64_t out_offset, std::uint64_t lines) const = 0;
  virtual std::string describe() const = 0;
  // True if every call writes arrays of its own: calls from several queues must be serialized.
  virtual bool writes_own_arrays() const { return false; }
};

// Contribution of a step to the name and the cost of a candidate.
struct StepShare {
  std::string radices = {}, items = {}, lines = {};
  double bytes = 0, operations = 0;
};

struct Step;

class StepDesign {
 public:
  virtual ~StepDesign() = default;
  virtual std::vector<KernelSource> kernels() const = 0;
  virtual std::unique_ptr<const CompiledStep> compile(const Device& device, const Step& step) const = 0;
  virtual StepShare share(double /*lines*/) const { return {}; }
  // Work-groups, or any other quantity counted in 32 bits, for this number of lines.
  virtual double groups(double /*lines*/) const { return 1; }
  // Work-groups that compute at the same time if the device has room for all; by default enough for every unit.
  virtual double concurrent_groups(double /*lines*/) const { return 1e9; }
  // Share of the expected speed that remains if all data are in L2, where saving traffic gains nothing.
  virtual double efficiency_in_cache() const { return 1; }
};

// Arrays of a step. All but input and output belong to the route.
enum class Place { input, output, scratch, work, spare };

struct Step {
  std::shared_ptr<const StepDesign> design = {};
  Place from = Place::input, to = Place::output;
  std::uint64_t lines = 1;                       // per index of the problem's last batch dimension
  std::uint64_t from_stride = 0, to_stride = 0;  // elements between indices of the last batch dimension
  FactorTable load = {}, store = {}, filter = {};
  Buffer filter_table = {};  // argument of a filter function
};

}  // namespace ridge::fft::on_device
