// Combines many placed functions into one program to save compile time: each in its own namespace, with a function that
// calls it on generated data and dumps the results.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include <ridge/device.hpp>

#include "cases.hpp"
#include "device/kernel_text.hpp"
#include "place/judge/compiler.hpp"
#include "place/judge/judge.hpp"
#include "reader.hpp"
#include "support/scratch.hpp"

namespace place_test {

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

struct Placed {
  std::string function, original;
  ridge::place::Report report;
};

// Precompiled headers of the corpus, if clang++-19 is installed.
inline std::vector<std::string> precompiled(const std::string& folder) {
  const std::string header = folder + "/all.hpp", made = folder + "/all.pch";
  std::ofstream(header) << "#include <algorithm>\n#include <array>\n#include <cmath>\n#include <functional>\n#include "
                           "<list>\n#include <span>\n#include <vector>\n";
  const std::string line = "clang++-19 -std=c++20 -x c++-header " + header + " -o " + made + " > /dev/null 2>&1";
  if (std::system(line.c_str()) != 0) return {};
  return {"-include-pch", made};
}

inline std::vector<Placed> place_cases(const std::string& emit, const std::vector<std::string>& names) {
  const ridge::test::ScratchFolder scratch;
  std::vector<Source> sources;
  for (const Case& c : cases()) {
    if (!c.run || in_c(c.file) || (!names.empty() && std::find(names.begin(), names.end(), c.function) == names.end()))
      continue;
    if (c.emit == "openmp" && emit != "openmp") continue;  // on threads only
    sources.push_back({c.function, text_of(c.file), emit, "always"});
  }
  std::vector<std::string> flags{"-std=c++20", "-I" + folder().string()};
  if (sources.size() > 20)
    for (const std::string& f : precompiled(scratch.path().string())) flags.push_back(f);
  std::vector<Placed> all;
  std::size_t read = 0;
  const Reader reader(flags);
  for (std::size_t k = 0; k < sources.size();)
    k = reader.read(sources, k, [&](std::size_t at, const ridge::place::Report& report) {
      ++read;
      EXPECT_TRUE(emit == "openmp" || !report.placed.empty()) << sources[at].function;
      if (!report.placed.empty())  // OpenMP has no clause for argmin and argmax
        all.push_back({sources[at].function, report.source.empty() ? sources[at].text : report.source, report});
    });
  EXPECT_EQ(read, sources.size()) << "one of them does not compile";
  return all;
}

// PoCL parses Clang's header of all built-in functions twice per program, which dominates for small programs. This
// replaces it by the few functions that kernels use, as the device layer does, with the full header as fallback.
inline std::string with_few_builtins(std::string runtime) {
  const std::string make = "program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);",
                    build = "if (clBuildProgram(program, 1, &device, exactly, nullptr, nullptr) != CL_SUCCESS) {";
  const auto made = runtime.find(make), built = runtime.find(build);
  if (made == std::string::npos || built == std::string::npos) return runtime;
  runtime.replace(
      built, build.size(),
      "const std::string options = std::string(exactly) + \" -D_OPENCL_H_\";\n"
      "    bool few = clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr) == CL_SUCCESS;\n"
      "    if (!few) " +
          make + "\n    if (!few && " + build.substr(4));
  runtime.replace(made, make.size(),
                  "const char* parts[] = {R\"~(" + ridge::detail::kernel_text("device/builtins") +
                      ")~\", source};\n    program = clCreateProgramWithSource(context, 2, parts, nullptr, &code);");
  return runtime;
}

// A placed program without the run time written into it, which goes to `shared`.
inline std::string own_part(const std::string& text, std::string& shared) {
  const auto from = text.find("// Run time of the placed code");
  if (from == std::string::npos) return text;
  const auto to = text.find("// The program.\n");
  shared = with_few_builtins(text.substr(from, to - from));
  return text.substr(to);
}

// One program of all functions: shared headers and run time first, then a namespace per function.
inline std::string program_of(const std::vector<Placed>& all, const std::string& emit, bool placed) {
  ridge::place::judge::Options comparison;
  comparison.emit = emit;
  std::set<std::string> headers;
  std::string shared, text, calls;
  int number = 0;
  static const std::regex include(R"(#include [<"][^>"]*[>"])");
  for (const Placed& p : all) {
    std::string own = own_part(placed ? p.report.placed : p.original, shared) +
                      ridge::place::judge::harness(p.report, comparison, placed);
    for (std::sregex_iterator at(own.begin(), own.end(), include), end; at != end; ++at) headers.insert(at->str());
    own = std::regex_replace(own, include, "");
    const std::string entry = "int main(int, char** ridge_check_words)";
    own.replace(own.find(entry), entry.size(), "int run(char** ridge_check_words)");
    const std::string space = "case_" + std::to_string(number++);  // functions of two files may have the same name
    text += "namespace " + space + " {\n" + own + "}\n";
    calls += "  if (name == \"" + space + "\") return " + space + "::run(words + 1);\n";
  }
  std::string first = "#include <string>\n";
  for (const std::string& h : headers) first += h + "\n";
  return first + shared + text + "int main(int, char** words) {\n  const std::string name = words[1];\n" + calls +
         "  return 9;\n}\n";
}

inline int command(const std::string& line) { return std::system(line.c_str()); }

// Compiling the programs dominates: without optimization, but for RIDGE_SLOW=1.
inline std::string optimization() { return std::getenv("RIDGE_SLOW") != nullptr ? " -O1" : " -O0"; }

// Compiles the original and the placed program of all functions and runs each function in its own process. With
// `may_fail`, functions whose original fails on generated data, or whose result depends on uninitialized variables, are
// skipped. Returns the number of functions compared.
inline int compare_all(const std::vector<Placed>& all, const std::string& emit, const std::string& compiler,
                       bool may_fail = false, const std::string& for_original = "c++") {
  namespace judge = ridge::place::judge;
  const ridge::test::ScratchFolder scratch;
  const std::string at = scratch.path().string() + "/";
  std::ofstream(at + "original.cpp") << program_of(all, emit, false);
  if (may_fail) std::ofstream(at + "unset.cpp") << program_of(all, emit, false);
  std::ofstream(at + "placed.cpp") << program_of(all, emit, true);
  const std::string flags = optimization() + " -ffp-contract=off -std=c++20 -w -I" + folder().string() + " -o ",
                    log = at + "log", limit = may_fail ? "timeout 5 " : "timeout 60 ";
  const auto built = [&](const std::string& with, const std::string& name, const std::string& libraries) {
    const bool good =
        command(with + flags + at + name + " " + at + name + ".cpp" + libraries + " > " + log + " 2>&1") == 0;
    EXPECT_TRUE(good) << name << ": " << text_of(log).substr(0, 4000);
    return good;
  };
  std::string libraries = emit == "opencl" ? " -lOpenCL -pthread" : "";
  if (emit == "ridge") {
    for (const std::string& f : judge::compiler_of(emit).flags) libraries += " " + f;
    for (const auto& d : ridge::devices().devices)  // not the default device, which is the host if only PoCL is present
      if (!d.is_host()) setenv("RIDGE_DEVICE", d.info().id.c_str(), 0);
  }
  if (!built(for_original + (may_fail ? " -ftrivial-auto-var-init=zero" : ""), "original", "") ||
      !built(compiler, "placed", libraries) ||
      (may_fail && !built(for_original + " -ftrivial-auto-var-init=pattern", "unset", "")))
    return 0;
  setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);  // optimization would dominate
  int compared = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Placed& p = all[k];
    const std::string space = " case_" + std::to_string(k) + " ";
    SCOPED_TRACE(p.function + (may_fail ? "\n" + p.original : ""));
    const int code = command(limit + at + "original" + space + at + "a > " + log + " 2>&1");
    if (code != 0 && may_fail) continue;
    if (may_fail && (command(limit + at + "unset" + space + at + "b > " + log + " 2>&1") != 0 ||
                     text_of(at + "a") != text_of(at + "b")))
      continue;
    EXPECT_EQ(code, 0);
    const int placed = command(limit + at + "placed" + space + at + "b > " + log + " 2>&1");
    EXPECT_EQ(placed, 0) << text_of(log);
    if (code != 0 || placed != 0) continue;
    if (emit != "openmp") {
      EXPECT_EQ(text_of(log).find("kernels 0\n"), std::string::npos) << "no kernel has run";
    }
    std::string where;
    const double worst = judge::difference(judge::read_dump(text_of(at + "a")), judge::read_dump(text_of(at + "b")),
                                           judge::allowed(p.report) == 0, where);
    EXPECT_LE(worst, judge::allowed(p.report)) << where;
    ++compared;
  }
  return compared;
}

}  // namespace place_test
