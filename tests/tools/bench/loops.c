/* The twins of the experiments branches and matrix-order in C.
 *
 *   loops with_branch|without_branch CPU NICE FILE LIMIT
 *   loops multiply|transpose CPU NICE N BLOCK STEPS DOWN RIGHT
 *
 * FILE holds the bytes. For each number of laps that comes in, prints the seconds of one byte, or
 * of one step of the inner loop.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#if defined(__x86_64__)
#define REGISTER "+x"
#else
#define REGISTER "+w"
#endif
#define KEEP(number) __asm__ volatile("" : REGISTER(number))
#define KEEP_WORD(number) __asm__ volatile("" : "+r"(number))
enum { ALIGNED = 1 << 21 };

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static int64_t with_branch(const uint8_t *bytes, size_t n, int64_t limit, uint64_t laps) {
    int64_t total = 0;
    for (uint64_t lap = 0; lap < laps; lap++)
        for (size_t i = 0; i < n; i++)
            if (bytes[i] >= limit) {
                total += bytes[i];
                KEEP_WORD(total);
            }
    return total;
}

static int64_t without_branch(const uint8_t *bytes, size_t n, int64_t limit, uint64_t laps) {
    int64_t total = 0;
    for (uint64_t lap = 0; lap < laps; lap++)
        for (size_t i = 0; i < n; i++) {
            int64_t byte = bytes[i];
            total += byte & -(int64_t)(byte >= limit);
            KEEP_WORD(total);
        }
    return total;
}

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define BLOCKS                                          \
    for (uint64_t top = 0; top < n; top += block)       \
        for (uint64_t left = 0; left < n; left += block) \
            for (uint64_t i = top; i < LEAST(top + block, n); i++)

static void multiply(double *restrict c, const double *restrict a, const double *restrict b,
                     uint64_t n, uint64_t block, uint64_t steps, uint64_t down, uint64_t right) {
    BLOCKS
        for (uint64_t k = 0; k < steps; k++) {
            double factor = a[i * down + k * right];
            for (uint64_t j = left; j < LEAST(left + block, n); j++) {
                double sum = c[i * down + j * right] + factor * b[k * down + j * right];
                KEEP(sum);
                c[i * down + j * right] = sum;
            }
        }
}

static void transpose(double *restrict c, const double *restrict a, uint64_t n, uint64_t block,
                      uint64_t down, uint64_t right) {
    BLOCKS
        for (uint64_t j = left; j < LEAST(left + block, n); j++) {
            double number = a[i * down + j * right];
            KEEP(number);
            c[j * down + i * right] = number;
        }
}

/* Numbers on small pages, from 2 MiB on. */
static double *numbers(size_t count) {
    char *map = mmap(NULL, count * 8 + ALIGNED, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) exit(3);
    madvise(map, count * 8 + ALIGNED, MADV_NOHUGEPAGE);
    double *found = (double *)(((uintptr_t)map + ALIGNED - 1) / ALIGNED * ALIGNED);
    for (size_t i = 0; i < count; i++) found[i] = 1;
    return found;
}

int main(int argc, char **argv) {
    if (argc < 6) return 2;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[2]), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    setpriority(PRIO_PROCESS, 0, atoi(argv[3]));
    int is_sum = strstr(argv[1], "branch") != NULL, is_product = !strcmp(argv[1], "multiply");
    uint64_t laps, of[5] = {0};
    uint8_t *bytes = NULL;
    double *c = NULL, *a = NULL, *b = NULL;
    size_t size = 0;
    int64_t sink = 0;
    if (is_sum) {
        FILE *file = fopen(argv[4], "rb");
        if (!file || !(bytes = malloc(1 << 24))) return 3;
        size = fread(bytes, 1, 1 << 24, file);
    } else {
        for (int n = 0; n < 5 && 4 + n < argc; n++) of[n] = strtoull(argv[4 + n], NULL, 10);
        c = numbers(of[0] * of[0]), a = numbers(of[0] * of[0]), b = numbers(of[0] * of[0]);
        size = of[0] * of[0] * (is_product ? of[2] : 1);
    }
    while (scanf("%lu", &laps) == 1) {
        double start_s = now_s();
        if (is_sum)
            sink += (strcmp(argv[1], "with_branch") ? without_branch : with_branch)(
                bytes, size, atoi(argv[5]), laps);
        else
            for (uint64_t lap = 0; lap < laps; lap++)
                if (is_product) multiply(c, a, b, of[0], of[1], of[2], of[3], of[4]);
                else transpose(c, a, of[0], of[1], of[3], of[4]);
        printf("%.6g\n", (now_s() - start_s) / laps / size);
        fflush(stdout);
    }
    fprintf(stderr, "%g\n", sink + (c ? c[of[0]] : 0));
    return 0;
}
