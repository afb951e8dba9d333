// Files whose contents are executed: nobody but this user or root may have written them.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::base {

// As read_file(), but Error{io} too for a file that belongs to another user, that others may write to, or that is a
// link.
std::optional<std::string> read_trusted_file(const std::filesystem::path& path, std::size_t limit);
// As write_file(), and nobody else may read it.
void write_private_file(const std::filesystem::path& path, std::string_view bytes);

// Why a folder is not to be trusted in the same sense; empty where it is.
std::string why_untrusted(const std::filesystem::path& folder);
// Makes a folder and those above it where they are missing, for this user only. The reason where that fails, or empty.
std::string make_private_folder(const std::filesystem::path& folder);

}  // namespace ridge::base
