// Power rows of kernels that keep the sums in registers, and their kernel text.
#include "filterbank/device/fir/power_codegen.hpp"

#include <fmt/format.h>

#include "filterbank/device/finish_codegen.hpp"

namespace ridge::filterbank::on_device {
namespace {

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
  if (iterations == 0 || d.products == Products::stokes || d.products == Products::moments) return false;
  d.unit = iterations * d.steps;
  d.summed = d.unit / rows;
  return d.unit % rows == 0;
}

void PowerWriter::declare(const std::string& name) {
  text_.line("float {}[{}];", name, count_);
  if (second_sums()) text_.line("float cross[{}];", count_);
  clear(name);
}

void PowerWriter::clear(const std::string& name) {
  for (std::size_t k = 0; k < count_; ++k) {
    text_.line("{}[{}] = 0.0f;", name, k);
    if (second_sums()) text_.line("cross[{}] = 0.0f;", k);
  }
}

void PowerWriter::add(const std::string& first, const std::string& name) {
  for (std::size_t k = 0; k < count_; ++k) {
    text_.open();
    text_.line("const float2 z = {};",
               finished(d_, fmt::format("v[{}]", k), fmt::format("({} + {})", first, k * step_)));
    text_.line("{0}[{1}] = FMA(z.x, z.x, FMA(z.y, z.y, {0}[{1}]));", name, k);
    text_.close();
  }
}

// `cross` are the squares of the powers (moments), or cross products of x (the first polarization) and y (stokes): the
// lower 16 lanes sum re(x conj(y)), the upper ones -im.
void PowerWriter::add_crossed(const std::string& first) {
  if (!second_sums()) return add(first);
  for (std::size_t k = 0; k < count_; ++k) {
    text_.open();
    text_.line("const float2 z = {};",
               finished(d_, fmt::format("v[{}]", k), fmt::format("({} + {})", first, k * step_)));
    if (d_.products == Products::moments) {
      text_.line("const float one = FMA(z.x, z.x, z.y * z.y);");
      text_.line("power[{0}] += one, cross[{0}] = FMA(one, one, cross[{0}]);", k);
      text_.close();
      continue;
    }
    text_.line("power[{0}] = FMA(z.x, z.x, FMA(z.y, z.y, power[{0}]));", k);
    text_.line("const float other_x = SHUFFLE_XOR(z.x, 16), other_y = SHUFFLE_XOR(z.y, 16);");
    text_.line(
        "cross[{0}] = FMA(z.x, pol == 0 ? other_x : -other_y, FMA(z.y, pol == 0 ? other_y : other_x, cross[{0}]));", k);
    text_.close();
  }
}

void PowerWriter::target(const std::string& row, const std::string& first) {
  text_.line("GLOBAL float* const to = (GLOBAL float*)out + (out_offset + ((ulong)({}) * {} + station) * {} + {});",
             row, d_.geometry.stations, d_.product_count() * d_.geometry.channels, first);
}

void PowerWriter::store(const std::string& row, const std::string& product, const std::string& first,
                        const std::string& name) {
  target(row, fmt::format("({}) * {} + {}", product, d_.geometry.channels, first));
  for (std::size_t k = 0; k < count_; ++k) text_.line("STORE_ONCE(to + {}, {}[{}]);", k * step_, name, k);
}

void PowerWriter::store_crossed(const std::string& row, const std::string& first) {
  const std::size_t channels = d_.geometry.channels;
  switch (d_.products) {
    case Products::powers:
      return store(row, "pol", first);
    case Products::moments:
      target(row, fmt::format("pol * {} + {}", channels, first));
      for (std::size_t k = 0; k < count_; ++k) {
        text_.line("STORE_ONCE(to + {}, power[{}]);", k * step_, k);
        text_.line("STORE_ONCE(to + {}, cross[{}]);", 2 * channels + k * step_, k);
      }
      return;
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
        text_.line("STORE_ONCE(to + {}, 2.0f * cross[{}]);", 2 * channels + k * step_, k);
        text_.close();
      }
  }
}

}  // namespace ridge::filterbank::on_device
