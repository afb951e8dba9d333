// Reads SEG-Y files.
#include "io/arrays/segy.hpp"

#include <bit>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "io/telescopes/stream.hpp"

namespace ridge::io {
namespace {

constexpr std::size_t kTextBytes = 3200, kBinaryBytes = 400, kTraceBytes = 240;

[[noreturn]] void refuse_segy(const std::string& what) { throw Error(ErrorKind::io, what); }

// Big-endian numbers at the byte positions of the standard, which are counted from 1.
class SegyHeader {
 public:
  explicit SegyHeader(std::size_t size) : bytes_(size) {}
  bool read(InputStream& in) { return in.read(bytes_.data(), bytes_.size()) == bytes_.size(); }
  std::uint32_t unsigned16(std::size_t at) const { return byte(at) << 8 | byte(at + 1); }
  std::int32_t signed16(std::size_t at) const { return static_cast<std::int16_t>(unsigned16(at)); }
  std::int32_t signed32(std::size_t at) const {
    return static_cast<std::int32_t>(unsigned16(at) << 16 | unsigned16(at + 2));
  }

 private:
  std::uint32_t byte(std::size_t at) const { return static_cast<std::uint32_t>(bytes_[at - 1]); }
  std::vector<std::byte> bytes_;
};

// Sixteens to the power of the exponent, minus 64, times a fraction of 24 bits.
float from_ibm(std::uint32_t bits) {
  const auto fraction = static_cast<float>(bits & 0xffffff);
  const int exponent = static_cast<int>(bits >> 24 & 127) - 64;
  return std::ldexp(bits >> 31 != 0 ? -fraction : fraction, 4 * exponent - 24);
}

std::size_t bytes_of_sample(std::int32_t format) {
  switch (format) {
    case 1:  // IBM floats
    case 2:  // 32-bit integers
    case 5:  // IEEE floats
      return 4;
    case 3:  // 16-bit integers
      return 2;
    case 8:  // 8-bit integers
      return 1;
    default:
      return 0;
  }
}

float sample_of(const std::byte* at, std::int32_t format) {
  const auto byte = [at](std::size_t i) { return static_cast<std::uint32_t>(at[i]); };
  if (format == 8) return static_cast<float>(static_cast<std::int8_t>(byte(0)));
  if (format == 3) return static_cast<float>(static_cast<std::int16_t>(byte(0) << 8 | byte(1)));
  const std::uint32_t bits = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
  if (format == 1) return from_ibm(bits);
  return format == 5 ? std::bit_cast<float>(bits) : static_cast<float>(static_cast<std::int32_t>(bits));
}

// A scalar multiplies if it is above 0 and divides if it is below.
double scaled(std::int32_t value, std::int32_t scalar) {
  const double number = value;
  return scalar == 0 ? number : scalar > 0 ? number * scalar : number / -static_cast<double>(scalar);
}

double interval_of(const SegyHeader& trace) { return 1e-6 * trace.unsigned16(117); }

SegyTrace trace_of(const SegyHeader& header) {
  const std::int32_t heights = header.signed16(69), lengths = header.signed16(71);
  SegyTrace trace{.record = header.signed32(9)};
  trace.source = {scaled(header.signed32(49), heights) - scaled(header.signed32(45), heights),
                  scaled(header.signed32(77), lengths), scaled(header.signed32(73), lengths)};
  trace.receiver = {0 - scaled(header.signed32(41), heights), scaled(header.signed32(85), lengths),
                    scaled(header.signed32(81), lengths)};
  return trace;
}

struct SegyForm {
  std::int32_t format = 0;
  std::size_t sample_bytes = 0;
};

SegyForm read_file_headers(InputStream& in, const std::string& file, Segy& segy) {
  SegyHeader text(kTextBytes), binary(kBinaryBytes);
  if (!text.read(in) || !binary.read(in))
    refuse_segy(fmt::format("{}: ends within the {} bytes of SEG-Y's file headers", file, kTextBytes + kBinaryBytes));
  SegyForm form{.format = binary.signed16(25)};
  form.sample_bytes = bytes_of_sample(form.format);
  if (form.sample_bytes == 0)
    refuse_segy(fmt::format(
        "{}: samples of format {}; readable are 1 (IBM floats), 2, 3, 8 (integers) and 5 (IEEE floats), big-endian",
        file, form.format));
  segy.interval = 1e-6 * binary.unsigned16(17);
  segy.samples = binary.unsigned16(21);
  const std::int32_t extended = binary.signed16(305);
  if (extended < 0)
    refuse_segy(fmt::format("{}: a number of {} extended text headers; it must be at least 0", file, extended));
  for (std::int32_t k = 0; k < extended; ++k) {
    if (!text.read(in))
      refuse_segy(fmt::format("{}: ends within extended text header {} of {}", file, k + 1, extended));
  }
  return form;
}

}  // namespace

bool is_segy_name(const std::string& file) {
  const auto ending = std::filesystem::path(file).extension();
  return ending == ".sgy" || ending == ".segy";
}

Segy read_segy(const std::string& file, bool values) {
  InputStream in(file);
  Segy segy;
  const SegyForm form = read_file_headers(in, file, segy);
  SegyHeader header(kTraceBytes);
  std::vector<std::byte> samples;
  while (!in.peek(1).empty()) {
    const std::size_t index = segy.traces.size();
    if (!header.read(in)) refuse_segy(fmt::format("{}: ends within the header of trace {}", file, index + 1));
    const std::size_t count = header.unsigned16(115);
    if (segy.samples == 0) segy.samples = count;
    if (segy.interval == 0) segy.interval = interval_of(header);
    if (count != 0 && count != segy.samples)
      refuse_segy(fmt::format("{}: trace {} has {} samples, {} {}; all traces must have equally many", file, index + 1,
                              count, index == 0 ? "the file header says" : "those before have", segy.samples));
    if (segy.samples == 0)
      refuse_segy(fmt::format("{}: the headers say 0 samples per trace, at least 1 is needed", file));
    if (const std::int32_t units = header.signed16(89); units > 1)
      refuse_segy(fmt::format("{}: positions of trace {} are angles (units {}); they must be lengths (1)", file,
                              index + 1, units));
    const std::size_t bytes = segy.samples * form.sample_bytes;
    if (in.read_growing(samples, bytes) != bytes)
      refuse_segy(fmt::format("{}: ends within the {} samples of trace {}", file, segy.samples, index + 1));
    segy.traces.push_back(trace_of(header));
    const SegyTrace &trace = segy.traces.back(), &before = segy.traces[index - (index > 0 ? 1 : 0)];
    if (index == 0 || trace.record != before.record || trace.source != before.source) segy.shot_begin.push_back(index);
    for (std::size_t i = 0; values && i < segy.samples; ++i)
      segy.values.push_back(sample_of(samples.data() + i * form.sample_bytes, form.format));
  }
  if (segy.traces.empty()) refuse_segy(fmt::format("{}: needs at least one trace, has none", file));
  segy.shot_begin.push_back(segy.traces.size());
  return segy;
}

double segy_interval(const std::string& file) {
  InputStream in(file);
  Segy segy;
  read_file_headers(in, file, segy);
  SegyHeader header(kTraceBytes);
  return segy.interval > 0 || !header.read(in) ? segy.interval : interval_of(header);
}

}  // namespace ridge::io
