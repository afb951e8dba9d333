// Descriptions of pipelines: a small subset of TOML.
//
//   [page]
//   port = 8080                # live page at http://127.0.0.1:8080; 0: any free port
//   [[stage]]
//   run = "capture"            # a ridge command
//   in = "udp://127.0.0.1:4001"
//   idle = 5                   # other keys are options of the command: --idle 5
//   [[stage]]
//   run = "channelize"         # in and out are rings to the neighbouring stages unless they are given
//   channels = 1024
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ridge::cli {

struct StageDescription {
  std::string run{}, name{};
  std::optional<std::string> in{}, out{};
  std::string link = "ring";  // to the next stage: ring or pipe
  std::string ring{};         // options of that ring: "blocks=16,block=8M"
  std::vector<std::pair<std::string, std::string>> options{};
  std::size_t line = 0;
};

struct PipelineDescription {
  std::optional<unsigned> port{};
  std::vector<StageDescription> stages{};
};

// Error{invalid_argument} with the line.
PipelineDescription parse_pipeline(const std::string& text, const std::string& name);

// Arguments of every stage. `unique` distinguishes the rings of this run from others.
std::vector<std::vector<std::string>> stage_arguments(const PipelineDescription& pipeline, const std::string& unique);

}  // namespace ridge::cli
