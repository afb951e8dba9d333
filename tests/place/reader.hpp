// Runs the plugin over many sources in one child process, so that it is loaded only once. A source that ends the
// process is a crash.
#pragma once
#include <dlfcn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "place/report/report.hpp"
#include "support/scratch.hpp"

namespace place_test {

struct Source {
  std::string function, text, emit = "openmp", tiles = "auto";
  bool any_size = false;  // short loops are placed too
};

class Reader {
 public:
  explicit Reader(std::vector<std::string> flags = {"-std=c++20"}) : flags_(std::move(flags)) {
    const char* named = std::getenv("RIDGE_PLACE_PLUGIN");
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../libridge-place.so";
    if (void* library = dlopen(named != nullptr && *named != '\0' ? named : here.c_str(), RTLD_NOW | RTLD_LOCAL))
      work_ = reinterpret_cast<char* (*)(const char*)>(dlsym(library, "ridge_place_work"));
  }
  bool there() const { return work_ != nullptr; }

  // Reads sources[from] and later ones; calls `visit` for those that compile. Returns the index after the last source
  // read: the end, or the one after a crash.
  std::size_t read(const std::vector<Source>& sources, std::size_t from,
                   const std::function<void(std::size_t, const ridge::place::Report&)>& visit) const {
    const ridge::test::ScratchFolder folder;
    const std::string answers = folder.path().string() + "/answers", source = folder.path().string() + "/source.cpp";
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      std::ofstream out(answers, std::ios::binary);
      if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
      const ridge::place::Memories memories;
      for (std::size_t k = from; k < sources.size(); ++k) {
        std::ofstream(source, std::ios::binary) << sources[k].text;
        const nlohmann::json request{{"file", source},
                                     {"function", sources[k].function},
                                     {"flags", flags_},
                                     {"emit", sources[k].emit},
                                     {"any_size", sources[k].any_size},
                                     {"without", nlohmann::json::array()},
                                     {"memories",
                                      {{"cached", memories.cached},
                                       {"local", memories.local},
                                       {"local_bytes", memories.local_bytes},
                                       {"constant", memories.constant},
                                       {"tiles", sources[k].tiles}}}};
        const itimerval limit{{0, 0}, {60, 0}};  // CPU seconds
        setitimer(ITIMER_PROF, &limit, nullptr);
        char* answer = work_(request.dump().c_str());
        out << answer << "\n" << std::flush;
        free(answer);
      }
      _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    std::ifstream in(answers);
    std::size_t at = from;
    for (std::string line; std::getline(in, line); ++at) {
      const auto report = ridge::place::report_from_json(nlohmann::json::parse(line));
      for (const std::string& e : report.errors)
        EXPECT_EQ(e.find("the reader failed"), std::string::npos) << e << "\n" << sources[at].text;
      if (report.errors.empty()) visit(at, report);
    }
    if (at == sources.size()) return at;
    ADD_FAILURE() << "the reader ends with status " << status << " on\n" << sources[at].text;
    return at + 1;
  }

 private:
  std::vector<std::string> flags_;
  char* (*work_)(const char*) = nullptr;
};

}  // namespace place_test
