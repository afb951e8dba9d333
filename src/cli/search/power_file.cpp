// Reads rows of power from SIGPROC and PSRFITS files, and parses ranges.
#include "cli/search/power_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/number.hpp"
#include "command/options.hpp"

namespace ridge::cli {

PowerFile::PowerFile(const std::string& name, std::size_t number) : in_(name), number_(number) {
  if (io::looks_like_fits(in_.peek(16))) {
    if (name == "-" || !in_.remaining()) {
      throw Error(
          ErrorKind::io,
          fmt::format("{}: PSRFITS cannot be read from a pipe or standard input: give the name of a file", name));
    }
    fits_.emplace(name);
    header_ = fits_->header();
  } else {
    header_ = io::read_sigproc_header(in_);
  }
  const auto fail = [&](const std::string& what) { throw Error(ErrorKind::io, name + ": " + what); };
  if (header_.nchans > 65536) fail(fmt::format("has {} channels; at most 65536 can be searched", header_.nchans));
  if (header_.foff == 0) fail("foff (the channel step, MHz) must not be 0");
  if (header_.fch1 <= 0 || band().lowest_mhz() <= 0)
    fail(fmt::format("fch1 {} MHz and foff {} MHz do not describe a band above 0", header_.fch1, header_.foff));
  if (header_.fch1 > 1e7) fail(fmt::format("fch1 is in MHz, and {} MHz is no frequency of a telescope", header_.fch1));
  if (number >= static_cast<std::size_t>(header_.nifs))
    fail(fmt::format("--if {} does not exist: the file has {} IFs, counted from 0", number, header_.nifs));
  if (header_.nifs > 1 && header_.nchans * header_.nbits % 8 != 0)
    fail(fmt::format("{} channels of {} bits: the rows of an IF are not whole bytes", header_.nchans, header_.nbits));
  begin_ = in_.position();
  if (header_.nsamples > 0) left_ = static_cast<std::uint64_t>(header_.nsamples);
}

search::Band PowerFile::band() const {
  return {.channels = static_cast<std::size_t>(header_.nchans),
          .first_mhz = header_.fch1,
          .step_mhz = header_.foff,
          .interval = header_.tsamp};
}

std::size_t PowerFile::row_bytes() const { return header_.row_bytes() / static_cast<std::size_t>(header_.nifs); }

std::optional<std::uint64_t> PowerFile::rows_left() const {
  if (fits_) return fits_->rows_left();
  const auto bytes = in_.remaining();
  if (!bytes) return {};
  return std::min(*bytes / header_.row_bytes(), left_);
}

// All IFs. Returns the number of bytes, which may end in an incomplete row of a SIGPROC file.
std::size_t PowerFile::read_bytes(std::vector<std::byte>& to, std::size_t rows) {
  const std::size_t row = header_.row_bytes();
  if (!fits_) return in_.read_growing(to, rows * row);
  to.resize(std::min<std::uint64_t>(rows, fits_->rows_left()) * row);
  return fits_->read(reinterpret_cast<float*>(to.data()), to.size() / row) * row;
}

std::size_t PowerFile::read(std::vector<std::byte>& to, std::size_t rows) {
  rows = static_cast<std::size_t>(std::min<std::uint64_t>(rows, left_));
  const std::size_t whole = header_.row_bytes(), part = row_bytes();
  std::vector<std::byte>& all = header_.nifs == 1 ? to : piece_;
  const std::size_t bytes = read_bytes(all, rows), got = bytes / whole;
  row_ += rows_;
  rows_ = got;
  left_ -= left_ == UINT64_MAX ? 0 : got;
  if (!fits_) {
    look_for_header(all);
    if (got < rows || left_ == 0) warn_of_rest(bytes % whole);
  }
  all.resize(got * whole);
  if (header_.nifs > 1) {
    to.resize(got * part);
    for (std::size_t r = 0; r < got; ++r)
      std::memcpy(to.data() + r * part, all.data() + r * whole + number_ * part, part);
  }
  return got;
}

// A file joined to another has a header among the rows, at any byte if the first file is truncated.
void PowerFile::look_for_header(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::size_t kSeam = io::kSigprocStart.size() - 1;
  static const std::boyer_moore_horspool_searcher finder(io::kSigprocStart.begin(), io::kSigprocStart.end());
  const auto holds = [](std::string_view some) { return std::search(some.begin(), some.end(), finder) != some.end(); };
  before_ += text.substr(0, kSeam);
  if (holds(before_) || holds(text)) fail_joined(row_ + rows_);
  if (text.size() >= kSeam) before_ = text.substr(text.size() - kSeam);
  if (before_.size() > kSeam) before_.erase(0, before_.size() - kSeam);
}

void PowerFile::warn_of_rest(std::size_t incomplete) {
  if (incomplete > 0) {
    base::warn(fmt::format("{}: the last row is incomplete, {} of {} bytes, and is not read", name(), incomplete,
                           header_.row_bytes()));
  }
  if (left_ > 0 && left_ != UINT64_MAX && !warned_) {
    base::warn(fmt::format("{}: ends after {} of the {} samples of its header (nsamples)", name(),
                           static_cast<std::uint64_t>(header_.nsamples) - left_, header_.nsamples));
    warned_ = true;
  }
  if (left_ > 0 || in_.from_ring()) return;  // a ring's next bytes may never come
  const std::string_view rest = in_.peek(io::kSigprocStart.size());
  if (io::looks_like_sigproc(rest)) fail_joined(row_ + rows_);
  if (!rest.empty()) {
    base::warn(fmt::format("{}: more samples follow the nsamples {} of its header, and are not read", name(),
                           header_.nsamples));
  }
}

void PowerFile::fail_joined(std::uint64_t rows) const {
  throw Error(ErrorKind::io,
              fmt::format("{}: another SIGPROC header follows after at most {} rows: joined files; use them one by one",
                          name(), rows));
}

void PowerFile::flag_lost(std::vector<std::byte>& bits) {
  for (const io::LostBytes& one : in_.take_lost()) lost_.push_back(one);
  const std::size_t whole = header_.row_bytes(), mask = (static_cast<std::size_t>(header_.nchans) + 7) / 8;
  const std::uint64_t end = row_ + rows_;
  std::vector<bool> flagged(rows_);
  for (const io::LostBytes& one : lost_) {
    if (one.first + one.bytes <= begin_) continue;
    const std::uint64_t first = (std::max(one.first, begin_) - begin_) / whole;
    const std::uint64_t last = (one.first + one.bytes - begin_ + whole - 1) / whole;
    for (std::uint64_t r = std::max(first, row_); r < std::min(last, end); ++r) flagged[r - row_] = true;
  }
  for (std::size_t r = 0; r < rows_; ++r) {
    if (!flagged[r]) continue;
    ++rows_lost_;
    std::fill_n(bits.begin() + static_cast<std::ptrdiff_t>(r * mask), mask, std::byte{0xff});
  }
  std::erase_if(lost_, [&](const io::LostBytes& one) { return one.first + one.bytes <= begin_ + end * whole; });
}

void PowerFile::skip(std::uint64_t rows) {
  constexpr std::uint64_t kAtOnce = 4096;
  std::vector<std::byte> dropped;
  while (rows > 0) {
    const std::size_t got = read(dropped, static_cast<std::size_t>(std::min(rows, kAtOnce)));
    if (got == 0) return;
    rows -= got;
  }
}

double largest_dm(const PowerFile& in, double dm) {
  const search::Band band = in.band();
  const auto rows = in.rows_left();
  if (!rows) return std::numeric_limits<double>::infinity();
  if (*rows == 0) mistake(fmt::format("{}: has no samples", in.name()));
  const double seconds = static_cast<double>(*rows) * band.interval;
  const double sweep = search::delay_seconds(dm, band.lowest_mhz(), band.highest_mhz());
  const double largest = seconds / search::delay_seconds(1, band.lowest_mhz(), band.highest_mhz());
  if (seconds <= sweep) {
    mistake(fmt::format("{}: holds {:.3g} s, and the sweep of DM {} takes {:.3g} s: DM {:.4g} is the largest that fits",
                        in.name(), seconds, dm, sweep, largest));
  }
  return largest;
}

Range parse_range(const std::string& option, const std::string& text) {
  const auto number = [](const std::string& word) { return base::number_of(word).value_or(std::nan("")); };
  std::size_t at = text.find(".."), skip = 2;
  if (at == std::string::npos) at = text.find(':', 1), skip = 1;
  const Range range = at == std::string::npos ? Range{number(text), number(text)}
                                              : Range{number(text.substr(0, at)), number(text.substr(at + skip))};
  if (!std::isfinite(range.begin) || !std::isfinite(range.end))
    mistake(fmt::format("{} {}: needs a range such as 0..3000, or one number", option, text));
  if (range.end < range.begin)
    mistake(
        fmt::format("{} {}: needs the smaller number first: {:.12g}..{:.12g}", option, text, range.end, range.begin));
  return range;
}

}  // namespace ridge::cli
