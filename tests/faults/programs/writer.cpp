// Writes persistent files repeatedly and prints a line on standard output after each one that is reported as saved.
//
//   writer wisdom FILE COUNT       entries, numbered from the last one in the file on
//   writer profile FILE COUNT      profiles
//   writer checkpoint FILE COUNT   checkpoints of a grid whose cells all hold the step
//   writer check KIND FILE LAST    checks that all saved items are there and none is incomplete
#include <stdlib.h>  // setenv

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ridge/error.hpp>
#include <ridge/machine.hpp>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/temporaries.hpp"
#include "io/arrays/checkpoint.hpp"
#include "plan/wisdom.hpp"

namespace {

using namespace ridge;

constexpr std::size_t kRows = 150, kColumns = 1000;  // several blocks

// Wisdom and profiles are optional: a failure to save them is a warning, and nothing is reported as saved.
bool refused = false;

void promise(std::size_t number) {
  if (std::exchange(refused, false)) return;
  std::printf("%zu\n", number);
  std::fflush(stdout);
}

wisdom::Entry entry(std::size_t number) {
  return {"toy", std::to_string(number), "test", "fingerprint", "winner", 1.0 + static_cast<double>(number)};
}

void write_wisdom(std::size_t count) {
  const std::size_t first = wisdom::all().size();
  for (std::size_t i = first; i < first + count; ++i) {
    wisdom::remember(entry(i));
    promise(i);
  }
}

// Reads the file itself: an entry kept only in this process's memory does not count.
int check_wisdom(std::size_t last) {
  const auto entries = wisdom::all();
  std::set<std::string> there;
  for (const auto& one : entries) there.insert(one.problem);
  for (std::size_t i = 0; i <= last; ++i) {
    if (!there.contains(std::to_string(i))) return std::printf("entry %zu is lost\n", i), 1;
  }
  return 0;
}

machine::Profile profile(std::size_t number) {
  machine::Profile made;
  made.hardware = "imaginary";
  made.measured_at = std::to_string(number);
  machine::DeviceProfile device{.id = "host", .name = std::string(400, 'n'), .fingerprint = "f"};
  device.ceilings.measured = true;
  device.ceilings.flops_float = device.ceilings.flops_double = 1e9;
  device.ceilings.levels.push_back({.name = "memory"});
  made.devices.push_back(device);
  return made;
}

int check_profile(const std::string& file, std::size_t last) {
  const auto text = base::read_file(file, 1u << 20);
  if (!text) return std::printf("no profile\n"), 1;
  const std::size_t there = std::stoul(machine::from_json(*text).measured_at);
  return there < last ? (std::printf("profile %zu where %zu was promised\n", there, last), 1) : 0;
}

void write_checkpoint(const std::string& file, std::size_t step) {
  io::GridSource source;
  source.shape = {kRows, kColumns};
  source.type = io::ElementType::float64;
  source.names = {"u"};
  source.read = [&](std::size_t, std::size_t begin, std::size_t end, void* to) {
    std::fill_n(static_cast<double*>(to), (end - begin) * kColumns, static_cast<double>(step));
  };
  io::write_checkpoint(file, {.step = step}, source);
}

int check_checkpoint(const std::string& file, std::size_t last) {
  const auto found = io::newest_checkpoint(file);
  if (!found) return last == 0 ? 0 : (std::printf("no checkpoint, %zu was promised\n", last), 1);
  const std::size_t step = found->state().step;
  if (step < last) return std::printf("step %zu where %zu was promised\n", step, last), 1;
  std::vector<double> cells(kRows * kColumns);
  found->read(0, 0, kRows, cells.data());
  for (const double cell : cells) {
    if (cell != static_cast<double>(step)) return std::printf("a cell of %g in step %zu\n", cell, step), 1;
  }
  return 0;
}

int work(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "check") {
    const std::size_t last = std::stoul(words[3]);
    return words[1] == "wisdom"    ? check_wisdom(last)
           : words[1] == "profile" ? check_profile(words[2], last)
                                   : check_checkpoint(words[2], last);
  }
  if (words.size() != 3) return 9;
  const std::size_t count = std::stoul(words[2]);
  if (words[0] == "wisdom") {
    write_wisdom(count);
  } else if (words[0] == "checkpoint") {
    const auto found = io::newest_checkpoint(words[1]);
    const std::size_t first = found ? found->state().step + 1 : 1;
    for (std::size_t step = first; step < first + count; ++step) {
      write_checkpoint(words[1], step);
      promise(step);
    }
  } else if (words[0] == "profile") {
    const auto there = base::read_file(words[1], 1u << 20);
    const std::size_t first = there ? std::stoul(machine::from_json(*there).measured_at) + 1 : 0;
    for (std::size_t i = first; i < first + count; ++i) {
      machine::save(profile(i));
      promise(i);
    }
  } else {
    return 9;
  }
  return 0;
}

}  // namespace

int main(int count, char** values) {
  base::remove_temporaries_on_signals();
  std::set_terminate([] {  // a library's destructor ran out of memory
    base::remove_temporaries();
    std::fputs("writer: not enough memory\n", stderr);
    std::_Exit(1);
  });
  try {
    const std::vector<std::string> words(values + 1, values + count);
    // Points the library to the file.
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "wisdom") ::setenv("RIDGE_WISDOM", words[i + 1].c_str(), 1);
      if (words[i] == "profile") ::setenv("RIDGE_PROFILE", words[i + 1].c_str(), 1);
    }
    base::on_warning([](const std::string& line) {
      std::fprintf(stderr, "writer: warning: %s\n", line.c_str());
      refused = true;
    });
    return work(words);
  } catch (const Error& error) {
    std::fprintf(stderr, "writer: %s\n", error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    std::fputs("writer: not enough memory\n", stderr);
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "writer: %s\n", error.what());
    return 2;
  }
}
