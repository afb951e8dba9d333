// Parses untrusted JSON: bytes, depth and number of values are bounded before anything is built.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace ridge::base {

using Json = nlohmann::ordered_json;

struct JsonBounds {
  std::size_t bytes = 16u << 20;
  std::size_t depth = 32;
  std::size_t values = 1u << 20;
};

// Error{io} with the reason ("deeper than 32 levels", "line 3: ...") if the text breaks a bound or the grammar.
Json parse_json(std::string_view text, const JsonBounds& bounds = {});

// Nothing if the file is missing. For a damaged file: one warning with its name and the reason, then nothing, so that
// the caller rebuilds it.
std::optional<Json> read_json_or_warn(const std::filesystem::path& path, const JsonBounds& bounds = {});

// A finite number in [low, high], else Error{io} naming the field.
double number_in(const Json& object, const std::string& field, double low, double high);
std::string text_in(const Json& object, const std::string& field, std::size_t longest = 4096);

}  // namespace ridge::base
