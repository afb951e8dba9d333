// Options of `ridge flow`, and functions shared by its two modes.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/image.hpp>

namespace ridge::cli {

struct FlowOptions {
  std::vector<std::string> names;  // A B OUT, or PATTERN OUT_FOLDER
  std::string picture, device, size, schedule;
  double full = 0;  // vector length of full colour in pictures; 0: the longest vector
  double rate = 0;
  std::size_t first = 0, frames = 0;
  bool pictures = false;  // a picture per field
  bool measure = false, explain = false, scan_order = false;
  std::size_t threads = 0;
  image::FlowParameters parameters;
};

// Reads a frame as 8-bit: 16-bit pixels lose their lower byte, float pixels are in the range 0 to 255.
image::Image flow_frame(const std::string& name);
image::FlowPlan flow_plan(const FlowOptions& options, const Device& where, const image::Shape& frame);
void run_flow_sequence(const FlowOptions& options);

}  // namespace ridge::cli
