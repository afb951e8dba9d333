// ARM's non-temporal pair store (STNP); Highway's Stream() is a plain store on ARM.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::machine {

bool arm_has_streaming_stores();
void arm_write_streaming(std::byte* to, std::size_t bytes, std::uint64_t word);
void arm_copy_streaming(const std::byte* from, std::byte* to, std::size_t bytes);

}  // namespace ridge::machine
