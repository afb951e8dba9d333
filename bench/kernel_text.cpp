// Writes the generated kernels of a fixed list of stencils, filter banks, images and Fourier transforms for recorded
// devices into a folder, one file per plan. Two builds are compared by `diff -r`:
//
//   g++ -std=c++20 -Iinclude bench/kernel_text.cpp build/libridge.a $(...) -o kernel_text && ./kernel_text FOLDER
//
// Libraries as `pkg-config --libs --static ridge` prints them. A kernel's compile-time constants precede its text.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <ridge/error.hpp>
#include <ridge/fft.hpp>
#include <ridge/filterbank.hpp>
#include <ridge/image.hpp>
#include <ridge/nufft.hpp>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

namespace {

std::filesystem::path folder;
int written = 0, refused = 0;

// Plans with every named variant; a variant that refuses the problem has no file.
template <class MakePlan>
void write(const std::string& problem, const std::vector<std::string>& variants, const MakePlan& make_plan) {
  for (const char* name : {"h200", "a100", "mi300x"}) {
    const ridge::Device device = ridge::device(std::string("recorded:") + name);
    for (const std::string& variant : variants) {
      try {
        const auto plan = make_plan(device, ridge::planner::Options{.variant = variant});
        std::ofstream out(folder / (problem + "-" + name + "-" + (variant.empty() ? "best" : variant)));
        for (const auto& kernel : plan.kernels()) {
          out << "==== " << kernel.name << "\n";
          for (const auto& [word, value] : kernel.defines) out << "#define " << word << " " << value << "\n";
          out << kernel.text << "\n";
        }
        ++written;
      } catch (const ridge::Error&) {
        ++refused;
      }
    }
  }
}

void stencils() {
  using namespace ridge::stencil;
  const std::vector<std::string> plane{"base",  "read_only", "padded",      "two_wide",       "blocks",
                                       "tiles", "row_march", "system_rows", "resident_tiles", "resident_rows"};
  const std::vector<std::string> space{"base", "blocks", "tiles", "plane_march", "system_planes", "resident_tiles"};
  const Problem flat{.shape = {4096, 4096}}, deep{.shape = {256, 256, 256}};
  const auto each = [](const std::string& name, const auto& update, Problem problem, const auto& variants) {
    for (const Border border : {Border::fixed, Border::mirror, Border::periodic}) {
      problem.borders = Borders::all(border);
      write(name + std::to_string(static_cast<int>(border)), variants,
            [&](const auto& device, const auto& options) { return plan(device, update, problem, options); });
    }
  };
  each("heat2d", heat<float>({.dt = 0.1, .spacing = {1, 1}}), flat, plane);
  each("heat2d-double", heat<double>({.dt = 0.1, .spacing = {1, 1}, .accuracy = 4}), flat, plane);
  each("heat3d", heat<float>({.dt = 0.1, .spacing = {1, 1, 1}}), deep, space);
  each("heat3d-order4", heat<float>({.dt = 0.1, .spacing = {1, 1, 1}, .accuracy = 4}), deep, space);
  each("wave2d", wave<float>({.dt = 0.5, .spacing = {1, 1}}), flat, plane);
  each("wave3d", wave<double>({.dt = 0.5, .spacing = {1, 1, 1}}), deep, space);
  each("euler", euler<float>({.dt = 0.1}), flat, plane);
  each("acoustic3d", acoustic<float>({.dt = 0.1, .spacing = {1, 1, 1}, .accuracy = 8}), deep, space);
  each("life", life<std::uint8_t>("B3/S23"), flat, plane);
}

void filter_banks() {
  using namespace ridge::filterbank;
  const std::vector<std::string> variants{"fused", "sequential", "mapped", "gathered", "batched", "vectorized"};
  for (const Samples samples : {Samples::int4, Samples::int8, Samples::int16, Samples::float32}) {
    for (const auto& [channels, taps] : {std::pair{64, 16}, {256, 16}, {512, 16}, {1024, 4}, {1000, 8}, {2048, 16}}) {
      const Problem problem{.channels = static_cast<std::size_t>(channels),
                            .taps = static_cast<std::size_t>(taps),
                            .stations = 64,
                            .samples = samples};
      write("bank" + std::to_string(channels) + "x" + std::to_string(taps) + "-" +
                std::to_string(static_cast<int>(samples)),
            variants, [&](const auto& device, const auto& options) { return plan(device, problem, options); });
    }
  }
}

void images() {
  using namespace ridge::image;
  for (const char* chain :
       {"gauss 2", "gauss 5", "box 9", "median 1", "bilateral 4 3 25", "convolve 3x3 0,1,0,1,4,1,0,1,0", "resize 1.6",
        "resize 0.5", "resize 0.3 area", "resize 1.6 bicubic", "gray", "gradient", "pyramid 2", "transpose",
        "rotate 90", "rotate 30", "integral", "invert", "gauss 2 | resize 0.5 | gray"}) {
    for (const Depth depth : {Depth::u8, Depth::f32}) {
      for (const std::size_t channels : {std::size_t{1}, std::size_t{3}}) {
        std::string name =
            std::string(chain) + "-" + std::to_string(static_cast<int>(depth)) + std::to_string(channels);
        for (char& c : name) c = c == ' ' || c == '|' || c == ',' ? '_' : c;
        write(name, {""}, [&](const auto& device, const auto& options) {
          return plan(device,
                      OperatorProblem{.input = {.rows = 2160, .columns = 3840, .channels = channels, .depth = depth},
                                      .chain = parse_chain(chain)},
                      options);
        });
      }
    }
  }
  write("flow", {"", "device_matrix", "device_tile", "device_plain"}, [](const auto& device, const auto& options) {
    return plan(device, FlowProblem{.rows = 1080, .columns = 1920}, options);
  });
}

// The planner's choice for lengths of every route and for shapes; each device chooses differently.
template <class T>
void transforms(const std::string& type) {
  using namespace ridge::fft;
  const auto each = [&](const std::string& name, const Problem& problem) {
    write("fft-" + type + "-" + name, {""},
          [&](const auto& device, const auto& options) { return plan<T>(device, problem, options); });
  };
  for (const Kind kind : {Kind::complex, Kind::real}) {
    const std::string name = kind == Kind::real ? "r" : "c";
    for (const std::size_t length :
         {2,       8,       64,   512,  1024, 2048, 4096,  8192,  1 << 14, 1 << 15, 1 << 16, 1 << 18, 1 << 20,
          1 << 22, 1 << 24, 1000, 1009, 1155, 3125, 10007, 46189, 59049,   65537,   117649,  1000000, 1000003}) {
      for (const std::size_t batch : {std::size_t{1}, std::max<std::size_t>((1 << 24) / length, 2)}) {
        each(name + std::to_string(length) + "x" + std::to_string(batch),
             {.shape = {length}, .batch = batch, .kind = kind, .scale_inverse = 0.5});
      }
    }
    each(name + "-square", {.shape = {1024, 1024}, .batch = 16, .kind = kind});
    each(name + "-cube", {.shape = {256, 256, 256}, .kind = kind});
    each(name + "-plane", {.shape = {1000, 1500}, .batch = 4, .kind = kind});
    each(name + "-box", {.shape = {60, 100, 77}, .kind = kind});
    each(name + "-in-place", {.shape = {4096, 4096}, .kind = kind, .in_place = true});
  }
}

void nonuniform() {
  for (const std::size_t axes : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    const ridge::nufft::Problem problem{.modes = std::vector<std::size_t>(axes, 64), .points = 1 << 20};
    write("nufft" + std::to_string(axes), {"", "matrix", "window"},
          [&](const auto& device, const auto& options) { return ridge::nufft::plan<float>(device, problem, options); });
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return std::fprintf(stderr, "usage: kernel_text FOLDER\n"), 1;
  std::filesystem::create_directories(folder = words[1]);
  stencils();
  filter_banks();
  images();
  transforms<float>("float");
  transforms<double>("double");
  nonuniform();
  std::printf("%d plans written, %d refused\n", written, refused);
}
