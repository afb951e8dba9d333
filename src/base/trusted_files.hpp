// Reads and writes files whose contents are executed: only this user or root may have written them.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::base {

// Like read_file(), but also Error{io} for a file that belongs to another user, is writable by others, or is a symbolic
// link.
std::optional<std::string> read_trusted_file(const std::filesystem::path& path, std::size_t limit);
// Like write_file(), but only this user may read the file.
void write_private_file(const std::filesystem::path& path, std::string_view bytes);

// The reason why a folder is not trusted in this sense; empty if it is trusted.
std::string why_untrusted(const std::filesystem::path& folder);
// Creates a folder and its missing parents, accessible to this user only. Returns the reason of a failure, or empty.
std::string make_private_folder(const std::filesystem::path& folder);

}  // namespace ridge::base
