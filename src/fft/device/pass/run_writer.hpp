// Runs of memory through local memory: a group's lines that lie one after the other move together, 16 bytes an access
// where two points take them.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "fft/device/pass/context.hpp"

namespace ridge::fft::on_device {

class RunWriter : PassPart {
 public:
  explicit RunWriter(PassContext& context) : PassPart(context) {}
  // The group's lines into local memory.
  void stage_in();
  // And from there, `points` a line in memory.
  void run_out(std::size_t points, std::size_t pitch);
  // Cosines and sines of types II and III, four samples at a time: two neighbours of the one half of the line in the
  // middle's order, two of the other (real_kind_runs.cpp).
  void quads_in();
  void quads_of_twins(bool in, std::size_t quads, std::size_t pitch, std::size_t elements);
  void quads_out();

 private:
  void each_quad(const std::function<void(std::size_t turn)>& emit);
  void run_limits(std::size_t points);
  struct Run {
    std::size_t points, items;
    bool wide, wide_local;  // 16 bytes an access, in local memory too
    bool float64;
    bool uneven() const { return !wide && !float64; }
    std::size_t turns() const { return (points / 2 + items - 1) / items; }
  };
  Run run_of(std::size_t points, std::size_t pitch) const;
  static std::string run_place(const std::string& e, std::size_t points, std::size_t pitch);
  void each_turn(const Run& run, const std::function<void(std::size_t turn)>& emit);
  void each_of_run(std::size_t points, const std::function<void()>& emit);
  void uneven_run_out(const Run& run, std::size_t points, std::size_t pitch);
};

}  // namespace ridge::fft::on_device
