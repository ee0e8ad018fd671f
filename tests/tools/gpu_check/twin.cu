// What CUDA itself reaches, measured as the experiments do: same sizes, numbers, clock and statistic.
// Prints "name value" in SI units, a line each.
// Usage: twin ARRAY_BYTES ROWS HOST_BYTES LAUNCHES [LIBCUBLAS]

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

constexpr int ROUNDS = 9, FEW_ROUNDS = 6;  // of roofline, and of pinned
constexpr double WARM_S = 0.5, SAMPLE_S = 1e-3, HOLD_CYCLES = 2e6;
constexpr double MOST_S = 0.05;  // of one product: roofline halves what takes longer
constexpr size_t BLOCK = size_t(1) << 20;

using Work = std::function<void()>;
using Seconds = float (*)(const Work &, int calls);

#define MUST(call)                                                                   \
  do {                                                                               \
    cudaError_t error = (call);                                                      \
    if (error != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));            \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

__global__ void nothing() {}

__global__ void hold(long long cycles) {
  for (long long start = clock64(); clock64() - start < cycles;) {
  }
}

__device__ void set(float &to, float value) { to = value; }
__device__ void set(__half &to, float value) { to = __float2half_rn(value); }
__device__ void set(__nv_bfloat16 &to, float value) { to = __float2bfloat16_rn(value); }

__device__ float uniform(unsigned x) {  // above 0, at most 1
  x ^= x >> 16;
  x *= 2246822519u;
  x ^= x >> 13;
  x *= 3266489917u;
  x ^= x >> 16;
  return ((x >> 8) + 1) * (1.0f / (1 << 24));
}

// Normal numbers, as torch.randn has them: the power that units draw depends on the bits.
template <typename T>
__global__ void normal(T *numbers, size_t count, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2 + seed;
    set(numbers[i], sqrtf(-2 * logf(uniform(x))) * cospif(2 * uniform(x + 1)));
  }
}

// By the device's clock, with the queue held while the calls are made.
static float on_device(const Work &work, int calls) {
  static cudaEvent_t start = nullptr, end = nullptr;
  if (start == nullptr) {
    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&end));
  }
  MUST(cudaDeviceSynchronize());
  hold<<<1, 1>>>((long long)HOLD_CYCLES);
  MUST(cudaEventRecord(start));
  for (int i = 0; i < calls; i++) work();
  MUST(cudaEventRecord(end));
  MUST(cudaEventSynchronize(end));
  float ms = 0;
  MUST(cudaEventElapsedTime(&ms, start, end));
  return ms / 1e3f / calls;
}

// By the caller's clock until all is done.
static float whole(const Work &work, int calls) {
  MUST(cudaDeviceSynchronize());
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; i++) work();
  MUST(cudaDeviceSynchronize());
  return std::chrono::duration<float>(std::chrono::steady_clock::now() - start).count() / calls;
}

static int enough(const Work &work) {  // calls that make a sample; the first ones warm up
  whole(work, 1);
  return std::max(1, std::min(100, int(std::ceil(SAMPLE_S / whole(work, 1)))));
}

static std::vector<float> sorted(Seconds seconds, const Work &work, int calls, int rounds) {
  std::vector<float> found;
  for (int round = 0; round < rounds; round++) found.push_back(seconds(work, calls));
  std::sort(found.begin(), found.end());
  return found;
}

static float median(Seconds seconds, const Work &work, int calls) {
  return sorted(seconds, work, calls, ROUNDS)[ROUNDS / 2];
}

static float best(Seconds seconds, const Work &work, int calls) {
  return sorted(seconds, work, calls, FEW_ROUNDS)[0];
}

static void within(size_t bytes) {
  void *device, *other;
  MUST(cudaMalloc(&device, bytes));
  MUST(cudaMalloc(&other, bytes));
  normal<<<1024, 256>>>(static_cast<float *>(device), bytes / 4, 1);
  Work copy = [&] { MUST(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice)); };
  for (float warm = 0; warm < WARM_S;) warm += whole(copy, 1);
  std::printf("copy_gpu_bytes_per_s %.6g\n", 2 * bytes / median(on_device, copy, enough(copy)));
  MUST(cudaFree(device));
  MUST(cudaFree(other));
}

static void host(size_t bytes) {
  void *device, *pinned, *pageable = std::malloc(bytes);
  MUST(cudaMalloc(&device, bytes));
  MUST(cudaMallocHost(&pinned, bytes));
  struct {
    const char *kind;
    unsigned char *memory;
    Seconds seconds;
  } sides[] = {{"pinned", static_cast<unsigned char *>(pinned), on_device},
               {"pageable", static_cast<unsigned char *>(pageable), whole}};
  for (auto side : sides) {
    for (size_t i = 0; i < bytes; i++)
      side.memory[i] = i < BLOCK ? std::rand() >> 8 : side.memory[i - BLOCK];
    Work to = [&] { MUST(cudaMemcpyAsync(device, side.memory, bytes, cudaMemcpyHostToDevice)); };
    Work from = [&] { MUST(cudaMemcpyAsync(side.memory, device, bytes, cudaMemcpyDeviceToHost)); };
    for (auto way : {std::make_pair("to", &to), std::make_pair("from", &from)}) {
      Work each = [&] {  // as the experiment waits for each pageable copy
        (*way.second)();
        if (side.seconds == whole) MUST(cudaDeviceSynchronize());
      };
      float took = best(side.seconds, each, enough(each));
      std::printf("%s_%s_gpu_bytes_per_s %.6g\n", side.kind, way.first, bytes / took);
    }
  }
  MUST(cudaFree(device));
  MUST(cudaFreeHost(pinned));
  std::free(pageable);
}

// cuBLAS by hand, so that neither its headers nor its version is needed to compile this.
using Create = int (*)(void **);
using Gemm = int (*)(void *, int, int, int, int, int, const void *, const void *, int, int,
                     const void *, int, int, const void *, void *, int, int, int, int);
constexpr int NO_TRANSPOSE = 0, ANY_ALGORITHM = -1;
constexpr int R_32F = 0, R_16F = 2, R_16BF = 14;
constexpr int COMPUTE_32F = 68, COMPUTE_32F_FAST_TF32 = 77;

template <typename T>
static void product(void *handle, Gemm gemm, const char *name, int type, int compute, int rows) {
  const size_t count = size_t(rows) * rows;
  const float one = 1, zero = 0;
  T *factors[2], *result;
  MUST(cudaMalloc(&result, sizeof(T) * count));
  for (int i = 0; i < 2; i++) {
    MUST(cudaMalloc(&factors[i], sizeof(T) * count));
    normal<<<1024, 256>>>(factors[i], count, 77u + 1234567u * i);
  }
  int failed = 0;
  Work call = [&] {
    failed |= gemm(handle, NO_TRANSPOSE, NO_TRANSPOSE, rows, rows, rows, &one, factors[0], type,
                   rows, factors[1], type, rows, &zero, result, type, rows, compute, ANY_ALGORITHM);
  };
  whole(call, 1);  // loads the kernel
  while (whole(call, 1) > MOST_S && rows > 16) rows /= 2;
  float took = median(on_device, call, enough(call));
  if (failed == 0) std::printf("%s_flop_per_s %.6g\n", name, 2.0 * rows * rows * rows / took);
  for (T *each : {factors[0], factors[1], result}) MUST(cudaFree(each));
}

static void products(const char *library, int rows) {
  void *cublas = dlopen(library, RTLD_NOW | RTLD_GLOBAL), *handle = nullptr;
  if (cublas == nullptr) {
    std::fprintf(stderr, "no products: %s\n", dlerror());
    return;
  }
  auto create = reinterpret_cast<Create>(dlsym(cublas, "cublasCreate_v2"));
  auto gemm = reinterpret_cast<Gemm>(dlsym(cublas, "cublasGemmEx"));
  if (create == nullptr || gemm == nullptr || create(&handle) != 0) {
    std::fprintf(stderr, "no products: cuBLAS could not be started\n");
    return;
  }
  product<float>(handle, gemm, "fp32", R_32F, COMPUTE_32F, rows);
  product<float>(handle, gemm, "tf32", R_32F, COMPUTE_32F_FAST_TF32, rows);
  product<__half>(handle, gemm, "fp16", R_16F, COMPUTE_32F, rows);
  product<__nv_bfloat16>(handle, gemm, "bf16", R_16BF, COMPUTE_32F, rows);
}

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: twin ARRAY_BYTES ROWS HOST_BYTES LAUNCHES [LIBCUBLAS]\n");
    return 2;
  }
  within(std::strtoull(argv[1], nullptr, 10));
  host(std::strtoull(argv[3], nullptr, 10));
  int calls = std::atoi(argv[4]);
  std::printf("launch_s %.6g\n", median(whole, [] { nothing<<<1, 1>>>(); }, calls));
  if (argc > 5) products(argv[5], std::atoi(argv[2]));
  return 0;
}
