// ridge place: translates sequential C++ loops to device code, verifies and explains it.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <ridge/device.hpp>
#include <ridge/error.hpp>
#include <ridge/machine.hpp>
#include <ridge/place.hpp>

#include "base/files.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "cli/place/compile_flags.hpp"
#include "command/command.hpp"
#include "place/dynamic/measure.hpp"
#include "place/judge/compiler.hpp"
#include "place/judge/judge.hpp"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  std::string file, out, explain, page, device, database, command;
  std::vector<std::string> parameters;
  std::size_t elements = 0;
  place::Options options;
  bool json = false, verdicts = false;
};

// True for an integer parameter, or an integer field of a view, with or without the view's name.
bool can_be_pinned(const std::string& name, const std::vector<place::Parameter>& known) {
  return std::any_of(known.begin(), known.end(), [&](const place::Parameter& p) {
    if (p.kind == "integer" && p.name == name) return true;
    return std::any_of(p.fields.begin(), p.fields.end(), [&](const std::string& field) {
      return field != "*" && (field == name || p.name + "." + field == name);
    });
  });
}

std::map<std::string, long> pinned(const std::vector<std::string>& list, const std::vector<place::Parameter>& known) {
  std::map<std::string, long> values;
  for (const std::string& item : list) {
    const auto equal = item.find('=');
    long value = 0;
    const char* const end = item.data() + item.size();
    const auto read = equal == std::string::npos ? std::from_chars_result{end, std::errc::invalid_argument}
                                                 : std::from_chars(item.data() + equal + 1, end, value);
    if (equal == 0 || read.ec != std::errc{} || read.ptr != end)
      throw Error(ErrorKind::invalid_argument, fmt::format("--param {}: needs NAME=NUMBER", item));
    const std::string name = item.substr(0, equal);
    if (!can_be_pinned(name, known))
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--param {}: the function has no integer parameter {}, and no view with such a field",
                              item, name));
    for (const place::Parameter& p : known) {
      if (p.kind != "integer" || p.name != name || p.bytes <= 0 || p.bytes > 8) continue;
      const int bits = 8 * p.bytes - (p.is_unsigned ? 0 : 1);
      const long most = bits >= 63 ? std::numeric_limits<long>::max() : (1L << bits) - 1,
                 least = p.is_unsigned ? 0 : -most - 1;
      if (value < least || value > most)
        throw Error(ErrorKind::invalid_argument,
                    fmt::format("--param {}: {} is of type {}, which holds {} to {}", item, name, p.type, least, most));
    }
    values[name] = value;
  }
  return values;
}

bool some_device() {
  for (const Device& d : devices().devices)
    if (!d.is_host()) return true;
  return false;
}

bool tiled(const place::Report& report) {
  for (const place::KernelReport& k : report.kernels)
    if (k.text.find("_tile[") != std::string::npos) return true;
  return false;
}

// Joins the errors, with advice if a header was not found.
std::string all_errors(const std::vector<std::string>& errors) {
  std::string text;
  for (const std::string& e : errors) text += (text.empty() ? "" : "; ") + e;
  if (text.find("file not found") != std::string::npos)
    text += " (give compiler flags after --: -- -Iinclude; or use those of a build: -p FOLDER)";
  return text;
}

// Sets memory sizes and bandwidths from the machine model of the named device, or of the device that programs use by
// default. Keeps the defaults if there is none.
void load_memory_model(const std::string& named, const std::string& emit, place::Memories& memories) {
  std::optional<Device> chosen;
  for (const Device& d : devices().devices)
    if (!d.is_host() && (!chosen || d.info().backend == Backend::cuda)) chosen = d;
  if (!named.empty()) chosen = ridge::device(named);
  if (!chosen || chosen->is_host() || (emit == "cuda" && chosen->info().backend != Backend::cuda)) return;
  const DeviceInfo& info = chosen->info();
  if (info.limits.local_memory > 0) memories.local_bytes = std::min<std::size_t>(info.limits.local_memory, 48 << 10);
  memories.constant = info.limits.constant_memory >= (64u << 10);
  for (const machine::Level& level : machine::ceilings(*chosen).levels) {
    if (level.name == "L1" && level.all.read > 0) memories.cached = level.all.read;
    if (level.name == "local" && level.all.read > 0) memories.local = level.all.read;
  }
  if (memories.cached == 1 || memories.local == 1) memories.cached = memories.local = 1;
  // A CPU device's local memory is ordinary memory: a tile is only an additional copy.
  if (!info.limits.private_arrays_in_registers && memories.tiles == "auto") memories.tiles = "never";
}

void run(const Request& request) {
  if (!fs::exists(request.file)) throw Error(ErrorKind::io, request.file + ": there is no such file");
  const auto source = base::read_file(request.file, std::size_t{8} << 20);
  place::Options options = request.options;
  if (!request.database.empty()) {
    const auto found = compile_flags(request.database, request.file);
    options.flags.insert(options.flags.begin(), found.begin(), found.end());
  }
  const auto given = options.flags;
  const bool c = request.file.size() > 2 && request.file.substr(request.file.size() - 2) == ".c";
  bool standard = false;
  for (const std::string& f : options.flags) standard |= f.rfind("-std=", 0) == 0;
  if (!standard) options.flags.insert(options.flags.begin(), c ? "-std=c17" : "-std=c++20");
  options.flags.erase(
      std::remove_if(options.flags.begin(), options.flags.end(),
                     [](const std::string& f) { return place::judge::is_input(f) || place::judge::is_library(f); }),
      options.flags.end());
  if (options.emit != "openmp" && !request.verdicts && !request.json)
    load_memory_model(request.device, options.emit, options.memories);
  // Progress by stage, because durations are unknown in advance.
  const auto progress = base::terminal_progress();
  progress(0, "reading " + request.file);
  place::Report report = place::analyze(request.file, options);
  if (!report.errors.empty()) throw Error(ErrorKind::invalid_argument, all_errors(report.errors));
  place::dynamic::Command users{request.command, given, options.emit, request.device};
  if (!request.command.empty()) {
    progress(0.2, "running the program");
    place::dynamic::measure(report, *source, users);
  }
  base::clear_progress();
  const auto parameters =
      options.function.empty() ? std::map<std::string, long>{} : pinned(request.parameters, report.parameters);
  if (!request.page.empty()) base::write_file(request.page, place::to_page(report));
  if (!request.explain.empty()) {
    fmt::print("{}", place::explain(report, request.explain));
    return;
  }
  fmt::print("{}", request.json ? place::to_json(report) : place::to_text(report));
  if (request.verdicts || request.json || options.function.empty()) return;
  if (report.placed.empty()) {
    fmt::print("no loop can run on a device, no file is written\n");
    return;
  }
  const bool threads = options.emit == "openmp", other_device = options.emit == "cuda" && !place::judge::can_run_cuda();
  if (!threads && !some_device())
    throw Error(ErrorKind::unavailable,
                "no device to run the comparison (ridge devices shows why); --emit openmp uses host threads instead");
  place::judge::Options judging;
  judging.flags = given;
  judging.parameters = parameters;
  judging.device = request.device;
  judging.emit = options.emit;
  place::Report judged = report;
  if (other_device) {  // no CUDA here: run the same kernels on the available device, and compile the program itself
                       // with nvcc
    progress(0.3, "compiling the placed program with nvcc");
    if (const std::string fault = place::judge::cuda_fault(report, judging); !fault.empty())
      throw Error(ErrorKind::internal, "not verified, no file is written: nvcc says " + fault);
    options.emit = judging.emit = "ridge";
    judged = place::analyze(request.file, options);
  }
  bool by_run = false;
  if (!request.command.empty() && !other_device) {  // first on the user's own data
    progress(0.4, "running the placed program on its own data");
    const auto sameness = place::dynamic::same_output(report, *source, users);
    base::clear_progress();
    if (!sameness.same)
      throw Error(ErrorKind::invalid_argument, fmt::format("not verified, no file is written: {}", sameness.text));
    fmt::print("{}; original {}, placed {}\n", sameness.text, base::human_seconds(sameness.original_seconds),
               base::human_seconds(sameness.placed_seconds));
    by_run = sameness.proves;
  }
  judging.elements = static_cast<long>(request.elements);
  judging.weighs = !parameters.empty() && !other_device;
  progress(0.6, "compiling and comparing the original and the placed program");
  auto outcome = place::judge::compare(judged, *source, judging);
  base::clear_progress();
  if (outcome.verified && !outcome.slower.empty()) {  // compare again without the slower kernels
    for (const std::string& kernel : outcome.slower)
      fmt::print("{} stays on the host: on the device the program is slower\n", kernel);
    options.without = outcome.slower;
    report = place::analyze(request.file, options);
    if (report.placed.empty()) {
      fmt::print("no kernel is faster on the device, no file is written\n");
      return;
    }
    judging.weighs = false;
    progress(0.8, "comparing again without them");
    outcome = place::judge::compare(report, *source, judging);
    base::clear_progress();
  }
  if (outcome.verified && judging.weighs && tiled(report) && request.options.memories.tiles == "auto") {
    options.memories.tiles = "never";  // tiles were chosen by the model; now compare measured times
    place::Report plain = place::analyze(request.file, options);
    judging.weighs = false;
    progress(0.9, "comparing without tiles in local memory");
    const auto without = place::judge::compare(plain, *source, judging);
    base::clear_progress();
    if (without.verified && without.placed_seconds < 0.97 * outcome.placed_seconds) {
      fmt::print("without tiles in local memory {} instead of {}: tiles are not used\n",
                 base::human_seconds(without.placed_seconds), base::human_seconds(outcome.placed_seconds));
      report = std::move(plain);
      outcome = without;
    }
  }
  if (!outcome.verified && !outcome.compared && by_run)
    fmt::print("synthetic data are inconclusive ({}): verified by --run only\n", outcome.text);
  else if (!outcome.verified)
    throw Error(ErrorKind::invalid_argument, fmt::format("not verified, no file is written: {}", outcome.text));
  if (outcome.verified)
    fmt::print("{}; original {}, placed {}\n", outcome.text, base::human_seconds(outcome.original_seconds),
               base::human_seconds(outcome.placed_seconds));
  if (other_device) {
    fmt::print("compared with the same kernels on another device: there is no CUDA device here, or no nvcc\n");
  } else if (!parameters.empty() && outcome.placed_seconds > outcome.original_seconds) {
    fmt::print("slower than the original at these sizes, no file is written\n");
    return;
  }
  fs::path out = request.out;
  if (out.empty()) {
    const fs::path from = request.file;
    const std::string extension = request.options.emit == "cuda" ? ".cu" : from.extension().string();
    out = from.parent_path() / (from.stem().string() + "_placed" + extension);
  }
  base::write_file(out, report.placed);
  static const std::map<std::string, const char*> ways{{"ridge", "with Ridgeline's headers and -lridge"},
                                                       {"opencl", "with -lOpenCL"},
                                                       {"cuda", "with nvcc -O3 -fmad=false"},
                                                       {"openmp", "with -fopenmp"}};
  fmt::print("{} written: compile it {}\n", out.string(), ways.at(request.options.emit));
}

}  // namespace

void add_place(Command& program) {
  auto request = std::make_shared<Request>();
  Command& command = program.subcommand(
      "place", "Run sequential C++ loops on a device: analysis of every loop, generated and verified code");
  command.footer(R"(
Examples:
  ridge place blur.cpp --function blur
  ridge place blur.cpp --function blur --param h=1080 --param w=1920      real sizes: kernels slower than the original stay on the host
  ridge place blur.cpp --function blur --emit cuda                        blur_placed.cu, for nvcc alone
  ridge place blur.cpp --function blur --emit openmp                      threads of the host instead of a device
  ridge place blur.cpp --function blur --run '{} picture.png' -- main.cpp   the whole program on its own data
  ridge place blur.cpp --function blur --explain l2                       one loop: what it reads, writes, carries

Reads FILE with Clang and reports for every loop of the function, and of the functions it calls, if its iterations are
independent, and if not, why. It understands arrays, pointers, std::vector, std::array, std::span, cv::Mat, and your own
view classes whose member functions are a single return statement. Writes FILE_placed.cpp, in which all loops that can
run on a device do. First the original and the placed program are compiled and run on the same synthetic data; unless
the results are equal, no file is written. Compiler flags follow after --:
  ridge place blur.cpp --function blur -- -Iinclude -DWIDE)");
  command.option("file", request->file, "A C++ file").required().reads();
  command
      .option("--function", request->options.function,
              "The function to place, with all functions it calls (default: analyse every function)")
      .value_name("NAME");
  command.option("--out", request->out, "The placed file (default FILE_placed.cpp)").writes();
  command
      .option("--emit", request->options.emit,
              "ridge: kernels on any device; opencl, cuda: a program without Ridgeline; openmp: host threads")
      .shows_default()
      .one_of({"ridge", "opencl", "cuda", "openmp"});
  command.option("--device", request->device, "Device on which the placed program is verified").value_name("NAME");
  command
      .option("--param", request->parameters,
              "Value of an integer parameter or of a view's field (in.rows=N) for the verification; may be repeated")
      .value_name("NAME=N");
  command
      .option("--elements", request->elements,
              "Elements of every array in the verification (default: from the sizes, at most 2^25)")
      .value_name("N");
  command.option("--explain", request->explain, "Show all details of one loop").value_name("LOOP");
  command
      .option("-p,--database", request->database,
              "Take compiler flags from this compile_commands.json, or from the one in this folder")
      .value_name("FOLDER");
  command.option("--report", request->page, "Write the program's structure of loops and kernels as an HTML page")
      .writes();
  command
      .option("--run", request->command,
              "Command that runs the program, written as {}: times its functions and loops, and verifies the placed "
              "program on its own data")
      .value_name("COMMAND");
  command
      .option("--tiles", request->options.memories.tiles,
              "Keep reused windows in local memory: by the machine model, always or never")
      .shows_default()
      .one_of({"auto", "always", "never"});
  command.option("--seconds", request->options.seconds, "Time limit for parsing and analysis, in seconds")
      .shows_default()
      .positive();
  command.flag("--json", request->json, "Print the analysis as JSON, write no file");
  command.flag("--verdicts", request->verdicts, "Print the analysis only, write no file");
  command.option("flags", request->options.flags, "Compiler flags, after --").value_name("FLAG");
  command.runs([request] { run(*request); });
}

}  // namespace ridge::cli
