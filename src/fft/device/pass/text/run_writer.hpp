// Writes copies of contiguous runs through local memory: the lines of a group move together, 16 bytes per access if
// possible.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "fft/device/pass/text/context.hpp"

namespace ridge::fft::on_device {

class RunWriter : PassPart {
 public:
  explicit RunWriter(PassContext& context) : PassPart(context) {}
  // Copies the group's lines into local memory.
  void stage_in();
  // Copies them from local memory, `points` per line.
  void run_out(std::size_t points, std::size_t pitch);
  // DCT and DST of types II and III, four samples per access: two neighbours of either half of the reordered line
  // (real_kind_runs.cpp).
  void quads_in();
  void quads_of_paired_lines(bool in, std::size_t quads, std::size_t pitch, std::size_t elements);
  void quads_out();

 private:
  void each_quad(const std::function<void(std::size_t iteration)>& emit);
  void run_limits(std::size_t points);
  struct Run {
    std::size_t points, items;
    bool wide, wide_local;  // 16 bytes per access, in local memory too
    bool float64;
    bool uneven() const { return !wide && !float64; }
    std::size_t iterations() const { return (points / 2 + items - 1) / items; }
  };
  Run run_of(std::size_t points, std::size_t pitch) const;
  static std::string run_place(const std::string& e, std::size_t points, std::size_t pitch);
  void each_iteration(const Run& run, const std::function<void(std::size_t iteration)>& emit);
  void each_of_run(std::size_t points, const std::function<void()>& emit);
  void uneven_run_out(const Run& run, std::size_t points, std::size_t pitch);
};

}  // namespace ridge::fft::on_device
