// Functions called with overlapping arguments where a nest treats a value as fixed: the placed program must give the
// original's result.
#include <cstdlib>

#include "programs.hpp"

namespace {

using namespace place_test;

struct Met {
  std::string function, text;
  ridge::place::Report report;
};

// One source per function, after the declarations of its file.
std::vector<Source> sources_of(const std::string& emit, const std::vector<std::string>& names) {
  std::vector<Source> sources;
  for (const Case& c : cases()) {
    if (!c.met || (!names.empty() && std::find(names.begin(), names.end(), c.function) == names.end())) continue;
    const std::string all = text_of(c.file), shared = all.substr(0, all.find("\n//: "));
    const std::size_t from = all.find("\n//: " + c.function + " "), to = all.find("\n//: ", from + 1);
    sources.push_back({c.function, shared + all.substr(from, to == std::string::npos ? to : to - from), emit, "never"});
  }
  return sources;
}

std::string program_of(const std::vector<Met>& all, bool placed) {
  std::set<std::string> headers{"#include <cstdio>", "#include <string>"};
  std::string shared, text, calls;
  static const std::regex include(R"(#include [<"][^>"]*[>"])");
  for (const Met& m : all) {
    std::string own = placed && !m.report.placed.empty() ? own_part(m.report.placed, shared) : m.text;
    for (std::sregex_iterator at(own.begin(), own.end(), include), end; at != end; ++at) headers.insert(at->str());
    text += "namespace case_" + m.function + " {\n" + std::regex_replace(own, include, "") + "}\n";
    calls += "  if (name == \"" + m.function + "\") for (const double x : case_" + m.function + "::" + m.function +
             "_met()) std::printf(\"%.17g\\n\", x);\n";
  }
  std::string first;
  for (const std::string& h : headers) first += h + "\n";
  return first + shared + text + "int main(int, char** words) {\n  const std::string name = words[1];\n" + calls +
         "}\n";
}

void compare_met(const std::string& emit, const std::string& flags, const std::vector<std::string>& names) {
  const ridge::test::ScratchFolder scratch;
  const std::string at = scratch.path().string() + "/", beside = " -I" + folder().string();
  const std::vector<Source> sources = sources_of(emit, names);
  ASSERT_FALSE(sources.empty());
  std::vector<std::string> words{"-std=c++20", "-I" + folder().string()};
  if (sources.size() > 20)
    for (const std::string& f : precompiled(scratch.path().string())) words.push_back(f);
  std::vector<Met> all;
  const Reader reader(words);
  for (std::size_t k = 0; k < sources.size();)
    k = reader.read(sources, k, [&](std::size_t i, const ridge::place::Report& report) {
      all.push_back({sources[i].function, sources[i].text, report});
    });
  ASSERT_EQ(all.size(), sources.size()) << "one of them does not compile";
  for (const bool placed : {false, true}) {
    const std::string name = at + (placed ? "placed" : "original");
    std::ofstream(name + ".cpp") << program_of(all, placed);
    ASSERT_EQ(command("c++" + optimization() + " -std=c++20 -w -fopenmp -ffp-contract=off" + beside + " -o " + name +
                      " " + name + ".cpp " + flags + " > " + at + "log 2>&1"),
              0)
        << text_of(at + "log").substr(0, 4000);
  }
  for (const Met& m : all) {
    SCOPED_TRACE(m.function);
    const std::string run = "OMP_NUM_THREADS=4 timeout 60 " + at;
    EXPECT_EQ(command(run + "original " + m.function + " > " + at + "a 2> /dev/null"), 0);
    EXPECT_EQ(command(run + "placed " + m.function + " > " + at + "b 2> " + at + "log"), 0) << text_of(at + "log");
    EXPECT_FALSE(text_of(at + "a").empty());
    EXPECT_EQ(text_of(at + "a"), text_of(at + "b"));
  }
}

TEST(Aliases, OverlappingArgumentsEqualTheOriginalAsThreads) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  compare_met("openmp", "",
              slow
                  ? std::vector<std::string>{}
                  : std::vector<std::string>{"field_as_bound", "field_before_its_first", "global_as_bound", "own_pages",
                                             "own_vector_and_view", "pointer_taken_before", "sum_into_reference",
                                             "zeros_added", "image_filtered_in_place", "image_shifted_in_place",
                                             "image_filtered_into_a_part", "ring_of_any_sign", "ring_past_its_row"});
}

TEST(Aliases, OverlappingArgumentsEqualTheOriginalAsPlainOpenCl) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (command("printf '#include <CL/cl.h>\\nint main() { return clGetPlatformIDs(0, 0, 0); }' | c++ -w -x c++ - "
              "-lOpenCL -o /dev/null 2> /dev/null") != 0)
    GTEST_SKIP() << "no OpenCL headers or library to compile with";
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  compare_met("opencl", "-lOpenCL -pthread",
              slow ? std::vector<std::string>{}
                   : std::vector<std::string>{"branch_reads_array", "field_as_bound", "header_reads_array",
                                              "image_filtered_in_place", "image_shifted_in_place", "ring_of_any_sign"});
}

}  // namespace
