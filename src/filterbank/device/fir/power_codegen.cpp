// Power rows of kernels that keep the sums in registers, and their kernel text.
#include "filterbank/device/fir/power_codegen.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "filterbank/device/finish_codegen.hpp"
#include "filterbank/device/fir/fir.hpp"

namespace ridge::filterbank::on_device {
namespace {

constexpr std::size_t kReserved = 1024;    // bytes of local memory per group that the driver takes
constexpr std::size_t kVector = 4;         // sums per load
constexpr std::size_t kLongestUnit = 128;  // times; short enough that one push of a stream occupies every compute unit

}  // namespace

std::size_t power_iterations(const KernelDesign& design, std::size_t times) {
  if (times % design.steps != 0 || design.rounds > 0) return times % design.steps == 0 ? 1 : 0;
  std::size_t best = 1;
  for (std::size_t iterations = 2; iterations * design.steps <= kLongestUnit; ++iterations) {
    if (times / design.steps % iterations == 0) best = iterations;
  }
  return best;
}

bool sum_whole_iterations(KernelDesign& d, std::size_t times, std::size_t rows) {
  const std::size_t iterations = power_iterations(d, times);
  if (iterations == 0 || d.products == Products::stokes) return false;
  d.unit = iterations * d.steps;
  d.summed = d.unit / rows;
  return d.unit % rows == 0;
}

std::size_t local_squares(const KernelDesign& design, std::size_t local) {
  if (design.products != Products::moments || design.fir->local_squares == nullptr) return 0;
  const std::size_t room = local / design.resident, rest = text_of(design).local_bytes + kReserved;
  const std::size_t fit = room > rest ? (room - rest) / (kVector * sizeof(float) * design.items) : 0;
  return kVector * std::min(fit, design.fir->local_squares(design) / kVector);
}

void PowerWriter::declare_local(const std::string& place) {
  if (d_.local_squares > 0) text_.line("LOCAL float4* const squares = (LOCAL float4*)({}) + item;", place);
}

void PowerWriter::declare(const std::string& name) {
  text_.line("float {}[{}];", name, count_);
  if (second_sums()) text_.line("float cross_{}[{}];", name, count_);
  clear(name);
}

void PowerWriter::clear(const std::string& name) {
  for (std::size_t k = 0; k < count_; ++k) {
    text_.line("{}[{}] = 0.0f;", name, k);
    if (second_sums() && k >= d_.local_squares) text_.line("cross_{}[{}] = 0.0f;", name, k);
  }
  for (std::size_t k = 0; k < d_.local_squares; k += kVector) {
    text_.line("squares[{}] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);", vector_at(k));
  }
}

void PowerWriter::add(const std::string& first, const std::string& name) {
  for (std::size_t k = 0; k < count_; ++k) {
    const bool local = k < d_.local_squares;
    if (local && k % kVector == 0) text_.line("float4 vector{} = squares[{}];", k / kVector, vector_at(k));
    text_.open();
    text_.line("const float2 z = {};",
               finished(d_, fmt::format("v[{}]", k), fmt::format("({} + {})", first, k * step_)));
    if (d_.products == Products::moments) {
      text_.line("const float one = FMA(z.x, z.x, z.y * z.y);");
      const std::string square =
          local ? fmt::format("vector{}.{}", k / kVector, "xyzw"[k % kVector]) : fmt::format("cross_{}[{}]", name, k);
      text_.line("{0}[{1}] += one, {2} = FMA(one, one, {2});", name, k, square);
    } else {
      text_.line("{0}[{1}] = FMA(z.x, z.x, FMA(z.y, z.y, {0}[{1}]));", name, k);
    }
    text_.close();
    if (local && k % kVector == kVector - 1) text_.line("squares[{}] = vector{};", vector_at(k), k / kVector);
  }
}

// `cross_power` are cross products of x (the first polarization) and y: the lower 16 lanes sum re(x conj(y)), the upper
// ones -im.
void PowerWriter::add_crossed(const std::string& first) {
  if (d_.products != Products::stokes) return add(first);
  for (std::size_t k = 0; k < count_; ++k) {
    text_.open();
    text_.line("const float2 z = {};",
               finished(d_, fmt::format("v[{}]", k), fmt::format("({} + {})", first, k * step_)));
    text_.line("power[{0}] = FMA(z.x, z.x, FMA(z.y, z.y, power[{0}]));", k);
    text_.line("const float other_x = SHUFFLE_XOR(z.x, 16), other_y = SHUFFLE_XOR(z.y, 16);");
    text_.line(
        "cross_power[{0}] = FMA(z.x, pol == 0 ? other_x : -other_y, FMA(z.y, pol == 0 ? other_y : other_x, "
        "cross_power[{0}]));",
        k);
    text_.close();
  }
}

std::size_t PowerWriter::vector_at(std::size_t k) const { return k / kVector * d_.items; }

void PowerWriter::target(const std::string& row, const std::string& first) {
  text_.line("GLOBAL float* const to = (GLOBAL float*)out + (out_offset + ((ulong)({}) * {} + station) * {} + {});",
             row, d_.geometry.stations, d_.product_count() * d_.geometry.channels, first);
}

void PowerWriter::store(const std::string& row, const std::string& product, const std::string& first,
                        const std::string& name) {
  target(row, fmt::format("({}) * {} + {}", product, d_.geometry.channels, first));
  // Sums of squares are the products after those of both polarizations.
  const std::size_t squares = d_.geometry.polarizations * d_.geometry.channels;
  for (std::size_t k = 0; k < count_; ++k) {
    text_.line("STORE_ONCE(to + {}, {}[{}]);", k * step_, name, k);
    if (d_.products != Products::moments) continue;
    const std::string square = k < d_.local_squares ? fmt::format("squares[{}].{}", vector_at(k), "xyzw"[k % kVector])
                                                    : fmt::format("cross_{}[{}]", name, k);
    text_.line("STORE_ONCE(to + {}, {});", squares + k * step_, square);
  }
}

void PowerWriter::store_crossed(const std::string& row, const std::string& first) {
  const std::size_t channels = d_.geometry.channels;
  switch (d_.products) {
    case Products::powers:
    case Products::moments:
      return store(row, "pol", first);
    case Products::total:
      // Each half of the lanes stores every second channel.
      target(row, fmt::format("{} + pol * {}", first, step_));
      for (std::size_t k = 0; k < count_; k += 2) {
        text_.line(
            "STORE_ONCE(to + {0}, (pol == 0 ? power[{1}] : power[{2}]) + SHUFFLE_XOR(pol == 0 ? power[{2}] : "
            "power[{1}], "
            "16));",
            k * step_, k, k + 1);
      }
      return;
    case Products::stokes:
      target(row, fmt::format("pol * {} + {}", channels, first));
      for (std::size_t k = 0; k < count_; ++k) {
        text_.open();
        text_.line("const float other = SHUFFLE_XOR(power[{}], 16);", k);
        text_.line("STORE_ONCE(to + {}, pol == 0 ? power[{}] + other : other - power[{}]);", k * step_, k, k);
        text_.line("STORE_ONCE(to + {}, 2.0f * cross_power[{}]);", 2 * channels + k * step_, k);
        text_.close();
      }
  }
}

}  // namespace ridge::filterbank::on_device
