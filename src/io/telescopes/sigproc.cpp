// Parses, checks and writes SIGPROC headers.
#include "io/telescopes/sigproc.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/number.hpp"

namespace ridge::io {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they are");

constexpr std::size_t kLongestText = 79;    // of keywords, and of values that are written
constexpr std::size_t kLongestValue = 255;  // some programs write whole paths

class Reader {
 public:
  explicit Reader(InputStream& in) : in_(in) {}

  SigprocHeader read() {
    if (word("HEADER_START") != "HEADER_START") fail("it does not begin with HEADER_START");
    for (;;) {
      const std::string key = word("a keyword");
      if (key == "HEADER_END") break;
      if (!seen_.insert(key).second && key != "fchannel") fail(fmt::format("{} occurs twice", key));
      value(key);
    }
    take_table();
    check();
    return header_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::io, fmt::format("{}: not a SIGPROC file that can be used: {}", in_.name(), what));
  }
  void take(void* to, std::size_t bytes, const std::string& what) {
    taken_ += bytes;
    if (taken_ > kMaxSigprocHeader)
      fail(fmt::format("its header has no HEADER_END within {} bytes", kMaxSigprocHeader));
    const std::size_t got = in_.read(to, bytes);
    if (got == 0 && taken_ == bytes) fail("it is empty");
    if (got != bytes) fail(fmt::format("it ends within the header, at {}", what));
  }
  std::string word(const std::string& what) {
    std::int32_t length = 0;
    take(&length, sizeof length, what);
    if (length < 1 || length > static_cast<std::int32_t>(kLongestText)) {
      fail(fmt::format("{} of {} characters; 1 to {} are allowed", what, length, kLongestText));
    }
    std::string text(static_cast<std::size_t>(length), '\0');
    take(text.data(), text.size(), what);
    for (const char c : text) {
      if (c < ' ' || c > 126) fail(fmt::format("{} with unprintable characters", what));
    }
    return text;
  }
  int integer(const std::string& key) {
    std::int32_t number = 0;
    take(&number, sizeof number, key);
    return number;
  }
  double real(const std::string& key) {
    double number = 0;
    take(&number, sizeof number, key);
    if (!std::isfinite(number)) fail(fmt::format("{} is not a finite number", key));
    return number;
  }
  std::string text(const std::string& key) {
    std::int32_t length = 0;
    take(&length, sizeof length, key);
    if (length < 0 || length > static_cast<std::int32_t>(kLongestValue)) {
      fail(fmt::format("{} of {} characters; at most {} are allowed", key, length, kLongestValue));
    }
    std::string value(static_cast<std::size_t>(length), '\0');
    if (length > 0) take(value.data(), value.size(), key);
    for (char& c : value) c = c >= ' ' && c < 127 ? c : '?';
    return value;
  }

  void value(const std::string& key) {
    SigprocHeader& h = header_;
    const std::pair<const char*, int*> integers[] = {{"telescope_id", &h.telescope_id},
                                                     {"machine_id", &h.machine_id},
                                                     {"data_type", &h.data_type},
                                                     {"barycentric", &h.barycentric},
                                                     {"pulsarcentric", &h.pulsarcentric},
                                                     {"nchans", &h.nchans},
                                                     {"nifs", &h.nifs},
                                                     {"nbits", &h.nbits},
                                                     {"nbeams", &h.nbeams},
                                                     {"ibeam", &h.ibeam}};
    const std::pair<const char*, double*> reals[] = {
        {"az_start", &h.az_start}, {"za_start", &h.za_start}, {"src_raj", &h.src_raj},
        {"src_dej", &h.src_dej},   {"tstart", &h.tstart},     {"tsamp", &h.tsamp},
        {"fch1", &h.fch1},         {"foff", &h.foff},         {"refdm", &h.refdm}};
    for (const auto& [name, to] : integers) {
      if (key == name) return void(*to = integer(key));
    }
    for (const auto& [name, to] : reals) {
      if (key == name) return void(*to = real(key));
    }
    if (key == "source_name") return void(h.source_name = text(key));
    if (key == "rawdatafile") return void(h.rawdatafile = text(key));
    if (key == "nsamples") return void(h.nsamples = integer(key));
    if (key == "period") return void(real(key));
    if (key == "npuls") return void(real(key));
    if (key == "nbins") return void(integer(key));
    // A table of frequencies instead of fch1 and foff.
    if (key == "FREQUENCY_START" || key == "FREQUENCY_END") return;
    if (key == "fchannel") return void(table_.push_back(real(key)));
    if (key == "signed") {
      char flag = 0;
      take(&flag, 1, key);
      h.is_signed = flag != 0;
      return;
    }
    // The length of an unknown keyword's value is unknown, so the rest cannot be parsed.
    fail(fmt::format("keyword {} is not known", key));
  }

  void take_table() {
    if (table_.empty()) return;
    SigprocHeader& h = header_;
    if (table_.size() != static_cast<std::size_t>(std::max(h.nchans, 0)))
      fail(fmt::format("a table of {} frequencies (fchannel) for {} channels", table_.size(), h.nchans));
    h.fch1 = table_.front();
    h.foff = table_.size() == 1 ? h.foff : (table_.back() - table_.front()) / static_cast<double>(table_.size() - 1);
    for (std::size_t i = 0; i < table_.size(); ++i) {
      if (!(std::abs(table_[i] - h.fch1 - static_cast<double>(i) * h.foff) <= 0.01 * std::abs(h.foff)))
        fail(fmt::format("the channels are not evenly spaced: fchannel {} is {} MHz", i, table_[i]));
    }
  }

  void check() const {
    const SigprocHeader& h = header_;
    if (seen_.count("nchans") == 0) fail("nchans is missing");
    if (seen_.count("tsamp") == 0) fail("tsamp is missing");
    if (seen_.count("nbits") == 0) fail("nbits is missing");
    if (h.nchans < 1 || h.nchans > (1 << 24)) fail(fmt::format("nchans is {}", h.nchans));
    if (h.nifs < 1 || h.nifs > 4096) fail(fmt::format("nifs is {}", h.nifs));
    if (h.nbits != 1 && h.nbits != 2 && h.nbits != 4 && h.nbits != 8 && h.nbits != 16 && h.nbits != 32) {
      fail(fmt::format("nbits is {}; 1, 2, 4, 8, 16 and 32 exist", h.nbits));
    }
    if (!(h.tsamp > 0)) fail(fmt::format("tsamp is {}", h.tsamp));
    if (h.nsamples < 0) fail(fmt::format("nsamples is {}", h.nsamples));
    if ((static_cast<std::size_t>(h.nchans) * static_cast<std::size_t>(h.nifs) * static_cast<std::size_t>(h.nbits)) %
            8 !=
        0) {
      fail(fmt::format("nchans {} x nifs {} x nbits {} is not a whole number of bytes", h.nchans, h.nifs, h.nbits));
    }
  }

  InputStream& in_;
  SigprocHeader header_;
  std::set<std::string> seen_;
  std::vector<double> table_;  // frequencies of all channels
  std::size_t taken_ = 0;
};

void put(std::string& out, std::string_view text) {
  const auto length = static_cast<std::int32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out += text;
}

template <class T>
void put(std::string& out, std::string_view key, T value) {
  put(out, key);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

constexpr std::pair<std::string_view, int> kTelescopes[] = {
    {"arecibo", 1},    {"ooty", 2}, {"nancay", 3}, {"parkes", 4}, {"jodrell", 5}, {"gbt", 6},   {"gmrt", 7},
    {"effelsberg", 8}, {"ata", 9},  {"lofar", 11}, {"vla", 12},   {"chime", 20},  {"fast", 21}, {"meerkat", 64}};

}  // namespace

std::size_t SigprocHeader::row_bytes() const {
  return static_cast<std::size_t>(nchans) * static_cast<std::size_t>(nifs) * static_cast<std::size_t>(nbits) / 8;
}

int sigproc_telescope(const std::string& name) {
  const std::string lower = base::lower_case(name);
  for (const auto& [known, number] : kTelescopes) {
    if (lower == known) return number;
  }
  return 0;
}

std::string sigproc_telescope_name(int id) {
  for (const auto& [known, number] : kTelescopes) {
    if (id == number) return std::string(known);
  }
  return "unknown";
}

bool looks_like_sigproc(std::string_view first_bytes) { return first_bytes.starts_with(kSigprocStart); }

SigprocHeader read_sigproc_header(InputStream& in) { return Reader(in).read(); }

std::string sigproc_header(const SigprocHeader& h) {
  std::string out;
  put(out, "HEADER_START");
  for (const auto& [key, text] : {std::pair{"source_name", &h.source_name}, {"rawdatafile", &h.rawdatafile}}) {
    if (text->empty()) continue;
    put(out, key);
    put(out, std::string_view(*text).substr(0, kLongestText));
  }
  put<std::int32_t>(out, "machine_id", h.machine_id);
  put<std::int32_t>(out, "telescope_id", h.telescope_id);
  put<std::int32_t>(out, "data_type", h.data_type);
  if (h.barycentric != 0) put<std::int32_t>(out, "barycentric", h.barycentric);
  if (h.pulsarcentric != 0) put<std::int32_t>(out, "pulsarcentric", h.pulsarcentric);
  put<double>(out, "src_raj", h.src_raj);
  put<double>(out, "src_dej", h.src_dej);
  put<double>(out, "az_start", h.az_start);
  put<double>(out, "za_start", h.za_start);
  put<double>(out, "tstart", h.tstart);
  put<double>(out, "tsamp", h.tsamp);
  put<double>(out, "fch1", h.fch1);
  put<double>(out, "foff", h.foff);
  put<std::int32_t>(out, "nchans", h.nchans);
  put<std::int32_t>(out, "nifs", h.nifs);
  put<std::int32_t>(out, "nbits", h.nbits);
  put<std::int32_t>(out, "nbeams", h.nbeams);
  put<std::int32_t>(out, "ibeam", h.ibeam);
  if (h.refdm != 0) put<double>(out, "refdm", h.refdm);
  if (h.is_signed) put<char>(out, "signed", 1);  // PRESTO does not know the keyword and reads unsigned bytes
  if (h.nsamples > 0 && h.nsamples <= INT32_MAX) {
    put<std::int32_t>(out, "nsamples", static_cast<std::int32_t>(h.nsamples));
  }
  put(out, "HEADER_END");
  return out;
}

}  // namespace ridge::io
