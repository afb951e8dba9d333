// A variant of a distributed transform: a decomposition and a transport. Listed for the planner, then built and run.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "mpi/fft/layouts.hpp"
#include "mpi/fft/pipeline.hpp"
#include "mpi/route.hpp"

namespace ridge::mpi::fft {

// The distributed transform to plan, on three axes.
struct Distribution {
  Points samples{}, spectrum{};
  std::size_t axes = 3;  // number of axes of the caller's shape
  bool real = false;
  double scale_forward = 1, scale_inverse = 1;
  std::vector<Box> input{}, output{};  // of every process; empty unless the caller gave them
  std::size_t threads = 1;
};

struct Variant {
  Layout layout = {};
  Exchange exchange = {};
  bool alone = false;  // a single process
  std::string refusal{};
  double local_bytes = 0;  // lower bound of bytes per process through its own memory
  double sent_bytes = 0;   // bytes sent per process, weighted by their cost relative to a copy
  std::size_t threads = 1;

  std::string short_name() const;
  std::string name() const;
  planner::Candidate candidate(double flops) const;
};
std::vector<Variant> list_variants(const Communicator& all, const Distribution& distributed, const Device& device);

template <class T>
class Running {
 public:
  // Plans the local work; sends no message.
  Running(const Communicator& all, const Distribution& distributed, const Variant& variant, bool both_directions,
          const Device& device, const planner::Options& options);
  void take_memory();  // collective
  void run(bool inverse, const void* in, void* out) const;
  const Box& input() const { return input_; }  // on three axes
  const Box& output() const { return output_; }
  const std::optional<ridge::fft::Plan<T>>& alone() const { return alone_; }  // the plan of a single process
  std::size_t bytes_sent() const;
  std::string explain() const;

 private:
  using Complex = std::complex<T>;
  std::unique_ptr<Pipeline<T>> pipeline(bool inverse, const Device& device, const planner::Options& options) const;
  void run_line(bool inverse, const void* in, void* out) const;

  Communicator all_;
  Distribution distribution_;
  Variant variant_;
  Box input_, output_;                   // the caller's boxes
  std::vector<Box> samples_, spectrum_;  // boxes at the start and the end of the pipeline
  std::optional<ridge::fft::Plan<T>> alone_;
  std::unique_ptr<Pipeline<T>> forward_, inverse_;
  std::unique_ptr<Route> samples_in_, samples_out_, spectrum_in_,
      spectrum_out_;  // between the caller's boxes and the pipeline's
  Workspace workspace_;
  mutable base::AlignedArray<std::byte> staged_samples_, staged_spectrum_, line_in_, line_out_;
};

}  // namespace ridge::mpi::fft
