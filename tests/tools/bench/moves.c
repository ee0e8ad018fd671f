/* The twin of `stream` in C: its loops over three arrays of doubles, written as C is written.
 *
 *   moves copy|triad|read BYTES CPU NICE
 *
 * BYTES are one array. For each number of laps that comes in, the bytes a second, counted as STREAM
 * counts. 4 KiB pages; the arrays begin at unequal places in their pages, as ours do.
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

enum { SHIFT = 4160 };

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void copy(const double *restrict a, double *restrict c, size_t n) {
    for (size_t i = 0; i < n; i++) c[i] = a[i];
}

static void triad(const double *restrict a, const double *restrict b, double *restrict c, size_t n) {
    for (size_t i = 0; i < n; i++) c[i] = a[i] + 3.0 * b[i];
}

static uint64_t read_all(const double *a, size_t n) { /* as integers, as ours */
    const uint64_t *words = (const uint64_t *)a;
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) total += words[i];
    return total;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    const char *kind = argv[1];
    size_t bytes = strtoull(argv[2], 0, 10), n = bytes / sizeof(double), apart = bytes + SHIFT;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(atoi(argv[3]), &one);
    if (sched_setaffinity(0, sizeof one, &one)) return 3;
    setpriority(PRIO_PROCESS, 0, atoi(argv[4]));

    size_t all = 3 * apart, huge = 2 << 20;
    char *map = mmap(0, all + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return 4;
    madvise(map, all + huge, MADV_NOHUGEPAGE);
    char *start = (char *)(((uintptr_t)map + huge - 1) / huge * huge);
    double *a = (double *)start, *b = (double *)(start + apart), *c = (double *)(start + 2 * apart);
    for (size_t i = 0; i < all / sizeof(double); i++) a[i] = 1.0;

    uint64_t sink = 0;
    unsigned long laps;
    while (scanf("%lu", &laps) == 1) {
        int arrays = !strcmp(kind, "copy") ? 2 : !strcmp(kind, "triad") ? 3 : 1;
        double start_s = now_s();
        for (unsigned long lap = 0; lap < laps; lap++) {
            if (arrays == 2) copy(a, c, n);
            else if (arrays == 3) triad(a, b, c, n);
            else sink += read_all(a, n);
            __asm__ volatile("" : : "r"(c) : "memory"); /* or all laps but the last could go */
        }
        printf("%.6g\n", (double)arrays * bytes * laps / (now_s() - start_s));
        fflush(stdout);
    }
    return sink == 42;
}
