// Studies for `ridge place` on an NVIDIA device: memory spaces by distinct addresses per warp, texture paths beside
// global memory, and time and energy with and without a transformation. Results are compared before they are timed.
//
// nvcc -O3 -std=c++17 -arch=sm_90 -o place_studies bench/place_studies.cu -ldl && ./place_studies
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

constexpr int kTable = 4096;  // elements read by the study of spaces: 16 KiB
__constant__ float constant_table[kTable];

enum Space { kConstant, kTexture, kReadOnly, kGlobal, kShared };

template <int space>
__global__ void read_space(const float* table, cudaTextureObject_t texture, int distinct, int reads, float* out) {
  __shared__ float shared[kTable];
  if (space == kShared) {
    for (int i = threadIdx.x; i < kTable; i += blockDim.x) shared[i] = table[i];
    __syncthreads();
  }
  const int own = static_cast<int>(threadIdx.x) % distinct;
  float sum = 0;
#pragma unroll 8
  for (int r = 0; r < reads; ++r) {
    const int at = (r * 32 + own) & (kTable - 1);
    if (space == kConstant) sum += constant_table[at];
    if (space == kTexture) sum += tex1Dfetch<float>(texture, at);
    if (space == kReadOnly) sum += __ldg(table + at);
    if (space == kGlobal) sum += *static_cast<const volatile float*>(table + at);
    if (space == kShared) sum += shared[at];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

double seconds(const std::function<void()>& launch, int rounds = 5) {
  cudaEvent_t from, to;
  check(cudaEventCreate(&from), "event");
  check(cudaEventCreate(&to), "event");
  launch();
  float best = 1e30f;
  for (int r = 0; r < rounds; ++r) {
    cudaEventRecord(from);
    launch();
    cudaEventRecord(to);
    check(cudaEventSynchronize(to), "run");
    float ms = 0;
    cudaEventElapsedTime(&ms, from, to);
    best = std::fmin(best, ms);
  }
  cudaEventDestroy(from);
  cudaEventDestroy(to);
  return best * 1e-3;
}

class Energy {  // millijoules of the device since its start, by NVML
 public:
  Energy() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return;
    const auto start = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    const auto find = reinterpret_cast<int (*)(unsigned, void**)>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
    read_ =
        reinterpret_cast<int (*)(void*, unsigned long long*)>(dlsym(library, "nvmlDeviceGetTotalEnergyConsumption"));
    if (start == nullptr || find == nullptr || start() != 0 || find(0, &device_) != 0) read_ = nullptr;
  }
  double joules() const {
    unsigned long long used = 0;
    return read_ != nullptr && read_(device_, &used) == 0 ? static_cast<double>(used) * 1e-3 : NAN;
  }

 private:
  int (*read_)(void*, unsigned long long*) = nullptr;
  void* device_ = nullptr;
};

// Joules per launch, over about a second of launches.
double joules(const Energy& energy, const std::function<void()>& launch, double each) {
  const int count = static_cast<int>(std::fmax(4.0, 0.8 / each));
  for (int i = 0; i < count / 4 + 1; ++i) launch();
  check(cudaDeviceSynchronize(), "run");
  const double before = energy.joules();
  for (int i = 0; i < count; ++i) launch();
  check(cudaDeviceSynchronize(), "run");
  return (energy.joules() - before) / count;
}

constexpr int kEdge = 4096, kPixels = kEdge * kEdge;

__device__ int clamped(int x) { return min(max(x, 0), kEdge - 1); }

struct Direct {
  const float* data;
  __device__ float at(int x, int y) const { return __ldg(data + clamped(y) * kEdge + clamped(x)); }
};
struct Fetched {
  cudaTextureObject_t texture;
  __device__ float at(int x, int y) const {
    return tex2D<float>(texture, static_cast<float>(x) + .5f, static_cast<float>(y) + .5f);
  }
};

template <class Image>
__global__ void window(Image image, float* out) {  // 7 x 7 weights
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int j = -3; j <= 3; ++j)
#pragma unroll
    for (int i = -3; i <= 3; ++i) sum += constant_table[(j + 3) * 7 + i + 3] * image.at(x + i, y + j);
  out[y * kEdge + x] = sum;
}

template <class Image>
__global__ void displaced(Image image, const int2* by,
                          float* out) {  // 5 x 5 at an offset of the pixel, as in a flow search
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int2 d = by[y * kEdge + x];
  float sum = 0;
#pragma unroll
  for (int j = -2; j <= 2; ++j)
#pragma unroll
    for (int i = -2; i <= 2; ++i) sum += image.at(x + d.x + i, y + d.y + j);
  out[y * kEdge + x] = sum;
}

template <class Image>
__global__ void rotated(Image image, float c, float s, float* out) {  // bilinear interpolation in 32-bit arithmetic
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const float u = c * x - s * y + 700, v = s * x + c * y - 700, fu = floorf(u), fv = floorf(v), a = u - fu, b = v - fv;
  const int i = static_cast<int>(fu), j = static_cast<int>(fv);
  const float low = image.at(i, j) * (1 - a) + image.at(i + 1, j) * a,
              high = image.at(i, j + 1) * (1 - a) + image.at(i + 1, j + 1) * a;
  out[y * kEdge + x] = low * (1 - b) + high * b;
}

__global__ void rotated_filtered(cudaTextureObject_t texture, float c, float s,
                                 float* out) {  // interpolated by the texture unit
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * kEdge + x] = tex2D<float>(texture, c * x - s * y + 700 + .5f, s * x + c * y - 700 + .5f);
}

template <class Image>
__global__ void columns(Image image, float* out) {  // sums down 32 rows
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += image.at(y, x + k);  // across the order of memory
  out[y * kEdge + x] = sum;
}

// Weights that all work-items read together, from constant memory or by the read-only path. length: 0, known at run
// time only; else the loop is unrolled.
template <bool constant, int length>
__global__ void weighted(const float* in, const float* weights, int known_later, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int n = length > 0 ? length : known_later;
  float sum = 0;
  if (length > 0) {
#pragma unroll
    for (int k = 0; k < n; ++k)
      sum += (constant ? constant_table[k] : __ldg(weights + k)) * __ldg(in + y * kEdge + clamped(x + k - n / 2));
  } else {
    for (int k = 0; k < n; ++k)
      sum += (constant ? constant_table[k] : __ldg(weights + k)) * __ldg(in + y * kEdge + clamped(x + k - n / 2));
  }
  out[y * kEdge + x] = sum;
}

cudaTextureObject_t texture_of(const cudaResourceDesc& from, bool filtered) {
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = filtered ? cudaFilterModeLinear : cudaFilterModePoint;
  cudaTextureObject_t made = 0;
  check(cudaCreateTextureObject(&made, &from, &how, nullptr), "texture");
  return made;
}

double worst(const float* a, const float* b, std::size_t n) {
  std::vector<float> x(n), y(n);
  check(cudaMemcpy(x.data(), a, n * 4, cudaMemcpyDeviceToHost), "copy");
  check(cudaMemcpy(y.data(), b, n * 4, cudaMemcpyDeviceToHost), "copy");
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double d = std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    most = d <= most ? most : d;  // a NaN stays
  }
  return most;
}

// Kernels of the study of transformations, each written as `ridge place` writes the nest with and without it.
__global__ void scale(const float* a, float* b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = 2 * a[i] + 1;
}
__global__ void square(const float* b, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = b[i] * b[i];
}
__global__ void fused(const float* a, float* b, float* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = 2 * a[i] + 1;
  c[i] = b[i] * b[i];
}
__global__ void by_columns(const float* a, float* b) {  // neighbouring work-items are rows apart
  const int y = blockIdx.x * 32 + threadIdx.x, x = blockIdx.y * 8 + threadIdx.y;
  b[y * kEdge + x] = 2 * a[y * kEdge + x] + 1;
}
__global__ void by_rows(const float* a, float* b) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  b[y * kEdge + x] = 2 * a[y * kEdge + x] + 1;
}
constexpr int kOrder = 2048;
template <int jam>
__global__ void product(const float* a, const float* b, float* c) {  // unroll-and-jam
  const int x = blockIdx.x * 32 + threadIdx.x, y = (blockIdx.y * 8 + threadIdx.y) * jam;
  float sum[jam] = {};
  for (int k = 0; k < kOrder; ++k)
#pragma unroll
    for (int j = 0; j < jam; ++j) sum[j] += a[(y + j) * kOrder + k] * b[k * kOrder + x];
  for (int j = 0; j < jam; ++j) c[(y + j) * kOrder + x] = sum[j];
}
__global__ void tiled_window(const float* in, float* out) {  // tile in local memory
  __shared__ float tile[14][38];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 14; j += 8)
    for (int i = threadIdx.x; i < 38; i += 32)
      tile[j][i] = in[clamped(blockIdx.y * 8 + j - 3) * kEdge + clamped(blockIdx.x * 32 + i - 3)];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 7; ++j)
#pragma unroll
    for (int i = 0; i < 7; ++i) sum += constant_table[j * 7 + i] * tile[threadIdx.y + j][threadIdx.x + i];
  out[y * kEdge + x] = sum;
}
__global__ void sum_atomic(const int* a, int* total) { atomicAdd(total, a[blockIdx.x * blockDim.x + threadIdx.x] & 3); }
__global__ void sum_tree(const int* a, int* total) {
  __shared__ int part[256];
  part[threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x] & 3;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(total, part[0]);
}
__global__ void sum_shuffles(const int* a, int* total) {
  int x = a[blockIdx.x * blockDim.x + threadIdx.x] & 3;
  for (int half = 16; half > 0; half /= 2) x += __shfl_down_sync(~0u, x, half);
  __shared__ int part[8];
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) x += part[w];
  atomicAdd(total, x);
}

void spaces(const float* table, float* out) {
  cudaResourceDesc from{};
  from.resType = cudaResourceTypeLinear;
  from.res.linear.devPtr = const_cast<float*>(table);
  from.res.linear.desc = cudaCreateChannelDesc<float>();
  from.res.linear.sizeInBytes = kTable * 4;
  const cudaTextureObject_t texture = texture_of(from, false);
  const int groups = 132 * 8, items = 256, reads = 4096;
  std::printf(
      "reads of a 16 KiB table, 10^9 per second, by distinct addresses per warp\ndistinct constant texture read-only "
      "global shared\n");
  for (int distinct = 1; distinct <= 32; distinct *= 2) {
    float* reference = out + groups * items;
    double rate[5];
    const auto one = [&](auto kernel, int which) {
      kernel<<<groups, items>>>(table, texture, distinct, reads, which == 0 ? reference : out);
      check(cudaDeviceSynchronize(), "spaces");
      if (which > 0 && worst(reference, out, groups * items) != 0) std::printf("space %d differs\n", which);
      rate[which] = double(groups) * items * reads /
                    seconds([&] { kernel<<<groups, items>>>(table, texture, distinct, reads, out); }) * 1e-9;
    };
    one(read_space<kConstant>, 0);
    one(read_space<kTexture>, 1);
    one(read_space<kReadOnly>, 2);
    one(read_space<kGlobal>, 3);
    one(read_space<kShared>, 4);
    std::printf("%d %.0f %.0f %.0f %.0f %.0f\n", distinct, rate[0], rate[1], rate[2], rate[3], rate[4]);
  }
}

}  // namespace

int main() {
  std::vector<float> host(kPixels);
  unsigned state = 7;
  for (float& x : host) x = static_cast<float>((state = state * 1664525u + 1013904223u) >> 16) / 65536.f;
  std::vector<int2> by(kPixels);
  for (int2& d : by) {
    state = state * 1664525u + 1013904223u;
    d = {static_cast<int>((state >> 12) % 17) - 8, static_cast<int>((state >> 22) % 17) - 8};
  }
  float *in, *out, *other;
  int2* offsets;
  const std::size_t bytes = std::size_t(kPixels) * 4;
  check(cudaMalloc(&in, bytes), "memory");
  check(cudaMalloc(&out, bytes), "memory");
  check(cudaMalloc(&other, bytes), "memory");
  check(cudaMalloc(&offsets, 2 * bytes), "memory");
  check(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice), "copy");
  check(cudaMemcpy(offsets, by.data(), 2 * bytes, cudaMemcpyHostToDevice), "copy");
  check(cudaMemcpyToSymbol(constant_table, host.data(), sizeof constant_table), "copy");
  spaces(in, out);

  cudaResourceDesc pitched{};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D.devPtr = in;
  pitched.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  pitched.res.pitch2D.width = pitched.res.pitch2D.height = kEdge;
  pitched.res.pitch2D.pitchInBytes = kEdge * 4;
  cudaArray_t array;
  check(cudaMallocArray(&array, &pitched.res.pitch2D.desc, kEdge, kEdge), "array");
  const auto to_array = [&] {
    cudaMemcpy2DToArrayAsync(array, 0, 0, in, kEdge * 4, kEdge * 4, kEdge, cudaMemcpyDeviceToDevice);
  };
  to_array();
  cudaResourceDesc swizzled{};
  swizzled.resType = cudaResourceTypeArray;
  swizzled.res.array.array = array;
  const Fetched linear{texture_of(pitched, false)}, blocks{texture_of(swizzled, false)};
  const Direct direct{in};
  const cudaTextureObject_t filtered = texture_of(swizzled, true);
  const dim3 grid(kEdge / 32, kEdge / 8), group(32, 8);
  std::printf(
      "texture paths, 4096 x 4096 floats, us; copy to a CUDA array %.1f\nkernel global pitch-linear array; greatest "
      "difference\n",
      seconds(to_array) * 1e6);
  const auto texture_row = [&](const char* name, const auto& run) {
    run(direct, out);
    const double g = seconds([&] { run(direct, out); });
    run(linear, other);
    const double d = worst(out, other, kPixels), l = seconds([&] { run(linear, other); });
    run(blocks, other);
    const double e = worst(out, other, kPixels), a = seconds([&] { run(blocks, other); });
    std::printf("%s %.1f %.1f %.1f; %g\n", name, g * 1e6, l * 1e6, a * 1e6, d <= e ? e : d);
  };
  texture_row("window 7x7", [&](const auto& image, float* to) { window<<<grid, group>>>(image, to); });
  texture_row("5x5 at random offsets of +-8",
              [&](const auto& image, float* to) { displaced<<<grid, group>>>(image, offsets, to); });
  texture_row("sums of 32 down transposed columns",
              [&](const auto& image, float* to) { columns<<<grid, group>>>(image, to); });
  const float c = std::cos(.3f), s = std::sin(.3f);
  texture_row("rotation, bilinear", [&](const auto& image, float* to) { rotated<<<grid, group>>>(image, c, s, to); });
  rotated<<<grid, group>>>(direct, c, s, out);
  rotated_filtered<<<grid, group>>>(filtered, c, s, other);
  const double filter_error = worst(out, other, kPixels);
  std::printf("rotation, interpolated by the texture unit %.1f; %g\n",
              seconds([&] { rotated_filtered<<<grid, group>>>(filtered, c, s, other); }) * 1e6, filter_error);

  std::printf("weights read by all work-items, us: constant read-only; greatest difference\n");
  const auto weights = [&](const char* name, auto in_constant, auto read_only, int length) {
    in_constant<<<grid, group>>>(in, in, length, out);
    read_only<<<grid, group>>>(in, in, length, other);
    const double off = worst(out, other, kPixels),
                 a = seconds([&] { in_constant<<<grid, group>>>(in, in, length, out); }),
                 b = seconds([&] { read_only<<<grid, group>>>(in, in, length, other); });
    std::printf("%s %d: %.1f %.1f; %g\n", name, length, a * 1e6, b * 1e6, off);
  };
  weights("unrolled", weighted<true, 7>, weighted<false, 7>, 7);
  weights("unrolled", weighted<true, 49>, weighted<false, 49>, 49);
  weights("length known at run time", weighted<true, 0>, weighted<false, 0>, 7);
  weights("length known at run time", weighted<true, 0>, weighted<false, 0>, 49);

  const Energy energy;
  std::printf("transformation: us, mJ without; with; greatest difference\n");
  const auto pair = [&](const char* name, const std::function<void(float*)>& without,
                        const std::function<void(float*)>& with, std::size_t n) {
    check(cudaMemset(out, 0, n * 4), "clear");
    check(cudaMemset(other, 0, n * 4), "clear");
    without(out);
    with(other);
    check(cudaDeviceSynchronize(), name);
    const double off = worst(out, other, n), a = seconds([&] { without(out); }), b = seconds([&] { with(other); });
    std::printf("%s: %.1f %.3f; %.1f %.3f; %g\n", name, a * 1e6,
                joules(
                    energy, [&] { without(out); }, a) *
                    1e3,
                b * 1e6,
                joules(
                    energy, [&] { with(other); }, b) *
                    1e3,
                off);
    std::fflush(stdout);
  };
  float* middle = reinterpret_cast<float*>(offsets);
  const int flat = kPixels / 256;
  pair(
      "fusion",
      [&](float* to) {
        scale<<<flat, 256>>>(in, middle);
        square<<<flat, 256>>>(middle, to);
      },
      [&](float* to) { fused<<<flat, 256>>>(in, middle, to); }, kPixels);
  pair(
      "interchange", [&](float* to) { by_columns<<<grid, group>>>(in, to); },
      [&](float* to) { by_rows<<<grid, group>>>(in, to); }, kPixels);
  const dim3 rows(kOrder / 32, kOrder / 8), fewer(kOrder / 32, kOrder / 32);
  pair(
      "unroll-and-jam 4, product 2048", [&](float* to) { product<1><<<rows, group>>>(in, in + kOrder * kOrder, to); },
      [&](float* to) { product<4><<<fewer, group>>>(in, in + kOrder * kOrder, to); }, kOrder * kOrder);
  pair(
      "tiles in local memory, 7x7", [&](float* to) { window<<<grid, group>>>(direct, to); },
      [&](float* to) { tiled_window<<<grid, group>>>(in, to); }, kPixels);
  const int* whole = reinterpret_cast<const int*>(in);
  pair(
      "reduction: atomics; tree", [&](float* to) { sum_atomic<<<flat, 256>>>(whole, reinterpret_cast<int*>(to)); },
      [&](float* to) { sum_tree<<<flat, 256>>>(whole, reinterpret_cast<int*>(to)); }, 1);
  pair(
      "reduction: tree; shuffles", [&](float* to) { sum_tree<<<flat, 256>>>(whole, reinterpret_cast<int*>(to)); },
      [&](float* to) { sum_shuffles<<<flat, 256>>>(whole, reinterpret_cast<int*>(to)); }, 1);
  check(cudaDeviceSynchronize(), "end");
}
