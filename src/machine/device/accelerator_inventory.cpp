// Lists accelerators and drivers from the PCI bus, the NVIDIA module, OpenCL's registry and environment variables.
#include "machine/profile.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include <fmt/format.h>

namespace ridge::machine {
namespace {

namespace fs = std::filesystem;

std::string first_word(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// Read once per process: a quick plan needs them, and they do not change.
std::vector<std::string> read_cards() {
  std::vector<std::string> signs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/bus/pci/devices", error)) {
    const std::string kind = first_word(entry.path() / "class");
    // PCI classes: display controllers, and accelerators without a display.
    if (!kind.starts_with("0x03") && !kind.starts_with("0x12")) continue;
    signs.push_back(
        fmt::format("card {}:{}", first_word(entry.path() / "vendor"), first_word(entry.path() / "device")));
  }
  if (const std::string version = first_word("/sys/module/nvidia/version"); !version.empty()) {
    signs.push_back("nvidia " + version);
  }
  return signs;
}

// Includes the modification time, which changes when the driver is replaced.
std::vector<std::string> read_opencl_drivers(const std::string& folder) {
  std::vector<std::string> signs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".icd") continue;
    std::error_code no_time;
    const auto time = fs::last_write_time(entry.path(), no_time).time_since_epoch().count();
    signs.push_back(fmt::format("{} of {}", entry.path().filename().string(), no_time ? 0 : time / 1'000'000'000));
  }
  return signs;
}

std::vector<std::string> opencl_drivers() {
  const char* folder = "/etc/OpenCL/vendors";
  for (const char* name : {"OPENCL_VENDOR_PATH", "OCL_ICD_VENDORS"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) folder = value;
  }
  static std::mutex mutex;
  static std::map<std::string, std::vector<std::string>> read;
  const std::lock_guard lock(mutex);
  const auto [entry, fresh] = read.try_emplace(folder);
  if (fresh) entry->second = read_opencl_drivers(folder);
  return entry->second;
}

void add_settings(std::vector<std::string>& signs) {
  for (const char* name : {"RIDGE_BACKENDS", "RIDGE_LIMITS", "RIDGE_THREADS", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) {
      signs.push_back(fmt::format("{}={:.200}", name, value));
    }
  }
}

}  // namespace

std::vector<std::string> accelerator_inventory() {
  static const std::vector<std::string> cards = read_cards();
  std::vector<std::string> signs = cards;
  const std::vector<std::string> drivers = opencl_drivers();
  signs.insert(signs.end(), drivers.begin(), drivers.end());
  add_settings(signs);
  std::sort(signs.begin(), signs.end());
  return signs;
}

}  // namespace ridge::machine
