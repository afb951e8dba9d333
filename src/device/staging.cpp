#include "device/staging.hpp"

#include <algorithm>

namespace ridge {

void Staging::reserve(Buffer& buffer, std::size_t bytes, const char* what) const {
  if (buffer && buffer.size() >= bytes) return;
  buffer = {};  // frees the old buffer first: memory may not suffice for both
  buffer = device_.buffer(bytes, {.name = name_ + " " + what});
}

void Staging::run(const StagedCall& call,
                  const std::function<void(Queue& queue, const Buffer& in, const Buffer& out)>& enqueue) const {
  const std::lock_guard lock(mutex_);
  if (!queue_) queue_ = device_.queue();
  reserve(in_, call.in_place ? std::max(call.in_bytes, call.out_bytes) : call.in_bytes, "input");
  if (!call.in_place) reserve(out_, call.out_bytes, "output");
  const Buffer& out = call.in_place ? in_ : out_;
  queue_->upload(call.in, in_, call.in_bytes);
  if (!call.in_place && call.output_first) queue_->upload(call.out, out, call.out_bytes);
  enqueue(*queue_, in_, out);
  queue_->download(out, call.out, call.out_bytes);
  queue_->finish();
}

}  // namespace ridge
