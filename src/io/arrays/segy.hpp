// Reads SEG-Y files, revisions 0 and 1: traces with the positions of their sources and receivers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ridge::io {

struct SegyTrace {
  std::int64_t record = 0;                     // field record number
  std::array<double, 3> source{}, receiver{};  // depth, y and x in the file's unit of length, scalars applied
};

struct Segy {
  double interval = 0;  // seconds between samples; 0: not given
  std::size_t samples = 0;
  std::vector<SegyTrace> traces{};
  std::vector<float> values{};            // trace after trace; empty if not asked for
  std::vector<std::size_t> shot_begin{};  // first trace of each shot, and the number of all traces

  std::size_t shots() const { return shot_begin.size() - 1; }
};

bool is_segy_name(const std::string& file);  // ends in .sgy or .segy

// Accepts IBM or IEEE floats and integers, big-endian. A shot is a sequence of traces with the same field record and
// source. The depth of a receiver is minus its elevation, that of a source its depth below its own elevation.
// Error{io} with the name and the defect.
Segy read_segy(const std::string& file, bool values);

// Seconds between samples, from the headers of the file and of the first trace alone; 0: not given.
double segy_interval(const std::string& file);

}  // namespace ridge::io
