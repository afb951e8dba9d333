// Reads PSRFITS through cfitsio.
#include <fitsio.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/library.hpp"
#include "base/log.hpp"
#include "io/telescopes/fits/psrfits.hpp"

namespace ridge::io {
namespace {

const base::Library cfitsio{base::cfitsio_library, "PSRFITS files"};
#define RIDGE_CFITSIO(name) \
  const base::Function<decltype(::name)> name { cfitsio, #name }
RIDGE_CFITSIO(ffdkopn);  // open, without the file name's extended syntax
RIDGE_CFITSIO(ffclos);   // close
RIDGE_CFITSIO(ffgerr);   // text of a status
RIDGE_CFITSIO(ffmnhd);   // go to a table by its name
RIDGE_CFITSIO(ffgkys);   // keywords: text, integer, number
RIDGE_CFITSIO(ffgkyjj);
RIDGE_CFITSIO(ffgkyd);
RIDGE_CFITSIO(ffgcno);    // column of a name
RIDGE_CFITSIO(ffgtclll);  // type and number of elements of a column
RIDGE_CFITSIO(ffgnrwll);  // rows
RIDGE_CFITSIO(ffghadll);  // where a header and its data begin and end
RIDGE_CFITSIO(ffgcve);    // elements as float, double and bytes
RIDGE_CFITSIO(ffgcvd);
RIDGE_CFITSIO(ffgcvb);
#undef RIDGE_CFITSIO

constexpr float kNoSample = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kMostBlock = std::size_t{1} << 30;        // bytes of a table row
constexpr std::uint64_t kMostMissing = std::uint64_t{1} << 32;  // samples between two table rows

// Sexagesimal "hh:mm:ss.s" as SIGPROC's hhmmss.s; 0 if it has another form.
double packed_angle(const std::string& text) {
  int first = 0, minutes = 0;
  int used = 0;
  const bool negative = text.find('-') != std::string::npos;
  const std::size_t from = text.find_first_of("0123456789");
  if (from == std::string::npos || std::sscanf(text.c_str() + from, "%d:%d:%n", &first, &minutes, &used) != 2 ||
      used == 0)
    return 0;
  const std::string_view rest = std::string_view(text).substr(from + static_cast<std::size_t>(used));
  double seconds = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), seconds).ec != std::errc()) return 0;
  const double packed = first * 10000.0 + minutes * 100.0 + seconds;
  return negative ? -packed : packed;
}

class FitsFile {
 public:
  explicit FitsFile(const std::string& path) : path_(path) {
    int status = 0;
    ffdkopn(&file_, path.c_str(), READONLY, &status);
    if (status != 0) file_ = nullptr;
    check(status, "open it");
  }
  ~FitsFile() {
    int status = 0;
    if (file_ != nullptr) ffclos(file_, &status);
  }
  FitsFile(const FitsFile&) = delete;
  FitsFile& operator=(const FitsFile&) = delete;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::io, fmt::format("{}: not a PSRFITS file of search mode that can be used: {}", path_, what));
  }
  void check(int status, const std::string& what) const {
    if (status == 0) return;
    char text[FLEN_STATUS] = {};
    ffgerr(status, text);
    fail(fmt::format("cfitsio cannot {}: {}", what, text));
  }
  void table(const char* name) {
    int status = 0;
    ffmnhd(file_, BINARY_TBL, const_cast<char*>(name), 0, &status);
    check(status, fmt::format("find the table {}", name));
  }
  const std::string& path() const { return path_; }
  std::string text(const char* key) {
    char value[FLEN_VALUE] = {};
    int status = 0;
    ffgkys(file_, key, value, nullptr, &status);
    return status == 0 ? value : "";
  }
  std::int64_t integer(const char* key, std::int64_t low, std::int64_t high,
                       std::optional<std::int64_t> otherwise = {}) {
    LONGLONG value = 0;
    int status = 0;
    ffgkyjj(file_, key, &value, nullptr, &status);
    if (status != 0 && otherwise) return *otherwise;
    check(status, fmt::format("read {}", key));
    if (value < low || value > high) fail(fmt::format("{} must be {} to {}, got {}", key, low, high, value));
    return value;
  }
  double number(const char* key, std::optional<double> otherwise = {}) {
    double value = 0;
    int status = 0;
    ffgkyd(file_, key, &value, nullptr, &status);
    if (status != 0 && otherwise) return *otherwise;
    check(status, fmt::format("read {}", key));
    if (!std::isfinite(value)) fail(fmt::format("{} is not a finite number", key));
    return value;
  }
  std::uint64_t rows() {
    LONGLONG rows = 0;
    int status = 0;
    ffgnrwll(file_, &rows, &status);
    check(status, "count the rows");
    return static_cast<std::uint64_t>(std::max<LONGLONG>(rows, 0));
  }
  // Refuses files joined by cat: cfitsio would read the first one only.
  void refuse_joined() {
    LONGLONG end = 0;
    int status = 0;
    ffghadll(file_, nullptr, nullptr, &end, &status);
    check(status, "find the end of the table");
    std::ifstream in(path_, std::ios::binary);
    std::array<char, 10> start{};
    if (in.seekg(end) && in.read(start.data(), start.size()) && std::string_view(start.data(), 10) == "SIMPLE  = ")
      fail("another FITS file follows the table: joined files are not read, pass them one by one");
  }
  // 0 if the table has no such column. Error{io} if it does not have `elements` elements.
  int column(const char* name, std::size_t elements) {
    int column = 0, status = 0, type = 0;
    ffgcno(file_, CASEINSEN, const_cast<char*>(name), &column, &status);
    if (status != 0) return 0;
    LONGLONG repeat = 0, width = 0;
    ffgtclll(file_, column, &type, &repeat, &width, &status);
    check(status, fmt::format("read the type of column {}", name));
    if (static_cast<std::size_t>(repeat) != elements)
      fail(fmt::format("column {} must have {} elements, got {}", name, elements, repeat));
    return column;
  }
  void read(int column, std::uint64_t row, std::span<float> to) { read_by(ffgcve, column, row, to, 0.0F); }
  void read(int column, std::uint64_t row, std::span<double> to) { read_by(ffgcvd, column, row, to, 0.0); }
  void read(int column, std::uint64_t row, std::span<unsigned char> to) {
    read_by(ffgcvb, column, row, to, static_cast<unsigned char>(0));
  }

 private:
  template <class Read, class T>
  void read_by(const Read& function, int column, std::uint64_t row, std::span<T> to, T null) {
    int status = 0, any = 0;
    function(file_, column, static_cast<LONGLONG>(row + 1), 1, static_cast<LONGLONG>(to.size()), null, to.data(), &any,
             &status);
    check(status, fmt::format("read row {} of column {}", row + 1, column));
  }
  std::string path_;
  fitsfile* file_ = nullptr;
};

}  // namespace

bool have_psrfits() { return cfitsio.available(); }

struct PsrfitsReader::Impl {
  explicit Impl(const std::string& path) : file(path) {
    read_header();
    file.table("SUBINT");
    file.refuse_joined();
    read_shape();
    find_columns();
    read_frequencies();
  }

  void read_header() {
    if (const std::string mode = file.text("OBS_MODE"); mode != "SEARCH" && mode != "SRCH" && mode != "CAL")
      file.fail(fmt::format("OBS_MODE must be SEARCH, got \"{}\"", mode));
    header.source_name = file.text("SRC_NAME");
    header.telescope_id = sigproc_telescope(file.text("TELESCOP"));
    header.src_raj = packed_angle(file.text("RA"));
    header.src_dej = packed_angle(file.text("DEC"));
    header.tstart = static_cast<double>(file.integer("STT_IMJD", 0, 1000000, 0)) +
                    (file.number("STT_SMJD", 0) + file.number("STT_OFFS", 0)) / 86400;
  }

  void read_shape() {
    header.tsamp = file.number("TBIN");
    if (!(header.tsamp > 0)) file.fail(fmt::format("TBIN must be positive, got {}", header.tsamp));
    header.nchans = static_cast<int>(file.integer("NCHAN", 1, 65536));
    header.nifs = static_cast<int>(file.integer("NPOL", 1, 4, 1));
    bits = static_cast<std::size_t>(file.integer("NBITS", 1, 32, 8));
    if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16 && bits != 32)
      file.fail(fmt::format("NBITS must be 1, 2, 4, 8, 16 or 32, got {}", bits));
    block = static_cast<std::size_t>(file.integer("NSBLK", 1, std::int64_t{1} << 30));
    is_signed = file.integer("SIGNINT", 0, 1, 0) == 1;
    zero = file.number("ZERO_OFF", 0);
    width = static_cast<std::size_t>(header.nchans) * static_cast<std::size_t>(header.nifs);
    if (block > kMostBlock * 8 / bits / width)
      file.fail(fmt::format("a row of NSBLK {} x NPOL x NCHAN {} values is too long", block, width));
    if (block * width * bits % 8 != 0) file.fail("the samples of a row are not whole bytes");
    table_rows = file.rows();
    header.tstart += static_cast<double>(file.integer("NSUBOFFS", 0, std::int64_t{1} << 40, 0)) *
                     static_cast<double>(block) * header.tsamp / 86400;
    rows = table_rows * block;
    const auto all = static_cast<std::uint64_t>(file.integer("NSTOT", 0, std::numeric_limits<std::int64_t>::max(), 0));
    if (all > rows || (all > 0 && all + block <= rows)) {
      base::warn(fmt::format("{}: NSTOT counts {} samples, and the {} rows of NSBLK {} hold {}", file.path(), all,
                             table_rows, block, rows));
    }
    if (all > 0) rows = std::min(rows, all);
    header.nbits = 32;
  }

  void find_columns() {
    const auto channels = static_cast<std::size_t>(header.nchans);
    data = file.column("DATA", bits >= 16 ? block * width : block * width * bits / 8);
    if (data == 0) file.fail("the table SUBINT has no column DATA");
    weights = file.column("DAT_WTS", channels);
    offsets = file.column("DAT_OFFS", width);
    scales = file.column("DAT_SCL", width);
    frequencies = file.column("DAT_FREQ", channels);
    times = file.column("OFFS_SUB", 1);
    weight.assign(channels, 1), offset.assign(width, 0), scale.assign(width, 1);
    values.resize(block * width);
    if (bits < 16) packed.resize(block * width * bits / 8);
  }

  void read_frequencies() {
    std::vector<double> mhz(static_cast<std::size_t>(header.nchans));
    if (frequencies == 0 || table_rows == 0) file.fail("there are no frequencies: DAT_FREQ, or rows, are missing");
    file.read(frequencies, 0, std::span(mhz));
    header.fch1 = mhz.front();
    header.foff =
        mhz.size() > 1 ? (mhz.back() - mhz.front()) / static_cast<double>(mhz.size() - 1) : file.number("CHAN_BW", 0);
    for (std::size_t c = 0; c < mhz.size(); ++c) {
      const double expected = header.fch1 + header.foff * static_cast<double>(c);
      if (!(std::abs(mhz[c] - expected) <= 0.01 * std::abs(header.foff)))
        file.fail(
            fmt::format("DAT_FREQ is not evenly spaced: channel {} has {} MHz instead of {}", c, mhz[c], expected));
    }
    if (times != 0) file.read(times, 0, std::span(&first_time, 1));
  }

  // Samples that the file lacks before table row `next`, from the times of the rows' middles.
  std::uint64_t missing() {
    if (times == 0 || next == 0) return 0;
    double time = 0;
    file.read(times, next, std::span(&time, 1));
    const double samples = (time - first_time) / header.tsamp - static_cast<double>(next * block + gaps);
    if (time != 0 && samples < -0.5 * static_cast<double>(block)) {
      file.fail(
          fmt::format("OFFS_SUB of row {} is {:.0f} samples before the end of the previous row: rows are repeated or "
                      "not in order of time",
                      next + 1, -samples));
    }
    if (time == 0 || !(samples > 0.5)) return 0;
    if (samples > static_cast<double>(kMostMissing))
      file.fail(fmt::format("OFFS_SUB of row {} is {} samples late", next + 1, samples));
    return static_cast<std::uint64_t>(std::llround(samples));
  }

  // Decodes table row `next` to `values`.
  void load() {
    if (weights != 0) file.read(weights, next, std::span(weight));
    if (offsets != 0) file.read(offsets, next, std::span(offset));
    if (scales != 0) file.read(scales, next, std::span(scale));
    if (bits >= 16) {
      file.read(data, next, std::span(values));
    } else {
      file.read(data, next, std::span(packed));
      const std::size_t each = 8 / bits;
      const unsigned mask = (1U << bits) - 1;
      for (std::size_t i = 0; i < values.size(); ++i) {  // the first sample is in the highest bits
        const unsigned byte = packed[i / each], value = byte >> (8 - bits - i % each * bits) & mask;
        const bool negative = is_signed && (value >> (bits - 1)) != 0;
        values[i] = static_cast<float>(static_cast<int>(value) - (negative ? 1 << bits : 0));
      }
    }
    const auto channels = static_cast<std::size_t>(header.nchans);
    for (std::size_t t = 0; t < block; ++t) {
      for (std::size_t i = 0; i < width; ++i) {
        float& value = values[t * width + i];
        value = weight[i % channels] == 0
                    ? kNoSample
                    : static_cast<float>((static_cast<double>(value) - zero) * scale[i] + offset[i]);
      }
    }
    ++next;
    at = 0;
  }

  std::size_t read(float* to, std::size_t wanted) {
    std::size_t got = 0;
    while (got < wanted && taken < rows + gaps) {
      if (gap == 0 && at == block && next < table_rows) {
        if (const std::uint64_t lost = counted == next ? 0 : missing(); lost > 0) {
          gap = lost, gaps += lost, counted = next;
          continue;
        }
        load();
      }
      const std::uint64_t here = gap > 0 ? gap : block - at;
      const auto some = static_cast<std::size_t>(std::min<std::uint64_t>({wanted - got, here, rows + gaps - taken}));
      if (some == 0) break;
      if (gap > 0) {
        std::fill_n(to + got * width, some * width, kNoSample);
        gap -= some;
      } else {
        std::copy_n(values.data() + at * width, some * width, to + got * width);
        at += some;
      }
      got += some;
      taken += some;
    }
    return got;
  }

  FitsFile file;
  SigprocHeader header;
  std::size_t bits = 8, block = 1, width = 1;
  bool is_signed = false;
  double zero = 0, first_time = 0;
  int data = 0, weights = 0, offsets = 0, scales = 0, frequencies = 0, times = 0;
  std::uint64_t table_rows = 0, rows = 0, next = 0, taken = 0;
  std::uint64_t gap = 0, gaps = 0;  // missing samples: still to be written, total so far
  std::uint64_t counted = 0;        // missing samples are counted up to this table row
  std::size_t at = block;           // of the values that read() returns next
  std::vector<float> weight, offset, scale, values;
  std::vector<unsigned char> packed;
};

PsrfitsReader::PsrfitsReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {
  impl_->at = impl_->block;
}
PsrfitsReader::~PsrfitsReader() = default;
PsrfitsReader::PsrfitsReader(PsrfitsReader&&) noexcept = default;
const SigprocHeader& PsrfitsReader::header() const { return impl_->header; }
std::uint64_t PsrfitsReader::rows_left() const { return impl_->rows + impl_->gaps - impl_->taken; }
std::size_t PsrfitsReader::read(float* to, std::size_t rows) { return impl_->read(to, rows); }

}  // namespace ridge::io
