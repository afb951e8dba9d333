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
#include <nlohmann/json.hpp>
#include <ridge/device.hpp>
#include <ridge/error.hpp>
#include <ridge/machine.hpp>
#include <ridge/place.hpp>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/place/compile_flags.hpp"
#include "command/command.hpp"
#include "place/dynamic/measure.hpp"
#include "place/judge/compiler.hpp"
#include "place/judge/judge.hpp"
#include "place/pragmas.hpp"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

struct Request {
  std::string file, out, explain, page, device, database, command, models, plan, plan_out;
  std::vector<std::string> parameters, pins, forces;
  std::size_t elements = 0;
  int runs = 1;
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

// A later decision for the same loop replaces an earlier one.
void set_pin(const std::string& id, const std::string& on, std::vector<std::string>& pins) {
  pins.erase(std::remove_if(pins.begin(), pins.end(), [&](const std::string& p) { return p.rfind(id + "=", 0) == 0; }),
             pins.end());
  pins.push_back(id + "=" + on);
}

// Checks pins of the form LOOP=host or LOOP=device.
void add_pins(const std::vector<std::string>& list, const char* option, const char* where, place::Options& into) {
  for (const std::string& item : list) {
    if (item.find('=') == 0 || item.find('=') == std::string::npos || item.substr(item.find('=') + 1) != where)
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{} {}: needs LOOP={}, as in l2={}", option, item, where, where));
    set_pin(item.substr(0, item.find('=')), where, into.pins);
  }
}

// The decision for every loop, as a plan that --plan reads.
std::string plan_text(const place::Report& report) {
  nlohmann::ordered_json plan{{"file", report.file}, {"function", report.function}, {"emit", report.emit}};
  plan["loops"] = nlohmann::ordered_json::array();
  for (const place::LoopVerdict& l : report.loops)
    plan["loops"].push_back({{"id", l.id},
                             {"line", l.line},
                             {"source", l.source},
                             {"on", l.placed ? "device" : "host"},
                             {"why", l.placed        ? ""
                                     : l.why.empty() ? l.not_placed
                                                     : l.why}});
  return plan.dump(2) + "\n";
}

// Adds the decisions of a plan file to the pins.
void read_plan(const std::string& file, place::Options& into) {
  const auto text = base::read_file(file, std::size_t{8} << 20);
  if (!text) throw Error(ErrorKind::io, file + ": cannot be read, or is longer than 8 MiB");
  const auto plan = nlohmann::json::parse(*text, nullptr, false);
  const std::string form = R"(: needs {"loops": [{"id": "l1", "on": "host"}, ...]} with host or device)";
  if (!plan.is_object() || !plan.contains("loops") || !plan["loops"].is_array())
    throw Error(ErrorKind::invalid_argument, file + form);
  for (const auto& loop : plan["loops"]) {
    const std::string id = loop.is_object() && loop.contains("id") && loop["id"].is_string() ? loop["id"] : "",
                      on = loop.is_object() && loop.contains("on") && loop["on"].is_string() ? loop["on"] : "";
    if (id.empty() || (on != "host" && on != "device")) throw Error(ErrorKind::invalid_argument, file + form);
    set_pin(id, on, into.pins);
  }
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
  const std::string opencv = "/usr/include/opencv4";
  if (text.find("'opencv2/") != std::string::npos && text.find(opencv) == std::string::npos &&
      std::filesystem::exists(opencv))
    text += " (give OpenCV's folder after --: -- -I" + opencv + ")";
  else if (text.find("file not found") != std::string::npos)
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

// One run of the command: analyse, print, verify, write the placed file.
class Run {
 public:
  explicit Run(const Request& request) : request_(request), options_(request.options) {
    if (!fs::exists(request.file))
      throw Error(ErrorKind::io, fmt::format("cannot read {}: no such file", request.file));
    if (!request.command.empty() && place::judge::is_c(request.file) && options_.emit != "openmp")
      throw Error(ErrorKind::invalid_argument,
                  "--run of a C file needs --emit openmp: a placed C program for a device consists of two files");
    source_ = base::read_file(request.file, std::size_t{8} << 20);
    if (source_) source_ = place::pragmas_as_comments(*source_);  // the original is the sequential program
    set_flags();
    if (!request.models.empty()) {
      const auto text = base::read_file(request.models, std::size_t{1} << 20);
      if (!text) throw Error(ErrorKind::io, request.models + ": cannot be read, or is longer than 1 MiB");
      options_.models = *text;
    }
    if (options_.emit != "openmp" && !request.verdicts && !request.json)
      load_memory_model(request.device, options_.emit, options_.memories);
    if (!request.plan.empty()) read_plan(request.plan, options_);
    add_pins(request.pins, "--pin", "host", options_);
    add_pins(request.forces, "--force", "device", options_);
    if (!options_.pins.empty() && options_.function.empty())
      throw Error(ErrorKind::invalid_argument,
                  "--pin, --force and --plan need --function NAME: they change what is written");
    if (options_.emit == "openmp") options_.threads = false;  // all loops run on threads anyway
    if (options_.threads && place::judge::is_c(request.file))
      throw Error(ErrorKind::invalid_argument, "--threads needs a C++ file; --emit openmp places a C file on threads");
    if (options_.session && (place::judge::is_c(request.file) || (options_.emit != "ridge" && options_.emit != "cuda")))
      throw Error(ErrorKind::invalid_argument,
                  "--session needs a C++ file and --emit ridge or cuda: other programs have one context each");
    users_ = {request.command, given_, options_.emit, request.device, options_.threads};
    users_.runs = request.runs;
  }

  void run() {
    analyze();
    if (options_.threads && !options_.function.empty() && report_.placed.empty()) only_threads();
    if (!print_analysis()) return;
    other_device_ = options_.emit == "cuda" && !place::judge::can_run_cuda();
    if (options_.emit != "openmp" && !some_device())
      throw Error(ErrorKind::unavailable,
                  "no device to run the comparison (ridge devices shows why); --emit openmp uses host threads instead");
    judging_.flags = given_;
    judging_.parameters = parameters_;
    judging_.device = request_.device;
    judging_.emit = options_.emit;
    judging_.threads = options_.threads;
    judging_.session = options_.session;
    place::Report judged = report_;
    if (other_device_) judged = without_cuda();
    const bool by_run = !request_.command.empty() && verify_by_run(judged);
    judging_.elements = static_cast<long>(request_.elements);
    judging_.weighs = !parameters_.empty() && !other_device_;
    outcome_ = compare(judged, 0.6, "compiling and comparing the original and the placed program");
    if (outcome_.verified && !outcome_.slower.empty() && !compare_without_slower()) return;
    if (outcome_.verified && judging_.weighs && tiled(report_) && request_.options.memories.tiles == "auto")
      compare_without_tiles();
    if (print_outcome(by_run)) write();
  }

 private:
  // Flags of the compilation database and the user; the standard is added, files and libraries are left out.
  void set_flags() {
    auto& flags = options_.flags;
    if (!request_.database.empty()) {
      const auto found = compile_flags(request_.database, request_.file);
      flags.insert(flags.begin(), found.begin(), found.end());
    }
    given_ = flags;
    const bool c = place::judge::is_c(request_.file);
    bool standard = false;
    for (const std::string& f : flags) standard |= f.rfind("-std=", 0) == 0;
    if (!standard) flags.insert(flags.begin(), c ? "-std=gnu17" : "-std=c++20");
    flags.erase(
        std::remove_if(flags.begin(), flags.end(),
                       [](const std::string& f) { return place::judge::is_input(f) || place::judge::is_library(f); }),
        flags.end());
  }

  void analyze() {
    progress_(0, "reading " + request_.file);
    report_ = place::analyze(request_.file, options_);
    if (!report_.errors.empty()) throw Error(ErrorKind::invalid_argument, all_errors(report_.errors));
    if (!request_.command.empty() && !place::judge::is_c(request_.file)) {  // loops of C files are not timed
      progress_(0.2, "running the program");
      place::dynamic::measure(report_, *source_, users_);
    }
    base::clear_progress();
    check_pins();
    if (!options_.function.empty()) parameters_ = pinned(request_.parameters, report_.parameters);
  }

  // Without kernels, the program is one for threads.
  void only_threads() {
    options_.emit = judging_.emit = users_.emit = "openmp";
    options_.threads = judging_.threads = users_.threads = false;
    options_.session = judging_.session = false;
    report_ = place::analyze(request_.file, options_);
  }

  // Every pinned loop exists, and loops that must be on the device are.
  void check_pins() const {
    for (const std::string& pin : options_.pins) {
      const std::string id = pin.substr(0, pin.find('='));
      const auto at = std::find_if(report_.loops.begin(), report_.loops.end(),
                                   [&](const place::LoopVerdict& l) { return l.id == id; });
      if (at == report_.loops.end()) place::explain(report_, id);  // throws, with the names of the loops
      if (pin.substr(pin.find('=') + 1) == "device" && !at->placed)
        throw Error(ErrorKind::invalid_argument,
                    fmt::format("{} cannot be forced: line {}: {}", id, at->line,
                                !at->why.empty()          ? at->why
                                : !at->not_placed.empty() ? at->not_placed
                                                          : "an enclosing or inner loop cannot be placed"));
    }
  }

  // Returns true if a file is to be written.
  bool print_analysis() const {
    if (!request_.page.empty()) base::write_file(request_.page, place::to_page(report_));
    if (!request_.plan_out.empty()) base::write_file(request_.plan_out, plan_text(report_));
    if (!request_.explain.empty()) {
      fmt::print("{}", place::explain(report_, request_.explain));
      return false;
    }
    fmt::print("{}", request_.json ? place::to_json(report_) : place::to_text(report_));
    if (request_.verdicts || request_.json || options_.function.empty()) return false;
    if (report_.placed.empty())
      fmt::print("no loop can run on {}, no file is written\n", options_.emit == "openmp" ? "threads" : "a device");
    return !report_.placed.empty();
  }

  // Without CUDA: compiles the program itself with nvcc, and returns the same kernels for the available device.
  place::Report without_cuda() {
    progress_(0.3, "compiling the placed program with nvcc");
    if (const std::string fault = place::judge::cuda_fault(report_, judging_); !fault.empty())
      throw Error(ErrorKind::internal, "not verified, no file is written: nvcc says " + fault);
    options_.emit = judging_.emit = "ridge";
    return place::analyze(request_.file, options_);
  }

  // Verifies the placed program on the user's own data; returns true if that proves it correct.
  bool verify_by_run(const place::Report& judged) {
    progress_(0.4, "running the placed program on its own data");
    users_.emit = judging_.emit;
    const auto sameness = place::dynamic::same_output(judged, *source_, users_);
    base::clear_progress();
    if (!sameness.same)
      throw Error(ErrorKind::invalid_argument, fmt::format("not verified, no file is written: {}", sameness.text));
    if (sameness.spread.empty())
      fmt::print("{}; original {}, placed {}\n", sameness.text, base::human_seconds(sameness.original_seconds),
                 base::human_seconds(sameness.placed_seconds));
    else
      fmt::print("{}; {}\n", sameness.text, sameness.spread);
    warn_if_slower(sameness.original_seconds, sameness.placed_seconds, "on this data");
    return sameness.proves;
  }

  static void warn_if_slower(double original, double placed, const char* where) {
    if (placed > original)
      fmt::print("warning: {} the placed program is slower than the original: {} instead of {}\n", where,
                 base::human_seconds(placed), base::human_seconds(original));
  }

  place::judge::Outcome compare(const place::Report& report, double done, const char* stage) {
    progress_(done, stage);
    const auto outcome = place::judge::compare(report, *source_, judging_);
    base::clear_progress();
    return outcome;
  }

  // Compares again without the slower kernels; false if none is left.
  bool compare_without_slower() {
    const auto forced = [&](const std::string& name) {
      for (const place::KernelReport& k : report_.kernels)
        for (const std::string& id : k.loops)
          if (k.name == name && std::count(options_.pins.begin(), options_.pins.end(), id + "=device") > 0) return true;
      return false;
    };
    auto& slower = outcome_.slower;
    slower.erase(std::remove_if(slower.begin(), slower.end(), forced), slower.end());
    if (slower.empty()) return true;
    for (const std::string& kernel : outcome_.slower)
      fmt::print("{} {}: on the device the program is slower\n", kernel,
                 options_.threads ? "runs on threads" : "stays on the host");
    options_.without = outcome_.slower;
    report_ = place::analyze(request_.file, options_);
    if (options_.threads && report_.placed.empty()) {
      only_threads();
      fmt::print("no kernel is faster on the device: the program uses threads only\n");
    }
    if (report_.placed.empty()) {
      fmt::print("no kernel is faster on the device, no file is written\n");
      return false;
    }
    judging_.weighs = false;
    outcome_ = compare(report_, 0.8, "comparing again without them");
    return true;
  }

  // Tiles were chosen by the model; compares measured times.
  void compare_without_tiles() {
    options_.memories.tiles = "never";
    place::Report plain = place::analyze(request_.file, options_);
    judging_.weighs = false;
    const auto without = compare(plain, 0.9, "comparing without tiles in local memory");
    if (without.verified && without.placed_seconds < 0.97 * outcome_.placed_seconds) {
      fmt::print("without tiles in local memory {} instead of {}: tiles are not used\n",
                 base::human_seconds(without.placed_seconds), base::human_seconds(outcome_.placed_seconds));
      report_ = std::move(plain);
      outcome_ = without;
    }
  }

  // Returns true if the placed file is to be written.
  bool print_outcome(bool by_run) const {
    if (!outcome_.verified && by_run && (!outcome_.compared || place::judge::has_claims(report_)))
      fmt::print("synthetic data are inconclusive ({}): verified by --run only\n", outcome_.text);
    else if (!outcome_.verified)
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("not verified, no file is written: {}{}", outcome_.text, claims_text()));
    if (outcome_.verified)
      fmt::print("{}; original {}, placed {}\n", outcome_.text, base::human_seconds(outcome_.original_seconds),
                 base::human_seconds(outcome_.placed_seconds));
    if (other_device_) {
      fmt::print("compared with the same kernels on another device: there is no CUDA device here, or no nvcc\n");
    } else if (outcome_.verified && outcome_.idle) {
      fmt::print("threads are not faster at {}: the original loops run there{}\n",
                 parameters_.empty() ? "generated sizes (--param sets real ones)" : "these sizes",
                 parameters_.empty() ? "" : ": no file is written");
      return parameters_.empty();
    } else if (!parameters_.empty() && outcome_.placed_seconds > outcome_.original_seconds) {
      fmt::print("slower than the original at these sizes, no file is written\n");
      return false;
    } else if (outcome_.verified) {
      warn_if_slower(outcome_.original_seconds, outcome_.placed_seconds, "at generated sizes (--param sets real ones)");
    }
    return true;
  }

  std::string claims_text() const {
    for (const place::LoopVerdict& l : report_.loops)
      if (!l.claim.empty() && outcome_.compared)
        return fmt::format("; is the claim true that the iterations of {} (line {}) are independent?", l.id, l.line);
    return "";
  }

  void write() const {
    const std::string& emit = options_.emit == "openmp" ? options_.emit : request_.options.emit;
    fs::path out = request_.out;
    if (out.empty()) {
      const fs::path from = request_.file;
      const std::string extension = emit == "cuda" && report_.device_part.empty() ? ".cu" : from.extension().string();
      out = from.parent_path() / (from.stem().string() + "_placed" + extension);
    }
    base::write_file(out, report_.placed);
    if (!report_.header.empty()) {
      const fs::path header = out.parent_path() / (out.stem().string() + ".hpp");
      base::write_file(header, report_.header);
      fmt::print("{} written: declares {}() with a session of the caller\n", header.string(), options_.function);
    }
    if (!report_.device_part.empty()) {
      const fs::path device = out.parent_path() / (out.stem().string() + "_device" + (emit == "cuda" ? ".cu" : ".cpp"));
      base::write_file(device, report_.device_part);
      static const std::map<std::string, const char*> links{{"ridge", "c++ with Ridgeline's headers and -lridge"},
                                                            {"opencl", "c++ -lOpenCL"},
                                                            {"cuda", "nvcc -O3 -fmad=false"}};
      fmt::print("{} and {} written: compile the first with cc -c, the second with {}, and link both\n", out.string(),
                 device.string(), links.at(emit));
      return;
    }
    static const std::map<std::string, const char*> ways{{"ridge", "with Ridgeline's headers and -lridge"},
                                                         {"opencl", "with -lOpenCL"},
                                                         {"cuda", "with nvcc -O3 -fmad=false"},
                                                         {"openmp", "with -fopenmp"}};
    fmt::print("{} written: compile it {}{}\n", out.string(), ways.at(emit),
               !options_.threads ? ""
               : emit == "cuda"  ? " and -Xcompiler -fopenmp"
                                 : " and -fopenmp");
  }

  const Request& request_;
  place::Options options_;
  std::optional<std::string> source_{};  // text of the file
  std::vector<std::string> given_{};     // compiler flags of the user
  place::dynamic::Command users_{};
  base::Progress progress_ = base::terminal_progress();  // by stage, because durations are unknown in advance
  place::Report report_{};
  std::map<std::string, long> parameters_{};  // values set by --param
  bool other_device_ = false;                 // CUDA code is verified on another device
  place::judge::Options judging_{};
  place::judge::Outcome outcome_{};
};

// Options with which the user decides where loops run.
void add_plan_options(Command& command, const std::shared_ptr<Request>& request) {
  command
      .option("--pin", request->pins,
              "Keep a loop on the host: l3=host, with the name that the report prints; may be repeated")
      .value_name("LOOP=host");
  command
      .option("--force", request->forces,
              "Place a loop even if it seems too short to be faster: l2=device. It must be parallel; may be repeated")
      .value_name("LOOP=device");
  command.option("--plan", request->plan, "JSON file with the place of every loop, as --write-plan writes it").reads();
  command.option("--write-plan", request->plan_out, "Write the place of every loop as JSON, to be edited").writes();
}

// Options of the comparison of the whole program on its own data.
void add_run_options(Command& command, const std::shared_ptr<Request>& request) {
  const auto& run =
      command
          .option(
              "--run", request->command,
              "Command that runs the program, written as {}: times its functions and loops, and verifies the placed "
              "program on its own data")
          .value_name("COMMAND");
  command.option("--runs", request->runs, "Number of runs of both programs by --run: medians and extremes of the times")
      .shows_default()
      .between(1, 1000)
      .only_with(run);
}

}  // namespace

void add_place(Command& program) {
  auto request = std::make_shared<Request>();
  Command& command = program.subcommand(
      "place", "Run sequential C and C++ loops on a device or on threads: every loop analysed, the result verified");
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
  command.option("file", request->file, "A C or C++ file").required().reads();
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
  add_plan_options(command, request);
  command.option("--explain", request->explain, "Show all details of one loop").value_name("LOOP");
  command
      .option("-p,--database", request->database,
              "Take compiler flags from this compile_commands.json, or from the one in this folder")
      .value_name("FOLDER");
  command
      .option("--models", request->models,
              "C++ file with models of library functions: ridge_models::lib::f has the parameters of lib::f and the "
              "loops it stands for")
      .reads();
  command.option("--report", request->page, "Write the program's structure of loops and kernels as an HTML page")
      .writes();
  add_run_options(command, request);
  command
      .option("--tiles", request->options.memories.tiles,
              "Keep reused windows in local memory: by the machine model, always or never")
      .shows_default()
      .one_of({"auto", "always", "never"});
  command.flag(
      "--threads", request->options.threads,
      "Loops that are not on the device run on threads of the host; with --param the faster of both is chosen");
  command.flag(
      "--session", request->options.session,
      "Also write the function with a placed::Session of the caller, in which arrays stay on the device between "
      "calls");
  command.flag("--strips", request->options.memories.strips,
               "Arrays larger than the device's memory are processed in strips of the outermost loop");
  command.option("--seconds", request->options.seconds, "Time limit for parsing and analysis, in seconds")
      .shows_default()
      .positive();
  command.flag("--json", request->json, "Print the analysis as JSON, write no file");
  command.flag("--verdicts", request->verdicts, "Print the analysis only, write no file");
  command.option("flags", request->options.flags, "Compiler flags, after --").value_name("FLAG");
  command.runs([request] { Run(*request).run(); });
}

}  // namespace ridge::cli
