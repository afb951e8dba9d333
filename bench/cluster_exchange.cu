// Rate at which the work-groups of a cluster exchange points through each other's local memory: the bound of transforms
// by clusters (coherent dedispersion of 65536 points exchanges every point twice). Each of 8 groups has 8192 points of
// 8 bytes and stores an eighth of them in every group, as src/search/device/coherent_cluster.cl does.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o cluster_exchange bench/cluster_exchange.cu && ./cluster_exchange
//
// Results on an H200: docs/measurements/h200.md.
#include <cooperative_groups.h>
#include <cstdio>

namespace {

constexpr int kGroups = 8, kItems = 512, kPoints = 8192, kEach = kPoints / kItems, kOwn = kPoints / kGroups;
constexpr int kRounds = 64;
enum Kind { kStoresAndBarriers, kBarriers, kStores };

// `local`: all stores stay in their group instead of an eighth of them.
template <Kind kind, bool local>
__global__ void __cluster_dims__(kGroups, 1, 1) __launch_bounds__(kItems) exchange(float2* out) {
  extern __shared__ float2 line[];
  const auto cluster = cooperative_groups::this_cluster();
  const int item = static_cast<int>(threadIdx.x), rank = static_cast<int>(cluster.block_rank());
  float2 v[kEach];
  for (int i = 0; i < kEach; ++i) v[i] = make_float2(static_cast<float>(item), static_cast<float>(i));
  cluster.sync();
  for (int round = 0; round < kRounds; ++round) {
    if constexpr (kind != kBarriers) {
#pragma unroll
      for (int q = 0; q < kEach / kGroups; ++q) {
        const int at = rank * kOwn + item + q * kItems;
#pragma unroll
        for (int k = 0; k < kGroups; ++k) {
          float2* const to = local ? line + k * kOwn - rank * kOwn : cluster.map_shared_rank(line, k);
          to[at] = v[q * kGroups + k];
        }
      }
    }
    if constexpr (kind != kStores) cluster.sync();
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i].x += 1;
  }
  cluster.sync();
  out[blockIdx.x * kItems + item] = line[item];
}

template <Kind kind, bool local = false>
void run(const char* name, float2* out, int groups) {
  const int bytes = kPoints * static_cast<int>(sizeof(float2));
  cudaFuncSetAttribute(exchange<kind, local>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  float best = 1e30f;
  for (int i = 0; i < 6; ++i) {
    cudaEventRecord(begin);
    exchange<kind, local><<<groups, kItems, bytes>>>(out);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (ms < best) best = ms;
  }
  const double points = static_cast<double>(groups) * kPoints * kRounds;
  std::printf("%-36s %8.3f ms, %7.1f Gpoint/s, %s\n", name, best, points / best * 1e-6,
              cudaGetErrorString(cudaGetLastError()));
}

}  // namespace

int main() {
  int units = 0;
  cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0);
  const int groups = units / kGroups * kGroups * 16;
  float2* out = nullptr;
  cudaMalloc(&out, static_cast<std::size_t>(groups) * kItems * sizeof(float2));
  run<kStoresAndBarriers>("stores to all groups, barrier each", out, groups);
  run<kStores>("stores to all groups", out, groups);
  run<kBarriers>("barriers", out, groups);
  run<kStoresAndBarriers, true>("stores to the own group, barrier each", out, groups);
  run<kStores, true>("stores to the own group", out, groups);
}
