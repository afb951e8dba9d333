// Reads compile_commands.json and extracts the flags of one file.
#include "cli/place/compile_flags.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>
#include <ridge/error.hpp>

#include "base/files.hpp"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

// Splits a command line like a shell: quotes and backslashes, nothing else.
std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> list;
  std::string word;
  bool any = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else if (c == '\\' && quote == '"' && i + 1 < line.size())
        word += line[++i];
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      any = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
      any = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (any) list.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any) list.push_back(word);
  return list;
}

// Keeps the flags that affect parsing (-I, -D, -std, ...). Include folders become absolute, because the build ran in
// another folder.
std::vector<std::string> kept(const std::vector<std::string>& command, const fs::path& folder) {
  static const char* const with_path[] = {"-I", "-isystem", "-iquote", "-include", "-idirafter"};
  std::vector<std::string> flags;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    bool matched = false;
    for (const std::string option : with_path) {
      if (word == option && i + 1 < command.size()) {
        flags.push_back(option);
        flags.push_back((folder / command[++i]).string());
        matched = true;
      } else if (word.rfind(option, 0) == 0 && word.size() > option.size()) {
        flags.push_back(option);
        flags.push_back((folder / word.substr(option.size())).string());
        matched = true;
      }
      if (matched) break;
    }
    if (matched) continue;
    if ((word == "-D" || word == "-U") && i + 1 < command.size())
      flags.push_back(word + command[++i]);
    else if (word.rfind("-D", 0) == 0 || word.rfind("-U", 0) == 0 || word.rfind("-std=", 0) == 0)
      flags.push_back(word);
  }
  return flags;
}

}  // namespace

std::vector<std::string> compile_flags(const std::string& database, const std::string& file) {
  std::error_code ignored;
  fs::path from = database;
  if (fs::is_directory(from, ignored)) from /= "compile_commands.json";
  const auto text = base::read_file(from, std::size_t{256} << 20);
  if (!text) throw Error(ErrorKind::io, from.string() + ": cannot be read");
  try {
    for (const auto& entry : nlohmann::json::parse(*text)) {
      const fs::path folder = fs::absolute(entry.value("directory", from.parent_path().string()), ignored);
      if (!fs::equivalent(folder / entry.at("file").get<std::string>(), file, ignored)) continue;
      const auto command = entry.contains("arguments") ? entry.at("arguments").get<std::vector<std::string>>()
                                                       : words(entry.at("command").get<std::string>());
      return kept(command, folder);
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::invalid_argument, from.string() + ": not a valid compile_commands.json: " + error.what());
  }
  throw Error(ErrorKind::invalid_argument, from.string() + " has no entry for " + file);
}

}  // namespace ridge::cli
