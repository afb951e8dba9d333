// What `ridge fft papers` found, as tables and as JSON.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "base/json_fwd.hpp"
#include "fft/historical/papers/measure.hpp"
#include "fft/historical/papers/platform.hpp"

namespace ridge::cli {

// Seconds of one transform on the host.
struct PaperBaselines {
  double radix2 = 0;  // the paper's: sequential radix 2, decimation in time
  double host = 0;    // our own, all cores
  double fftw = 0;    // 0: not there
};

struct PaperLength {
  PaperBaselines cpu;
  fft::papers::LengthTimes times;
};

// One device acting as one platform.
struct PaperSeries {
  DeviceInfo device;
  std::string platform;  // "own", or a paper's
  std::vector<PaperLength> lengths = {};
};

struct UnitRow {
  std::size_t length = 0, p = 0;  // p == length: in registers
  std::size_t items = 0, units = 0;
  std::string radices, twiddles;
  double rcc = 0;
  double gflops = 0;  // of all units together
};
struct UnitSeries {
  DeviceInfo device;
  std::string platform;  // "own", or a paper's
  std::vector<UnitRow> rows = {};
};

struct PaperReport {
  std::vector<PaperSeries> series = {};
  std::vector<UnitSeries> units = {};
};

// What the composition law says of K2^ at `length` from the longest shorter length that has every kind of run; 0: none.
double law_k2_up(const PaperSeries& series, std::size_t length, const std::string& variant);

// A table for people: a heading, a note, rows of which the first is the header.
struct PaperTable {
  std::string title, note;
  std::vector<std::vector<std::string>> rows;
};
std::vector<PaperTable> paper_tables(const PaperReport& report);
std::string to_text(const std::vector<PaperTable>& tables);
std::string to_markdown(const std::vector<PaperTable>& tables);
base::Json to_json(const PaperReport& report);

}  // namespace ridge::cli
