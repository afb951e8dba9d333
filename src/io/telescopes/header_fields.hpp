// Keyword headers (GUPPI RAW, PSRDADA): untrusted text fields, each checked when read.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::io {

class InputStream;

class HeaderFields {
 public:
  // `format` and `name` appear in every message: "GUPPI RAW", "x.raw".
  HeaderFields(std::string format, std::string name) : format_(std::move(format)), name_(std::move(name)) {}

  void set(const std::string& key, const std::string& value) { values_[key] = value; }
  bool has(const std::string& key) const { return values_.count(key) != 0; }
  std::size_t size() const { return values_.size(); }

  // Throws Error{io} with the field name if it is not a number within the bounds. A missing field gives `otherwise`, or
  // Error{io} if there is no default.
  std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high,
                       std::optional<std::int64_t> otherwise = {}) const;
  double number(const std::string& key, double low, double high, std::optional<double> otherwise = {}) const;
  std::string text(const std::string& key, const std::string& otherwise = "") const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  const std::string* find(const std::string& key) const;
  std::string format_, name_;
  std::map<std::string, std::string> values_;
};

// Recognizes common file formats by their first bytes, to reject them as raw samples. Returns the name of the format
// ("PNG"), or an empty text. 64 bytes are enough. `sure` uses only signatures of six
// bytes or more, which raw samples do not start with by chance.
std::string_view foreign_format(std::string_view first_bytes, bool sure = false);

// Throws Error{invalid_argument} if a stream of raw samples begins like a file of another format. VDIF has no
// signature: it is recognized by two frame headers, unless `sure`.
void refuse_foreign(InputStream& in, bool sure = false);

}  // namespace ridge::io
