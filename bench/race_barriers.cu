// Shows which barriers NVIDIA's racecheck follows. A group stores points, each warp reads points of other warps, and
// the group waits before it stores again: the pattern of the filter bank's kernels with split barriers. Only the last
// kind has a race; reports of other kinds are the checker's.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o race_barriers bench/race_barriers.cu
//   for kind in full one_arrives all_arrive named none; do compute-sanitizer --tool racecheck ./race_barriers $kind;
//   done
//
// Results on an H200: docs/measurements/h200.md.
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

enum class Kind {
  full,         // one __syncthreads() more
  one_arrives,  // mbarrier: work-item 0 of each warp arrives after __syncwarp(), as the filter bank does
  all_arrive,   // mbarrier: every work-item arrives
  named,        // bar.arrive and bar.sync between a half that stores and a half that reads
  none          // a race
};
constexpr const char* kNames[] = {"full", "one_arrives", "all_arrive", "named", "none"};
constexpr int kItems = 512, kRounds = 8;

__device__ float sums[kItems];

__device__ void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ void wait(std::uint32_t barrier, int parity) {
  std::uint32_t complete = 0;
  while (complete == 0) {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(complete)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  }
}

// The first half of the group stores, the second half reads.
__device__ float exchange_by_halves(float* points, int item) {
  float sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (item < kItems / 2) {
      if (round > 0) asm volatile("bar.sync 2, 512;" ::: "memory");
      points[item] = static_cast<float>(item + round);
      asm volatile("bar.arrive 1, 512;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 512;" ::: "memory");
      sum += points[kItems - 1 - item];
      if (round + 1 < kRounds) asm volatile("bar.arrive 2, 512;" ::: "memory");
    }
  }
  return sum;
}

template <Kind kind>
__global__ void exchange() {
  __shared__ float points[kItems];
  __shared__ std::uint64_t split;
  const auto barrier = static_cast<std::uint32_t>(__cvta_generic_to_shared(&split));
  const int item = static_cast<int>(threadIdx.x);
  if (kind == Kind::named) {
    sums[item] = exchange_by_halves(points, item);
    return;
  }
  if (item == 0) {
    const int arrivals = kind == Kind::one_arrives ? kItems / 32 : kItems;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
  }
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (kind == Kind::full && round > 0) __syncthreads();
    if ((kind == Kind::one_arrives || kind == Kind::all_arrive) && round > 0) wait(barrier, (round - 1) & 1);
    points[item] = static_cast<float>(item + round);
    __syncthreads();
    sum += points[kItems - 1 - item];
    if (kind == Kind::one_arrives) {
      __syncwarp();
      if (item % 32 == 0) arrive(barrier);
    }
    if (kind == Kind::all_arrive) arrive(barrier);
  }
  sums[item] = sum;
}

}  // namespace

int main(int count, char** words) {
  void (*const kernels[])() = {exchange<Kind::full>, exchange<Kind::one_arrives>, exchange<Kind::all_arrive>,
                               exchange<Kind::named>, exchange<Kind::none>};
  for (int kind = 0; kind < 5; ++kind) {
    if (count != 2 || std::strcmp(words[1], kNames[kind]) != 0) continue;
    kernels[kind]<<<1, kItems>>>();
    const cudaError_t status = cudaDeviceSynchronize();
    std::printf("%s: %s\n", kNames[kind], cudaGetErrorString(status));
    return status == cudaSuccess ? 0 : 1;
  }
  std::fprintf(stderr, "usage: race_barriers full|one_arrives|all_arrive|named|none\n");
  return 1;
}
