// Threads that read samples ahead and write results behind.
#include "cli/channelize/flow.hpp"

#include <algorithm>
#include <exception>

namespace ridge::cli {

StagingMemory::StagingMemory(const std::vector<Device>& devices, std::size_t bytes) : size_(bytes) {
  const auto found = std::find_if(devices.begin(), devices.end(), [](const Device& one) { return !one.is_host(); });
  if (found == devices.end()) {
    plain_ = base::AlignedArray<std::byte>(bytes);
  } else {
    locked_.emplace(found->buffer(bytes, {.kind = MemoryKind::pinned, .name = "channelize staging"}).map());
  }
}

std::byte* StagingMemory::data() { return locked_ ? locked_->data() : plain_.data(); }

ReadAhead::ReadAhead(Read read, const std::vector<Device>& devices, std::size_t bytes, std::size_t blocks)
    : state_(std::make_shared<State>(std::move(read), bytes)) {
  state_->filled.assign(blocks, 0);
  for (std::size_t i = 0; i < blocks; ++i) {
    state_->memory.emplace_back(devices, bytes);
    state_->empty.put(i);
  }
  thread_ = std::thread([state = state_] { state->run(); });
}

ReadAhead::~ReadAhead() {
  state_->empty.end();
  if (!thread_.joinable()) return;
  if (state_->ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void ReadAhead::State::run() {
  try {
    while (const auto block = empty.take()) {
      filled[*block] = read(memory[*block].data(), bytes);
      full.put(*block);
      if (filled[*block] < bytes) break;
    }
  } catch (...) {
    full.fail(std::current_exception());
  }
  ended = true;
}

ReadAhead::Block ReadAhead::take() {
  const std::size_t number = state_->full.take().value();
  const std::size_t filled = state_->filled[number];
  return {number, {state_->memory[number].data(), filled}, filled < state_->bytes};
}

void ReadAhead::give_back(const Block& block) { state_->empty.put(block.number); }

WriteBehind::WriteBehind(Write write, const std::vector<Device>& devices, std::size_t values, std::size_t blocks)
    : write_(std::move(write)), filled_(blocks, 0) {
  for (std::size_t i = 0; i < blocks; ++i) {
    memory_.emplace_back(devices, std::max<std::size_t>(1, values) * sizeof(float));
    empty_.put(i);
  }
  thread_ = std::thread([this] { run(); });
}

WriteBehind::~WriteBehind() {
  full_.end();
  if (thread_.joinable()) thread_.join();
}

void WriteBehind::run() {
  try {
    while (const auto block = full_.take()) {
      write_({reinterpret_cast<const float*>(memory_[*block].data()), filled_[*block]});
      empty_.put(*block);
    }
    empty_.end();
  } catch (...) {
    empty_.fail(std::current_exception());
  }
}

WriteBehind::Block WriteBehind::room() {
  const std::size_t number = empty_.take().value();
  return {number, {reinterpret_cast<float*>(memory_[number].data()), memory_[number].size() / sizeof(float)}};
}

void WriteBehind::put(const Block& block, std::size_t values) {
  filled_[block.number] = values;
  full_.put(block.number);
}

void WriteBehind::finish() {
  full_.end();
  thread_.join();
  while (empty_.take()) continue;
}

}  // namespace ridge::cli
