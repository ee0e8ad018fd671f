// What CUDA itself reaches: copies, a kernel's start, and products of cuBLAS. Prints "name value" in
// SI units, a line each. The best of REPEATS, each timed by events around many calls.
// Usage: twin [LIBCUBLAS]

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

constexpr int WARM = 4, REPEATS = 16;
constexpr size_t COPIED = size_t(512) << 20;  // as nvbandwidth copies
constexpr int ROWS = 8192;

#define MUST(call)                                                                   \
  do {                                                                               \
    cudaError_t error = (call);                                                      \
    if (error != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));            \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

__global__ void nothing() {}

__global__ void fill(unsigned short *words, size_t count, unsigned mask, unsigned base) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2654435761u + 12345u;  // random: zeros draw less power
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    words[i] = static_cast<unsigned short>((x & mask) | base);
  }
}

static float seconds(const std::function<void()> &work, int calls) {
  cudaEvent_t start, end;
  MUST(cudaEventCreate(&start));
  MUST(cudaEventCreate(&end));
  for (int i = 0; i < WARM; i++) work();
  float best = 1e30f;
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    MUST(cudaDeviceSynchronize());
    MUST(cudaEventRecord(start));
    for (int i = 0; i < calls; i++) work();
    MUST(cudaEventRecord(end));
    MUST(cudaEventSynchronize(end));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, start, end));
    best = std::min(best, ms / 1e3f / calls);
  }
  MUST(cudaEventDestroy(start));
  MUST(cudaEventDestroy(end));
  return best;
}

static void copies() {
  void *device, *other, *pinned;
  void *pageable = std::malloc(COPIED);
  MUST(cudaMalloc(&device, COPIED));
  MUST(cudaMalloc(&other, COPIED));
  MUST(cudaMallocHost(&pinned, COPIED));
  std::memset(pinned, 1, COPIED);
  std::memset(pageable, 1, COPIED);
  struct {
    const char *kind;
    void *host;
  } sides[] = {{"pinned", pinned}, {"pageable", pageable}};
  for (auto side : sides) {
    float to = seconds(
        [&] { MUST(cudaMemcpyAsync(device, side.host, COPIED, cudaMemcpyHostToDevice)); }, 1);
    std::printf("%s_to_gpu_bytes_per_s %.6g\n", side.kind, COPIED / to);
    float from = seconds(
        [&] { MUST(cudaMemcpyAsync(side.host, device, COPIED, cudaMemcpyDeviceToHost)); }, 1);
    std::printf("%s_from_gpu_bytes_per_s %.6g\n", side.kind, COPIED / from);
  }
  float within = seconds(
      [&] { MUST(cudaMemcpyAsync(other, device, COPIED, cudaMemcpyDeviceToDevice)); }, 4);
  std::printf("copy_gpu_bytes_per_s %.6g\n", 2 * COPIED / within);  // read and written
  MUST(cudaFree(device));
  MUST(cudaFree(other));
  MUST(cudaFreeHost(pinned));
  std::free(pageable);
}

static void launches() {
  float each = seconds([] { nothing<<<1, 1>>>(); }, 500);
  std::printf("launch_s %.6g\n", each);
}

// cuBLAS by hand, so that neither its headers nor its version is needed to compile this.
using Create = int (*)(void **);
using Gemm = int (*)(void *, int, int, int, int, int, const void *, const void *, int, int,
                     const void *, int, int, const void *, void *, int, int, int, int);
constexpr int NO_TRANSPOSE = 0, ANY_ALGORITHM = -1;
constexpr int R_32F = 0, R_16F = 2, R_16BF = 14;
constexpr int COMPUTE_32F = 68, COMPUTE_32F_FAST_TF32 = 77;

static void products(const char *library) {
  void *cublas = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (cublas == nullptr) {
    std::fprintf(stderr, "no products: %s\n", dlerror());
    return;
  }
  auto create = reinterpret_cast<Create>(dlsym(cublas, "cublasCreate_v2"));
  auto gemm = reinterpret_cast<Gemm>(dlsym(cublas, "cublasGemmEx"));
  void *handle = nullptr;
  if (create == nullptr || gemm == nullptr || create(&handle) != 0) {
    std::fprintf(stderr, "no products: cuBLAS could not be started\n");
    return;
  }
  const size_t count = size_t(ROWS) * ROWS;
  void *a, *b, *c;
  MUST(cudaMalloc(&a, 4 * count));
  MUST(cudaMalloc(&b, 4 * count));
  MUST(cudaMalloc(&c, 4 * count));
  struct {
    const char *name;
    int type, compute;
    unsigned mask, base;  // of each 16-bit word: signs and mantissa random, the exponent near 1
    int words;
  } kinds[] = {{"fp32", R_32F, COMPUTE_32F, 0x80ff, 0x3f00, 2},
               {"tf32", R_32F, COMPUTE_32F_FAST_TF32, 0x80ff, 0x3f00, 2},
               {"fp16", R_16F, COMPUTE_32F, 0x83ff, 0x3800, 1},
               {"bf16", R_16BF, COMPUTE_32F, 0x807f, 0x3f00, 1}};
  const float one = 1, zero = 0;
  for (auto kind : kinds) {
    for (void *matrix : {a, b})
      fill<<<1024, 256>>>(static_cast<unsigned short *>(matrix), kind.words * count, kind.mask,
                          kind.base);
    int failed = 0;
    float each = seconds(
        [&] {
          failed |= gemm(handle, NO_TRANSPOSE, NO_TRANSPOSE, ROWS, ROWS, ROWS, &one, a, kind.type,
                         ROWS, b, kind.type, ROWS, &zero, c, kind.type, ROWS, kind.compute,
                         ANY_ALGORITHM);
        },
        5);
    if (failed == 0)
      std::printf("%s_flop_per_s %.6g\n", kind.name, 2.0 * ROWS * ROWS * ROWS / each);
  }
}

int main(int argc, char **argv) {
  copies();
  launches();
  if (argc > 1) products(argv[1]);
  return 0;
}
