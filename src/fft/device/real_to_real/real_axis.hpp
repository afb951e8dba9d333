// Real-to-real transforms of the lines of one axis on a device. Lines that fit a work-group take one pass, whose load
// permutes and multiplies the samples and whose store computes the values (pass/real_kind.hpp). Longer lines take three
// steps: a kernel that permutes and multiplies the samples, a complex or real transform of the same length (half of it
// for type IV, twice for type I), and a kernel that computes the values from its result.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/fft/tensor.hpp>

#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

struct RealAxisProblem {
  bool float64 = false;
  RealKind kind = RealKind::dct2;
  std::size_t length = 1;
  std::vector<std::uint64_t> counts = {1};  // batch dimensions, fastest first
  Address in = {}, out = {};                // strides in reals
  double scale = 1;
  bool in_place = false;
  bool any_offset = false;  // enqueued with offsets that are not multiples of four

  std::uint64_t lines() const;
};

// The inner transform between the two kernels.
enum class Middle {
  real_forward,  // reals to half a spectrum
  real_inverse,  // half a spectrum to reals
  complex,
};
struct MiddleShape {
  Middle what = Middle::real_forward;
  std::size_t length = 1;             // of the transform
  std::size_t before = 1, after = 1;  // elements per line that the first kernel writes and the second reads
};
MiddleShape middle_of(RealKind kind, std::size_t length);

// Text of both kernels. The intermediate lines have the axis order of the samples: contiguous points or adjacent lines.
struct RealAxisText {
  KernelSource source;
  const char* before = "real_before";
  const char* after = "real_after";
};
RealAxisText real_axis_text(const RealAxisProblem& problem);

// The same lines in one pass; empty if the kind has none.
std::optional<AxisProblem> one_pass_problem(const RealAxisProblem& problem);

class RealAxis {
 public:
  RealAxis(const Device& device, const RealAxisProblem& problem, const planner::Options& options,
           std::vector<planner::Decision>& decisions);
  // `before` and `after` are work memory of bytes_before() and bytes_after() bytes; unused in one pass. Offsets count
  // reals.
  void enqueue(Queue& queue, const Buffer& in, std::uint64_t in_offset, const Buffer& out, std::uint64_t out_offset,
               const Buffer& before, const Buffer& after) const;
  std::size_t bytes_before() const;
  std::size_t bytes_after() const;
  std::string describe() const;
  std::vector<KernelSource> kernels() const;

 private:
  RealAxisProblem problem_;
  MiddleShape middle_;
  RealAxisText text_;
  bool one_pass_ = false;
  Kernel before_, after_;
  Buffer roots_;
  std::shared_ptr<const CompiledRoute> route_;
};

}  // namespace ridge::fft::on_device
