/* The twin of simd in C: the sum of 32-bit numbers by vectors of BYTES (a macro), or one at a time.
 *
 *   lanes vector|scalar SIZE LAPS CPU NICE
 *
 * Prints numbers added up in a second: the best of 8, 12 and 16 sums at once, whichever suits.
 * Compile without tree vectorisation, so that one at a time stays that.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef float vector __attribute__((vector_size(BYTES), aligned(4)));

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#define SUM(name, kind, sums)                                                  \
    static float name(const float *numbers, long count, long laps) {           \
        const kind *all = (const kind *)numbers;                               \
        long steps = count * sizeof(float) / sizeof(kind) / sums;              \
        kind total[sums] = {0};                                                \
        for (long lap = 0; lap < laps; lap++)                                  \
            for (long step = 0; step < steps; step++)                          \
                _Pragma("GCC unroll 16")                                       \
                for (int i = 0; i < sums; i++) total[i] += all[step * sums + i]; \
        for (int i = 1; i < sums; i++) total[0] += total[i];                   \
        return *(float *)&total[0];                                            \
    }
SUM(vector8, vector, 8)
SUM(vector12, vector, 12)
SUM(vector16, vector, 16)
SUM(scalar8, float, 8)
SUM(scalar12, float, 12)
SUM(scalar16, float, 16)

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    int is_vector = !strcmp(argv[1], "vector");
    long size = atol(argv[2]), count = size / sizeof(float), laps = atol(argv[3]);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(atoi(argv[4]), &one);
    if (sched_setaffinity(0, sizeof one, &one)) return 3;
    setpriority(PRIO_PROCESS, 0, atoi(argv[5]));
    float *numbers = aligned_alloc(4096, size), sink = 0;
    for (long i = 0; i < count; i++) numbers[i] = 1;
    float (*ways[])(const float *, long, long) = {vector8, vector12, vector16, scalar8, scalar12, scalar16};
    long sums[] = {8, 12, 16};
    double best = 0;
    for (int way = 0; way < 3; way++) {
        long block = sums[way] * (is_vector ? BYTES / (long)sizeof(float) : 1);
        long added = count / block * block; /* what does not fill a step is left out */
        sink += ways[way + (is_vector ? 0 : 3)](numbers, count, laps / 10 + 1);
        double start_s = now_s();
        sink += ways[way + (is_vector ? 0 : 3)](numbers, count, laps);
        double per_s = (double)added * laps / (now_s() - start_s);
        if (per_s > best) best = per_s;
    }
    printf("%.6g\n", best);
    fprintf(stderr, "%g\n", sink);
    return 0;
}
