// Parses the description of a pipeline and builds the command line of each stage.
#include "cli/run/pipeline.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "command/options.hpp"

namespace ridge::cli {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// A string in quotes, a number, true or false, without a comment after it.
std::optional<std::string> toml_value(const std::string& text) {
  if (text.starts_with('"')) {
    const auto end = text.find('"', 1);
    if (end == std::string::npos) return {};
    const std::string rest = trimmed(text.substr(end + 1));
    if (!rest.empty() && rest[0] != '#') return {};
    return text.substr(1, end - 1);
  }
  const std::string word = trimmed(text.substr(0, text.find('#')));
  if (word == "true" || word == "false") return word;
  double number = 0;
  const char* end = word.data() + word.size();
  if (word.empty() || std::from_chars(word.data(), end, number).ptr != end) return {};
  return word;
}

// Commands whose second positional argument is the output; other outputs are --out.
bool writes_second(const std::string& run) {
  return run == "capture" || run == "channelize" || run == "dedisperse" || run == "beamform" || run == "fold";
}
bool reads_power(const std::string& run) { return run == "search" || run == "fold" || run == "periods"; }

bool flags_go_elsewhere(const StageDescription& stage) {
  return std::any_of(stage.options.begin(), stage.options.end(), [](const auto& one) { return one.first == "flags"; });
}

void take_key(StageDescription& stage, const std::string& key, const std::string& value, const std::string& where) {
  const auto once = [&](auto& to, bool given) {  // options of a command may be repeated
    if (given) mistake(fmt::format("{}: {} is given twice in this stage", where, key));
    to = value;
  };
  if (key == "run") {
    once(stage.run, !stage.run.empty());
  } else if (key == "name") {
    once(stage.name, !stage.name.empty());
  } else if (key == "in") {
    once(stage.in, stage.in.has_value());
  } else if (key == "out") {
    once(stage.out, stage.out.has_value());
  } else if (key == "ring") {
    once(stage.ring, !stage.ring.empty());
  } else if (key == "link") {
    if (value != "ring" && value != "pipe") mistake(fmt::format("{}: link is \"ring\" or \"pipe\"", where));
    stage.link = value;
  } else {
    stage.options.emplace_back(key, value);
  }
}

}  // namespace

PipelineDescription parse_pipeline(const std::string& text, const std::string& name) {
  PipelineDescription pipeline;
  std::istringstream lines(text);
  std::string line, section;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    const std::string where = fmt::format("{}: line {}", name, number);
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      section = trimmed(line.substr(0, line.find('#')));
      if (section != "[[stage]]" && section != "[page]")
        mistake(fmt::format("{}: unknown section {}: needs [[stage]] or [page]", where, section));
      if (section == "[[stage]]") pipeline.stages.push_back({.line = number});
      if (section == "[page]") pipeline.port = 0;
      continue;
    }
    const auto equals = line.find('=');
    const std::string key = trimmed(line.substr(0, equals));
    const auto value = equals == std::string::npos ? std::nullopt : toml_value(trimmed(line.substr(equals + 1)));
    const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!plain || !value || section.empty())
      mistake(fmt::format("{}: needs key = \"text\", a number, true or false, within [[stage]] or [page]", where));
    if (section == "[[stage]]") {
      take_key(pipeline.stages.back(), key, *value, where);
      continue;
    }
    unsigned port = 0;
    const char* end = value->data() + value->size();
    if (key != "port" || std::from_chars(value->data(), end, port).ptr != end || port > 65535)
      mistake(fmt::format("{}: [page] has one key, port, 0 to 65535", where));
    pipeline.port = port;
  }
  if (pipeline.stages.empty()) mistake(fmt::format("{}: has no [[stage]]", name));
  for (StageDescription& stage : pipeline.stages) {
    if (stage.run.empty() || stage.run == "run" || stage.run.starts_with('-'))
      mistake(fmt::format("{}: the stage in line {} needs run = \"a ridge command\"", name, stage.line));
    if (stage.name.empty()) stage.name = stage.run;
  }
  return pipeline;
}

std::vector<std::vector<std::string>> stage_arguments(const PipelineDescription& pipeline, const std::string& unique) {
  std::vector<std::vector<std::string>> all;
  std::string before;  // input of the next stage
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    const StageDescription& stage = pipeline.stages[i];
    const bool last = i + 1 == pipeline.stages.size();
    std::string out = stage.out.value_or("");
    std::string next = out;
    if (!last && !stage.out) {
      if (!writes_second(stage.run))
        mistake(fmt::format("stage {}: {} writes no stream; it must be the last stage", stage.name, stage.run));
      const std::string ending = reads_power(pipeline.stages[i + 1].run) ? ".fil" : "";
      if (stage.link == "pipe" && stage.run == "capture" && !flags_go_elsewhere(stage)) {
        mistake(
            fmt::format("stage {}: a pipe carries no flags of lost packets: use link = \"ring\", or give the option "
                        "flags = \"FILE\"",
                        stage.name));
      }
      next = stage.link == "pipe" ? "-" : fmt::format("ring:{}-{}{}", unique, i, ending);
      out = next == "-" || stage.ring.empty() ? next : next + "," + stage.ring;
    }
    std::vector<std::string> words{stage.run};
    const std::string in = stage.in.value_or(before);
    if (in.empty()) mistake(fmt::format("stage {}: needs in = \"FILE\", as the first stage", stage.name));
    words.push_back(in);
    if (!out.empty() && writes_second(stage.run)) words.push_back(out);
    if (!out.empty() && !writes_second(stage.run)) words.insert(words.end(), {"--out", out});
    if (next == "-" && stage.run == "channelize" && reads_power(pipeline.stages[i + 1].run))
      words.insert(words.end(), {"--output-format", "fil"});
    for (const auto& [key, value] : stage.options) {
      if (value == "false") continue;
      words.push_back("--" + key);
      if (value != "true") words.push_back(value);
    }
    before = next;
    all.push_back(std::move(words));
  }
  return all;
}

}  // namespace ridge::cli
