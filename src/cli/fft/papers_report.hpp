// Results of `ridge fft papers` as tables and as JSON.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "base/json_fwd.hpp"
#include "papers/fft/device/measure.hpp"
#include "papers/fft/device/published.hpp"

namespace ridge::cli {

// Seconds per transform on the host.
struct PaperBaselines {
  double radix2 = 0;  // the paper's baseline: sequential radix 2, decimation in time
  double host = 0;    // Ridgeline on all cores
  double fftw = 0;    // 0: unavailable
};

struct PaperLength {
  PaperBaselines cpu;
  fft::papers::LengthTimes times;
};

// Measurements of one device that emulates one platform.
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
  double gflops = 0;  // all units together
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

// K2^ at `length` predicted by the composition law from the longest shorter length that has every kind of run; 0: none.
double law_k2_up(const PaperSeries& series, std::size_t length, const std::string& variant);

// A table with a heading and a note; the first row is the header.
struct PaperTable {
  std::string title, note;
  std::vector<std::vector<std::string>> rows;
};
std::vector<PaperTable> paper_tables(const PaperReport& report);
std::string to_text(const std::vector<PaperTable>& tables);
std::string to_markdown(const std::vector<PaperTable>& tables);
base::Json to_json(const PaperReport& report);

}  // namespace ridge::cli
