/* The twin of the experiment python-objects in C: sums of numbers side by side, and of objects.
 *
 *   objects array|list|shuffled COUNT TIMES CPU
 *
 * An object is as large as Python's: a count of users, a type, a number. Each addition counts a
 * user up and down, as an interpreter does. Prints the seconds of one number each time a line comes
 * in.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct object {
    int64_t users;
    void *type;
    double number;
    int64_t rounded_up;
};

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Pairwise in blocks of 128 with eight sums, as NumPy adds. Also called from without, on an array of
 * ours. */
double block(const double *a, size_t n) {
    double r[8];
    size_t i;
    if (n < 8) {
        double sum = 0;
        for (i = 0; i < n; i++) sum += a[i];
        return sum;
    }
    if (n > 128) {
        size_t half = n / 2;
        half -= half % 8;
        return block(a, half) + block(a + half, n - half);
    }
    for (int c = 0; c < 8; c++) r[c] = a[c];
    for (i = 8; i + 8 <= n; i += 8)
        for (int c = 0; c < 8; c++) r[c] += a[i + c];
    double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; i++) sum += a[i];
    return sum;
}

static double objects(struct object **list, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        struct object *each = list[i];
        (*(volatile int64_t *)&each->users)++;
        if (each->type == NULL) return sum;
        sum += each->number;
        if (--*(volatile int64_t *)&each->users == 0) return sum;
    }
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    size_t n = strtoull(argv[2], NULL, 10), times = strtoull(argv[3], NULL, 10);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[4]), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    double *numbers = malloc(n * sizeof *numbers);
    struct object *all = malloc(n * sizeof *all), **list = malloc(n * sizeof *list);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = i % 1000 * 1e-3;
        all[i] = (struct object){1, list, numbers[i], 0};
        list[i] = &all[i];
    }
    if (!strcmp(argv[1], "shuffled")) {
        uint64_t seed = 88172645463325252u;
        for (size_t i = n - 1; i > 0; i--) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            size_t j = seed % (i + 1);
            struct object *other = list[i];
            list[i] = list[j], list[j] = other;
        }
    }
    int is_array = !strcmp(argv[1], "array");
    double sink = 0;
    while (getchar() != EOF) {
        sink += is_array ? block(numbers, n) : objects(list, n);
        double start_s = now_s();
        for (size_t t = 0; t < times; t++)
            sink += is_array ? block(numbers, n) : objects(list, n);
        printf("%.6g\n", (now_s() - start_s) / times / n);
        fflush(stdout);
    }
    fprintf(stderr, "%g\n", sink);
    return 0;
}
