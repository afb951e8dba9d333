// Parses JSON with bounds on bytes, depth and number of values.
#include "base/json.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/log.hpp"

namespace ridge::base {
namespace {

[[noreturn]] void refuse(const std::string& reason) { throw Error(ErrorKind::io, reason); }

// Builds the value from parser events and checks every bound before the value that would break it exists. Members of an
// object are collected separately, because ordered_json searches linearly on insertion: n members would take n^2 steps,
// which a hostile file could exploit.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const JsonBounds& bounds) : bounds_(bounds) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    if (!std::isfinite(value)) refuse(fmt::format("the number {:.40} is not finite", text));
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { refuse("binary values are not JSON"); }

  bool start_object(std::size_t) override { return open(true); }
  bool key(string_t& name) override {
    Open& object = open_.back();
    if (!object.names.insert(name).second) refuse(fmt::format("the field \"{:.40}\" is given twice", name));
    object.name = std::move(name);
    return true;
  }
  bool end_object() override {
    Open closed = close();
    Json object = Json::object();
    auto& members = object.get_ref<Json::object_t&>();
    members.reserve(closed.members.size());
    for (auto& [name, value] : closed.members) members.emplace_back(std::move(name), std::move(value));
    return put(std::move(object));
  }
  bool start_array(std::size_t) override { return open(false); }
  bool end_array() override {
    Open closed = close();
    return put(Json(std::move(closed.elements)));
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& failure) override {
    std::string reason = failure.what();
    if (failure.id == 406) refuse(fmt::format("a number is not finite: {:.80}", tail(reason, "parsing ")));
    refuse(fmt::format("{:.240}", tail(reason, "parse error at ")));
  }

  Json take() { return std::move(root_); }

 private:
  struct Open {
    bool object = false;
    std::string name;  // name of the member whose value comes next
    std::unordered_set<std::string> names;
    std::vector<std::pair<std::string, Json>> members;
    Json::array_t elements;
  };

  // The part of "[json.exception.parse_error.101] parse error at line 3, column 5: ..." that starts with "line".
  static std::string tail(const std::string& text, const std::string& after) {
    const auto at = text.find(after);
    return at == std::string::npos ? text : text.substr(at + after.size());
  }

  void count() {
    if (++values_ > bounds_.values) refuse(fmt::format("more than {} values", bounds_.values));
  }
  bool open(bool object) {
    count();
    if (open_.size() >= bounds_.depth) refuse(fmt::format("deeper than {} levels", bounds_.depth));
    open_.emplace_back().object = object;
    return true;
  }
  Open close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    return closed;
  }
  template <class T>
  bool add(T&& value) {
    count();
    return put(Json(std::forward<T>(value)));
  }
  bool put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().object) {
      open_.back().members.emplace_back(std::move(open_.back().name), std::move(value));
    } else {
      open_.back().elements.push_back(std::move(value));
    }
    return true;
  }

  JsonBounds bounds_;
  std::size_t values_ = 0;
  std::vector<Open> open_;
  Json root_;
};

const Json& member(const Json& object, const std::string& field) {
  if (!object.is_object()) refuse(fmt::format("needs an object with the field \"{}\"", field));
  const auto found = object.find(field);
  if (found == object.end()) refuse(fmt::format("the field \"{}\" is missing", field));
  return *found;
}

}  // namespace

Json parse_json(std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.bytes) refuse(fmt::format("longer than {} bytes", bounds.bytes));
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse("empty");
  Builder builder(bounds);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::optional<Json> read_json_or_warn(const std::filesystem::path& path, const JsonBounds& bounds) {
  try {
    const auto text = read_file(path, bounds.bytes);
    if (!text) return std::nullopt;
    try {
      return parse_json(*text, bounds);
    } catch (const Error& error) {
      refuse(fmt::format("{}: {}", path.string(), error.what()));
    }
  } catch (const Error& error) {
    warn(fmt::format("{}; the file is ignored", error.what()));
    return std::nullopt;
  }
}

double number_in(const Json& object, const std::string& field, double low, double high) {
  const Json& value = member(object, field);
  if (!value.is_number()) refuse(fmt::format("the field \"{}\" is not a number", field));
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < low || number > high)
    refuse(fmt::format("the field \"{}\" is {}, not within [{}, {}]", field, number, low, high));
  return number;
}

std::string text_in(const Json& object, const std::string& field, std::size_t longest) {
  const Json& value = member(object, field);
  if (!value.is_string()) refuse(fmt::format("the field \"{}\" is not text", field));
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > longest) refuse(fmt::format("the field \"{}\" is longer than {} bytes", field, longest));
  return text;
}

}  // namespace ridge::base
