// Many placed functions as one program, so that compiling them takes seconds: each in a namespace of its own with a
// function that calls it on made-up data and writes what it got.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "cases.hpp"
#include "place/judge/judge.hpp"

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

inline std::vector<Placed> place_cases(const std::string& emit, const std::vector<std::string>& names) {
  std::vector<Placed> all;
  for (const Case& c : cases()) {
    if (!c.run || (!names.empty() && std::find(names.begin(), names.end(), c.function) == names.end())) continue;
    // Pictures have a header of their own, which cannot stand in many namespaces: they are compared one by one.
    if (emit != "ridge" && std::filesystem::path(c.file).stem() == "mats") continue;
    ridge::place::Options options;
    options.function = c.function;
    options.emit = emit;
    options.seconds = 600;  // beside other tests
    options.memories.tiles = "always";
    options.flags = {"-std=c++20"};
    Placed p{c.function, text_of(c.file), ridge::place::analyze(c.file, options)};
    EXPECT_TRUE(p.report.errors.empty()) << c.function << ": " << p.report.errors[0];
    EXPECT_TRUE(emit == "openmp" || !p.report.placed.empty()) << c.function;
    if (!p.report.placed.empty()) all.push_back(std::move(p));  // an extreme with its place has no clause in OpenMP
  }
  return all;
}

// What the programs share stands before them: headers, and the run time that is written into each.
inline std::string program_of(const std::vector<Placed>& all, const std::string& emit, bool placed) {
  ridge::place::judge::Wishes wishes;
  wishes.emit = emit;
  std::set<std::string> headers;
  std::string shared, text, calls;
  int number = 0;
  static const std::regex include(R"(#include <[^>]*>)");
  for (const Placed& p : all) {
    std::string own = (placed ? p.report.placed : p.original) + ridge::place::judge::harness(p.report, wishes, placed);
    const std::string opens = "// What the placed code stands on", closes = "// The program.\n";
    if (const auto from = own.find(opens); from != std::string::npos) {
      const auto to = own.find(closes);
      shared = own.substr(from, to - from);
      own = own.substr(to);
    }
    for (std::sregex_iterator at(own.begin(), own.end(), include), end; at != end; ++at) headers.insert(at->str());
    own = std::regex_replace(own, include, "");
    const std::string entry = "int main(int, char** ridge_check_words)";
    own.replace(own.find(entry), entry.size(), "int run(char** ridge_check_words)");
    const std::string space = "case_" + std::to_string(number++);  // functions of two files may have one name
    text += "namespace " + space + " {\n" + own + "}\n";
    calls += "  if (name == \"" + space + "\") return " + space + "::run(words + 1);\n";
  }
  std::string first = "#include <string>\n";
  for (const std::string& h : headers) first += h + "\n";
  return first + shared + text + "int main(int, char** words) {\n  const std::string name = words[1];\n" + calls +
         "  return 9;\n}\n";
}

inline int command(const std::string& line) { return std::system(line.c_str()); }

}  // namespace place_test
